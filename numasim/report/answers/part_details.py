"""What changed inside a part of the makespan: the link or the controller that got busier, the kind of idleness.

These are observations beside a cause, each with a test of its own: a column of the results changes surely, in the
direction of the part. They do not divide the part: the results do not say which link a byte waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from numasim.engine.assumed_values import of_table
from numasim.engine.columns import DESCRIBED
from numasim.report.answers.contrasts import Contrast
from numasim.report.answers.statistics import FAMILY_ERROR, holm, sign_p
from numasim.report.answers.time_parts import PartChange
from numasim.report.answers.varying_axes import Axis
from numasim.report.comparison_cells import finished, value_text
from numasim.sweep.axis_columns import RECORDING, TIME_FACTOR
from numasim.workload.recording.recorded import scaled_on

FloatArray = npt.NDArray[np.float64]

OBSERVED = {  # beside each part: columns that rise and fall with it
    "remote_memory": ("bytes_remote",),
    "contention": ("link_busy_max", "imc_busy_max", "bytes_remote"),
    "wasted": ("aborts", "abort_ratio"),
    "lock_waits": ("lock_acquisitions", "lock_handoffs_remote"),
    "overhead": ("page_faults", "pages_unmapped", "pages_migrated", "tasks_stolen"),
    "waiting": ("idle_steal_ps", "idle_backoff_ps", "idle_barrier_ps", "parked_ps"),
}
KINDS = {
    "idle_steal_ps": "in probes",
    "idle_backoff_ps": "in back-off",
    "idle_barrier_ps": "at barriers",
    "parked_ps": "asleep",
}
MOST = 2  # observations beside a part
LEAST_GROWTH = 1.1  # of an observation: what changes less explains nothing
MAIN_SHARE = 0.5  # of a part that a kind of idleness must make to be its main one


@dataclass(frozen=True)
class _Observation:
    column: str
    before: float
    after: float

    @property
    def growth(self) -> float:
        """How many times it became, or was."""
        low, high = sorted((abs(self.before), abs(self.after)))
        return high / low if low else np.inf

    @property
    def text(self) -> str:
        label = DESCRIBED[self.column].label
        before, after = (value_text(self.column, value) for value in (self.before, self.after))
        return f"{label} {after} instead of {before}"


def detail(values_of: Callable[[str], FloatArray], contrast: Contrast, cause: PartChange) -> str:
    """What else changed surely where a part of the makespan did, the largest first; "" if nothing did.

    ``values_of`` a column are [rows of the table].
    """
    columns = OBSERVED.get(cause.part.name, ())
    sides = [_sides(values_of(name), contrast) for name in columns]
    corrected = holm([sign_p(after - before) for before, after in sides])
    found = [
        _Observation(name, float(np.median(before)), float(np.median(after)))
        for name, (before, after), p in zip(columns, sides, corrected, strict=True)
        if p < FAMILY_ERROR and np.median(after - before) * cause.percent > 0
    ]
    if cause.part.name == "waiting":
        return _main_kind(found)
    much = [each for each in found if each.growth >= LEAST_GROWTH]
    return ", ".join(each.text for each in sorted(much, key=lambda each: -each.growth)[:MOST])


def _sides(values: FloatArray, contrast: Contrast) -> tuple[FloatArray, FloatArray]:
    """The pairs in which a column has values."""
    before, after = values[contrast.first], values[contrast.other]
    known = ~np.isnan(before + after)
    return before[known], after[known]


def _main_kind(found: Sequence[_Observation]) -> str:
    """The kind of idleness that changed most, if it makes half of what changed that way."""
    if not found:
        return ""
    most = max(found, key=lambda each: abs(each.after - each.before))
    total = sum(abs(each.after - each.before) for each in found)
    main = abs(most.after - most.before) >= MAIN_SHARE * total
    return f"mostly {KINDS[most.column]}" if main else ""


# ----------------------------------------------------------------------------------------------------------------------
# What the answers of a table take for granted of their inputs: how fast cores are, guessed bytes, assumed values.

EQUAL_CORES = "no machine is called faster: cores of all machines are taken to be equally fast"
SOME_EQUAL = (
    "no machine is called faster than one on which times are not scaled, whose cores are taken to be as fast as those "
    "of the recording"
)


def assumed_cores(frame: pd.DataFrame, axis: Axis, value: int, baseline: int) -> str:
    """What a comparison of two values of ``axis`` takes for granted of how fast cores are; "" for nothing."""
    if "machine" not in axis.columns:
        return ""
    scaled = _scaled(frame)
    unscaled = [axis.texts[each] for each in (value, baseline) if not scaled[axis.codes == each].all()]
    if len(unscaled) == 1:
        return f"with cores of {unscaled[0]} taken to be as fast as those of the recording"
    return "with cores taken to be equally fast" if unscaled else ""


def stated_inputs(frame: pd.DataFrame) -> list[str]:
    """Sentences about the runs of ``frame`` that have ended; none where nothing is taken for granted."""
    done = finished(frame)
    return [*_of_recordings(done), *_of_machines(done), *of_table(done)]


def _scaled(frame: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """[rows] whether compute times are those of the machine's cores."""
    return frame[TIME_FACTOR].notna().to_numpy() if TIME_FACTOR in frame else np.zeros(len(frame), bool)


def _of_machines(frame: pd.DataFrame) -> list[str]:
    scaled = _scaled(frame)
    if frame["machine"].nunique() < 2 or scaled.all():
        return []
    return [SOME_EQUAL if scaled.any() else EQUAL_CORES]


def _of_recordings(frame: pd.DataFrame) -> Iterator[str]:
    """What is known of recorded programs, and by what their times are multiplied."""
    if RECORDING not in frame:
        return
    recorded = frame[frame[RECORDING].notna()]
    for (program, text), runs in recorded.groupby(["workload", RECORDING], sort=False):
        yield from str(text).split("\n")
        factors = runs.drop_duplicates("machine")[["machine", TIME_FACTOR]].itertuples(index=False)
        yield from scaled_on(str(program), {name: None if pd.isna(factor) else factor for name, factor in factors})
