"""Remarks for the user about a run: reasons why the run may not answer the question that the user meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.schema.enumerations import MOST_PHASE_ROWS
from numasim.workload.graph import Workload

if TYPE_CHECKING:
    from numasim.spec.run_spec import RunSpec

PROBES = ("probe_ns", "probe_remote_ns")
WAKE_UPS = ("unpark_ns", "wake_ns", "wake_remote_ns")
LARGE_PART = 10  # waits are a large part of a run if they are at least a tenth of it
UPPER_BOUND = (  # the sentence about assumption A-81, for every answer that rests on the assumption
    "waiting for cache lines of queues: an upper bound, since readers of a changed line wait for each other, each for a"
    " whole transfer (model A-81)"
)
WELL_BELOW = 2  # if a run takes so many times Brent's bound, something holds back the workers


REMARKED = ("work_ps", "span_ps", "steal_attempts", "no_victim", "steal_success", "makespan_ps")  # columns of `remarks`


def remarks(row: Mapping[str, Any], workers: int) -> list[str]:
    """Return sentences about a run on ``workers`` workers, given its row of a results table; most runs have none.

    A program with parallelism may take far longer than Brent's bound, while no thief ever finds a task.
    """
    work_ps, span_ps = row["work_ps"], row["span_ps"]
    bound_ps = max(span_ps, work_ps // workers)
    searched = row["steal_attempts"] + row["no_victim"]
    if row["steal_success"] or not searched or not bound_ps or row["makespan_ps"] < WELL_BELOW * bound_ps:
        return []
    return [
        f"no steal succeeded ({row['steal_attempts']:,} attempts, {row['no_victim']:,} rounds without a candidate), "
        f"although the program could keep {work_ps / span_ps:.1f} workers busy (work / span): its tasks are bound to "
        "the workers that they were given to, or the strategy looks where no tasks are"
    ]


def waits_for_lines(row: Mapping[str, Any], workers: int) -> list[str]:
    """Remark that waits for cache lines of queues are a large part of a run; these waits are an upper bound."""
    waits_ps, time_ps = row["line_owner_ps"] + row["line_thief_ps"], workers * row["makespan_ps"]
    if LARGE_PART * waits_ps < time_ps or not waits_ps:
        return []
    return [f"{UPPER_BOUND}; here {100 * waits_ps / time_ps:.0f} % of the time of all workers"]


def phases_left_out(phases_run: int) -> list[str]:
    """Remark that a run has more phases than a result has rows for."""
    if phases_run <= MOST_PHASE_ROWS:
        return []
    kept = f"the result has a row for each of the first {MOST_PHASE_ROWS:,} runs of phases"
    return [f"{kept}; of {phases_run:,} the rest has none"]


def memory_left_out(work: Workload, file: str) -> list[str]:
    """Remark that the graph of a file does not say what memory its tasks access."""
    silent = not len(work.accesses) and not any(family.moves_bytes for family in work.ranges)
    return [without_memory(file)] if silent else []


def without_memory(file: str) -> str:
    """Return the sentence about a graph's file that does not say what memory tasks access."""
    return (
        f"{file} does not say what memory its tasks access: "
        "where data lies, and how far and how fast memory is, plays no part"
    )


def free_operations(specs: Iterable[RunSpec]) -> list[str]:
    """Return a sentence for each runtime under which only probes cost time, such as ``bare``, or wake-ups cost none."""
    return list(dict.fromkeys(sentence for spec in specs for sentence in _free(spec.runtime) or free_wake_ups(spec)))


def free_wake_ups(spec: RunSpec) -> list[str]:
    """Return a sentence if idle workers sleep and waking them costs nothing."""
    idle = spec.strategy.idle or spec.runtime.idle
    if idle is None or (idle.sleep == "never" and idle.between_ns == "never"):
        return []
    if any(getattr(spec.runtime.costs, name) for name in WAKE_UPS):
        return []
    names = f"{', '.join(WAKE_UPS[:-1])} and {WAKE_UPS[-1]}"
    return [f"under the runtime {spec.runtime.name} waking a sleeping worker is free: {names} of its costs are 0"]


def _free(runtime: RuntimeSpec) -> list[str]:
    if any(value for name, value in runtime.costs if name not in PROBES and value != "no"):
        return []
    near, far = (getattr(runtime.costs, name) for name in PROBES)
    return [
        f"under the runtime {runtime.name} only probes cost time ({near} ns, on another node {far} ns, unless the "
        "machine's file says otherwise): making, taking and joining tasks, waking, locks and page faults are free"
    ]
