"""Why a makespan differs: its parts, of which each is tested by itself, and of which all add up to the difference.

The time split adds up to workers x makespan (model 6.4). Divided by the workers it adds up to the makespan, also where
the two sides of a contrast have different numbers of workers. The parts of a difference are those of the pair whose
difference is the median, or the means of those of the two middle pairs: in percent of the baseline's makespan they add
up to the difference in percent. The kinds of idleness are one part, because they turn into each other when only the
back-off changes; waiting for locks and atomic words is set apart from the other overhead.

A cause is named only where the difference is sure, with a probability below `CAUSE_ERROR` that chance alone makes it as
large, and only a part with the sign of the difference whose own sign is sure over all pairs, after Holm's correction
over the parts too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from numasim.report.answers.contrasts import Contrast
from numasim.report.answers.estimated_effects import Effect
from numasim.report.answers.statistics import FAMILY_ERROR, holm, sign_p
from numasim.report.comparison_cells import numbers

CAUSE_ERROR = 0.001  # so that not one cause is expected in 45 questions about nothing, with a probability of 95 %
LEAST_SHARE = 0.05  # of the difference that a part must make to be named
MOST_NAMED = 3

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """A part of the makespan: the sum of columns of the time split, ``less`` that of another part, over workers."""

    name: str
    label: str
    columns: tuple[str, ...]
    less: tuple[str, ...] = ()


PARTS = (
    Part("work", "work", ("work_local_ps",)),
    Part("remote_memory", "waiting for remote memory", ("inflation_numa_ps",)),
    Part("contention", "contention", ("inflation_contention_ps",)),
    Part("speeds", "sharing and slowing of cores", ("inflation_smt_ps",)),
    Part("wasted", "attempts that aborted", ("wasted_ps",)),
    Part("lock_waits", "waiting for locks", ("lock_wait_ps",)),
    Part("overhead", "overhead", ("overhead_ps",), less=("lock_wait_ps",)),
    Part("waiting", "waiting for work", ("idle_steal_ps", "idle_backoff_ps", "idle_barrier_ps", "parked_ps")),
)
PART_COLUMNS = tuple(dict.fromkeys(name for part in PARTS for name in (*part.columns, *part.less)))


@dataclass(frozen=True)
class PartChange:
    """The change of a part in the middle pair, in percent of the baseline's makespan.

    ``sure``: the sign of the change is sure over all pairs, after Holm's correction over the parts too.
    """

    part: Part
    percent: float
    sure: bool
    detail: str = ""  # what changed with it, in words


def parts_per_worker(frame: pd.DataFrame) -> FloatArray:
    """[parts, rows of the table] time of each part, in picoseconds of one worker; they add up to the makespan.

    A producer beside the workers may wait for locks too, which is in ``lock_wait_ps`` but not in the time split: where
    that shows, lock waits stay in the overhead.
    """
    waits, overhead = numbers(frame, "lock_wait_ps"), numbers(frame, "overhead_ps")
    waits = np.zeros_like(waits) if np.any(waits > overhead) else waits
    columns = {name: numbers(frame, name) for part in PARTS for name in part.columns} | {"lock_wait_ps": waits}
    sums = [sum(columns[name] for name in part.columns) - sum(columns[name] for name in part.less) for part in PARTS]
    return np.stack(sums) / numbers(frame, "workers")


def part_changes(parts: FloatArray, makespan_ps: FloatArray, contrast: Contrast) -> list[PartChange]:
    """The change of every part in a contrast, in the order of `PARTS`; NaN without a pair."""
    first, other = makespan_ps[contrast.first], makespan_ps[contrast.other]
    if not (len(first) and first.all()):
        return [PartChange(part, math.nan, sure=False) for part in PARTS]
    changes = 100 * (parts[:, contrast.other] - parts[:, contrast.first]) / first
    ordered = np.argsort(other / first, kind="stable")
    middle = ordered[(len(first) - 1) // 2 : len(first) // 2 + 1]
    corrected = holm([sign_p(change) for change in changes])
    return [
        PartChange(part, float(percent), p < FAMILY_ERROR)
        for part, percent, p in zip(PARTS, changes[:, middle].mean(axis=1), corrected, strict=True)
    ]


def causes(effect: Effect, changes: Sequence[PartChange]) -> list[PartChange]:
    """The parts that explain an effect, the largest first; none where chance may have made it."""
    if not effect.sure or effect.p >= CAUSE_ERROR:
        return []
    sign = np.sign(effect.percent.value)
    least = LEAST_SHARE * abs(effect.percent.value)
    found = [each for each in changes if each.sure and sign * each.percent >= least]
    return sorted(found, key=lambda each: -abs(each.percent))[:MOST_NAMED]
