"""Reasons why a makespan differs: parts of the difference, tests of the parts, and details (changes inside a part).

The components of the workers' time add up to workers x makespan (model 6.4). Divided by the number of workers, they add
up to the makespan, even if the two sides of a contrast have different numbers of workers. The parts of a difference are
taken from the middle pair, which has the median difference; with two middle pairs, from the mean of both. In percent of
the baseline's makespan, the parts add up to the difference in percent. The kinds of idleness are one part, because one
kind turns into another if only the back-off changes. Waits for locks and atomic words are a part of their own.

A cause is a part that the answer names. A part is named only if three conditions hold: the whole difference is sure
with a p-value below `CAUSE_ERROR`; the part has the sign of the difference; and the sign of the part is sure over all
pairs, after Holm's correction over the parts.

A detail of a cause is a column of the results that surely changes in the direction of the part, such as the load of the
busiest link. A detail does not divide the part: the results do not say which link a byte waited for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from numasim.engine.assumed_values import of_table
from numasim.engine.columns import DESCRIBED
from numasim.report.answers.estimated_effects import Effect
from numasim.report.answers.statistics import FAMILY_ERROR, holm, sign_p
from numasim.report.answers.varying_axes import Axis, Contrast
from numasim.report.comparison_cells import finished, numbers
from numasim.report.components import value_text
from numasim.sweep.store.results_tables import RECORDING, TIME_FACTOR
from numasim.workload.recording.recorded import scaled_on

CAUSE_ERROR = 0.001  # with probability 95 %, none of 45 questions about equal runs names a cause
LEAST_SHARE = 0.05  # of the difference; a cause has at least this share
MOST_NAMED = 3

MOST_DETAILS = 2  # most details of one part
LEAST_GROWTH = 1.1  # least ratio of the larger to the smaller value of a detail
MAIN_SHARE = 0.5  # least share of one kind of idleness in the change of all kinds, for the kind to be named

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """A part of the makespan: the sum of ``columns`` over the workers, minus the sum of the columns ``less``.

    ``details`` are columns of the results that rise and fall with the part.
    """

    name: str
    label: str
    columns: tuple[str, ...]
    less: tuple[str, ...] = ()
    details: tuple[str, ...] = ()


WAITS = {  # the kinds of idleness, in words
    "idle_steal_ps": "in probes",
    "idle_backoff_ps": "in back-off",
    "idle_barrier_ps": "at barriers",
    "parked_ps": "asleep in joins",
    "asleep_ps": "asleep without a task",
}
PARTS = (
    Part("work", "work", ("work_local_ps",)),
    Part("remote_memory", "waiting for remote memory", ("inflation_numa_ps",), details=("bytes_remote",)),
    Part(
        "contention",
        "contention",
        ("inflation_contention_ps",),
        details=("link_busy_max", "imc_busy_max", "bytes_remote"),
    ),
    Part("speeds", "sharing and slowing of cores", ("inflation_smt_ps",)),
    Part("wasted", "attempts that aborted", ("wasted_ps",), details=("aborts", "abort_ratio")),
    Part("lock_waits", "waiting for locks", ("lock_wait_ps",), details=("lock_acquisitions", "lock_handoffs_remote")),
    Part(
        "overhead",
        "overhead",
        ("overhead_ps",),
        less=("lock_wait_ps",),
        details=("page_faults", "pages_unmapped", "pages_migrated", "tasks_stolen"),
    ),
    Part(
        "queue_lines",
        "waiting for cache lines of queues",
        ("line_owner_ps", "line_thief_ps"),
        details=("steal_attempts", "tasks_stolen"),
    ),
    Part("waiting", "waiting for work", tuple(WAITS), details=tuple(WAITS)),
)
PART_COLUMNS = tuple(dict.fromkeys(name for part in PARTS for name in (*part.columns, *part.less)))


@dataclass(frozen=True)
class PartChange:
    """The change of a part in the middle pair, in percent of the baseline's makespan.

    ``sure``: the sign of the change is sure over all pairs, after Holm's correction over the parts.
    """

    part: Part
    percent: float
    sure: bool
    detail: str = ""  # in words


def parts_per_worker(frame: pd.DataFrame) -> FloatArray:
    """Return the time of each part [parts, rows of the table], in picoseconds of one worker; the sum is the makespan.

    A producer, which creates tasks and is no worker, may wait for locks, too. Its waits are in ``lock_wait_ps`` but not
    in the time split. If a row has such waits, lock waits stay in the overhead.
    """
    waits, overhead = numbers(frame, "lock_wait_ps"), numbers(frame, "overhead_ps")
    waits = np.zeros_like(waits) if np.any(waits > overhead) else waits
    known = [name for part in PARTS for name in part.columns if name in frame]  # older tables have fewer parts
    columns = dict.fromkeys(PART_COLUMNS, np.zeros_like(waits)) | {name: numbers(frame, name) for name in known}
    columns["lock_wait_ps"] = waits
    sums = [sum(columns[name] for name in part.columns) - sum(columns[name] for name in part.less) for part in PARTS]
    return np.stack(sums) / numbers(frame, "workers")


def part_changes(parts: FloatArray, makespan_ps: FloatArray, contrast: Contrast) -> list[PartChange]:
    """Return the change of every part in a contrast, in the order of `PARTS`; NaN if the contrast has no pair."""
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
    """Return the parts that explain an effect, the largest first; no part if chance may have made the effect."""
    if not effect.sure or effect.p >= CAUSE_ERROR:
        return []
    sign = np.sign(effect.percent.value)
    least = LEAST_SHARE * abs(effect.percent.value)
    found = [each for each in changes if each.sure and sign * each.percent >= least]
    return sorted(found, key=lambda each: -abs(each.percent))[:MOST_NAMED]


def detail(values_of: Callable[[str], FloatArray], contrast: Contrast, cause: PartChange) -> str:
    """Return the details of a cause in words, the largest growth first, or "" if the cause has no detail.

    The detail of the part "waiting" is the kind of idleness that makes at least `MAIN_SHARE` of the change.
    ``values_of`` returns the values of a column [rows of the table].
    """
    sides = []
    for name in cause.part.details:
        before, after = values_of(name)[contrast.first], values_of(name)[contrast.other]
        known = ~np.isnan(before + after)
        sides.append((before[known], after[known]))
    corrected = holm([sign_p(after - before) for before, after in sides])
    found = {
        name: (float(np.median(before)), float(np.median(after)))
        for name, (before, after), p in zip(cause.part.details, sides, corrected, strict=True)
        if p < FAMILY_ERROR and np.median(after - before) * cause.percent > 0
    }
    if cause.part.name == "waiting":
        sizes = {name: abs(after - before) for name, (before, after) in found.items()}
        main = max(sizes, key=sizes.__getitem__, default="")
        return f"mostly {WAITS[main]}" if main and sizes[main] >= MAIN_SHARE * sum(sizes.values()) else ""
    sorted_ends = {name: sorted(map(abs, ends)) for name, ends in found.items()}
    growth = {name: high / low if low else math.inf for name, (low, high) in sorted_ends.items()}
    named = sorted((name for name in found if growth[name] >= LEAST_GROWTH), key=lambda name: -growth[name])
    texts = {name: [value_text(name, value) for value in found[name]] for name in named[:MOST_DETAILS]}
    return ", ".join(f"{DESCRIBED[name].label} {after} instead of {before}" for name, (before, after) in texts.items())


# ---- The assumptions behind the runs of a table: equal cores, guessed bytes, assumed values --------------------------

EQUAL_CORES = "no machine is called faster: cores of all machines are taken to be equally fast"
SOME_EQUAL = (
    "no machine is called faster than one on which times are not scaled, whose cores are taken to be as fast as those "
    "of the recording"
)


def assumed_cores(frame: pd.DataFrame, axis: Axis, value: int, baseline: int) -> str:
    """Return the assumption on the speed of cores in a comparison of two values of ``axis``, or ""."""
    if "machine" not in axis.columns:
        return ""
    scaled = _scaled(frame)
    unscaled = [axis.texts[each] for each in (value, baseline) if not scaled[axis.codes == each].all()]
    if len(unscaled) == 1:
        return f"with cores of {unscaled[0]} taken to be as fast as those of the recording"
    return "with cores taken to be equally fast" if unscaled else ""


def stated_inputs(frame: pd.DataFrame) -> list[str]:
    """Return sentences on the assumptions behind the finished runs of ``frame``."""
    done = finished(frame)
    scaled = _scaled(done)
    several = done["machine"].nunique() > 1 and not scaled.all()
    equal = [SOME_EQUAL if scaled.any() else EQUAL_CORES] if several else []
    return [*_of_recordings(done), *equal, *of_table(done)]


def _scaled(frame: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Return [rows] whether compute times were converted to the simulated machine's cores."""
    return frame[TIME_FACTOR].notna().to_numpy() if TIME_FACTOR in frame else np.zeros(len(frame), bool)


def _of_recordings(frame: pd.DataFrame) -> Iterator[str]:
    """Yield the known facts about recorded programs, and the factors that convert their compute times."""
    if RECORDING not in frame:
        return
    recorded = frame[frame[RECORDING].notna()]
    for (program, text), runs in recorded.groupby(["workload", RECORDING], sort=False):
        yield from str(text).split("\n")
        factors = runs.drop_duplicates("machine")[["machine", TIME_FACTOR]].itertuples(index=False)
        yield from scaled_on(str(program), {name: None if pd.isna(factor) else factor for name, factor in factors})
