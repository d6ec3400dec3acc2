"""The predicted and measured quantities, and the distance of two values.

A cell, a program under a strategy, has several runs, its repeats. A value made of counters is a ratio of sums over the
repeats, or, without a denominator, a mean. Its interval is a bootstrap interval. A value that is timed on a real clock
is the median over the repeats, because an operating system may disturb single repeats for milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from numasim.parts.unit_factors import PS_PER_S
from numasim.report.answers.statistics import Estimate, median_interval, ratio_interval

Counts = Mapping[str, int]  # counters of one run: see `numasim.validate.comparison`


@dataclass(frozen=True)
class Quantity:
    """The ratio ``part / whole`` of counters, times ``scale``, in ``unit``. Without ``whole``, the mean of ``part``.

    If ``relative``, a distance is a fraction of the measured value, otherwise a difference. A ``timed`` quantity needs
    the time of the serial twin on a real clock, so virtual time has no timed quantity. A timed quantity is the median
    of the ratios of the repeats. All other ratios are ratios of sums over the repeats.
    """

    label: str
    unit: str
    part: str
    whole: str | None = None
    scale: float = 1.0
    relative: bool = True
    timed: bool = False

    def estimate(self, runs: Sequence[Counts]) -> Estimate:
        """Return the value over ``runs`` with its 95 % interval; NaN if the runs do not determine the value."""
        part = np.array([run[self.part] for run in runs], np.float64) * self.scale
        whole = np.array([run[self.whole] for run in runs] if self.whole else [1.0] * len(runs), np.float64)
        return median_interval(part / whole) if self.timed else ratio_interval(part, whole)

    def distance(self, predicted: float, measured: float) -> float | None:
        """Return the signed distance of the prediction from the measured value.

        None if neither run has the quantity (no attempt, no lock); infinite if only one of the two runs has the
        quantity.
        """
        if math.isnan(predicted) and math.isnan(measured):
            return None
        if math.isnan(predicted) or math.isnan(measured):
            return math.inf
        if not self.relative:
            return predicted - measured
        if measured == 0:
            return None if predicted == 0 else math.inf
        return predicted / measured - 1


QUANTITIES: dict[str, Quantity] = {
    "makespan": Quantity("makespan", "s", "makespan_ps", scale=1 / PS_PER_S),
    "speedup": Quantity("speedup over the serial twin", "1", "serial_ps", "makespan_ps", timed=True),
    "attempts": Quantity("steal attempts", "count", "steal_attempts"),
    "miss_ratio": Quantity("steal miss ratio", "ratio", "steal_false", "steal_attempts", relative=False),
    "remote_share": Quantity(
        "remote share of attempts", "ratio", "steal_attempts_remote", "steal_attempts", relative=False
    ),
    "bytes": Quantity("bytes accessed", "B", "bytes"),
    "bytes_remote": Quantity("bytes from other nodes", "B", "bytes_remote"),
    "lock_throughput": Quantity(
        "lock acquisitions a second", "1/s", "lock_acquisitions", "makespan_ps", scale=float(PS_PER_S)
    ),
}
