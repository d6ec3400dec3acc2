"""Comparison of predicted with measured values of a cell (a program under a strategy), and of distances with bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from numasim.engine.result import Result
from numasim.machine.routing import line_transfer_ps
from numasim.plan.plan import Plan
from numasim.report.answers.statistics import Estimate
from numasim.runtime.runtime_program import KernelRun
from numasim.schema.enumerations import SYNC_COUNTS
from numasim.validate.part_files import BoundSpec, Cell, Part
from numasim.validate.run_store import StoredRuns
from numasim.validate.validated_quantities import QUANTITIES

# ---- the common form of predicted and measured runs: counters under the names of the simulator's results -------------

OF_COLUMNS = ("makespan_ps", "steal_attempts", "steal_success", "steal_attempts_remote", "tasks")


def predicted_counts(result: Result, serial_ps: int) -> dict[str, int]:
    """Return the counters of a simulation. ``serial_ps`` is the time of the same computation without tasks."""
    counters = result.counters
    return {
        **{name: int(counters[name]) for name in OF_COLUMNS},
        "serial_ps": serial_ps,
        "steal_false": int(counters["steal_false"]),
        "bytes": int(result.node_bytes.sum()),
        "bytes_remote": int(counters["bytes_remote"]),
        "lock_acquisitions": int(counters["lock_acquisitions"]),
    }


def measured_counts(run: KernelRun) -> dict[str, int]:
    """Return the counters of a run of the runtime."""
    columns = {**run.columns, "makespan_ps": run.makespan_ps}
    moved = sum(map(sum, run.node_bytes))
    return {
        **{name: int(columns[name]) for name in OF_COLUMNS},
        "serial_ps": run.serial_ps or 0,
        "steal_false": columns["steal_attempts"] - columns["steal_success"],
        "bytes": moved,
        "bytes_remote": moved - sum(row[node] for node, row in enumerate(run.node_bytes)),
        "lock_acquisitions": sum(word[0] for word in run.words),
    }


# ---- virtual time with model costs: every counter of the runtime must equal the native engine's counter --------------

TABLES = ("node_attempts", "node_success", "node_bytes")

Value = int | str | None
Pair = tuple[str, Value, Value]  # name, predicted, found


def differences(result: Result, run: KernelRun) -> tuple[int, list[Pair]]:
    """Return (how many counters were compared, the counters that differ)."""
    compared = list(_pairs(result, run))
    return len(compared), [pair for pair in compared if pair[1] != pair[2]]


def _pairs(result: Result, run: KernelRun) -> Iterator[Pair]:
    """Yield every counter that both sides have: totals, then by worker, pair of nodes and synchronisation object."""
    yield ("trace_hash", result.counters["trace_hash"], run.trace_hash)
    for name, found in {"makespan_ps": run.makespan_ps, "page_faults": run.page_faults, **run.columns}.items():
        yield (name, int(result.counters[name]), found)
    for name, values in {"node": run.node, **run.worker}.items():
        yield from _entries(name, result.per_worker[name][: run.workers], values)
    for name in TABLES:
        yield from _entries(name, getattr(result, name), getattr(run, name))
    objects = zip(*(result.sync_objects[name] for name in SYNC_COUNTS), strict=True)
    yield from _entries("sync_objects", [*objects], run.words)


def _entries(name: str, predicted: Any, found: Any) -> Iterator[Pair]:
    """Yield the entries of two tables; if the shapes of the tables differ, yield the shapes."""
    expected, seen = np.asarray(predicted, np.int64), np.asarray(found, np.int64)
    if expected.size == seen.size == 0:
        return
    if expected.shape != seen.shape:
        yield (f"shape of {name}", str(expected.shape), str(seen.shape))
        return
    for place in np.ndindex(expected.shape):
        yield (f"{name}[{','.join(map(str, place))}]", int(expected[place]), int(seen[place]))


# ---- distances and bounds --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """The comparison of one quantity in one cell.

    ``distance`` is relative or absolute, depending on the quantity, and infinite if only one side has a value.
    ``within`` says whether the distance is within the bound; None if there is no bound.
    """

    cell: Cell
    quantity: str
    predicted: Estimate
    measured: Estimate
    distance: float
    within: bool | None


@dataclass(frozen=True)
class Verdict:
    """The verdict on one bound: ``within`` of ``cells`` cells satisfy it; ``outside`` has the others, worst first."""

    quantity: str
    bound: BoundSpec
    cells: int
    within: int
    outside: tuple[Comparison, ...]

    @property
    def met(self) -> bool:
        """Return whether enough cells satisfy the bound. A bound without a tested cell is not met."""
        return self.cells > 0 and self.within >= float(self.bound.share) * self.cells - 1e-9


@dataclass(frozen=True)
class Equality:
    """The comparison of a cell whose counters must be equal: the number of values, and the differing values by seed."""

    cell: Cell
    values: int
    differing: tuple[tuple[str, Pair], ...]


def compare(part: Part, cell: Cell, stored: StoredRuns) -> Iterator[Comparison]:
    """Compare every quantity that the runs of the cell have, over as many repeats as the part has."""
    seeds = list(stored.measured)[: part.repeats]
    predicted, measured = ([side[seed] for seed in seeds] for side in (stored.predicted, stored.measured))
    for name, quantity in QUANTITIES.items():
        if quantity.timed and part.file.mode == "virtual":
            continue
        ours, theirs = quantity.estimate(predicted), quantity.estimate(measured)
        distance = quantity.distance(ours.value, theirs.value)
        if distance is not None:
            bound = part.file.bounds.get(name)
            within = None if bound is None else abs(distance) <= float(bound.within)
            yield Comparison(cell, name, ours, theirs, distance, within)


def judge(part: Part, comparisons: Sequence[Comparison]) -> Iterator[Verdict]:
    """Yield the verdict on each bound of the part."""
    for name, bound in part.file.bounds.items():
        those = [each for each in comparisons if each.quantity == name]
        outside = sorted((each for each in those if not each.within), key=lambda each: -abs(each.distance))
        yield Verdict(name, bound, len(those), len(those) - len(outside), tuple(outside))


def equality(part: Part, cell: Cell, stored: StoredRuns) -> Equality:
    """Return the comparison of all counters of a cell, over as many repeats as the part has."""
    runs = dict(list(stored.compared.items())[: part.repeats])
    differing = tuple((seed, tuple(pair)) for seed, run in runs.items() for pair in run["differing"])
    return Equality(cell, sum(run["values"] for run in runs.values()), differing)


# ---- whether the threads of a run were placed as described by the machine file ---------------------------------------
#
# A hypervisor moves the hardware threads of a virtual machine. Two hardware threads may share a cache at one moment and
# not at the next moment; without a shared cache, workers that share data are slower. The machine file describes one of
# these states. The transfer time of a cache line from worker to worker is measured before, between and after a
# rehearsal and its run. If one of these three times is not near the time of the machine file, the run is rejected,
# whatever its result.

MOST_FACTOR = 2  # largest factor between a measured transfer time and the machine file's time


def placement_differs(run: KernelRun, plan: Plan) -> bool:
    """Return whether the transfer times of cache lines beside the run differ from those of the machine of ``plan``."""
    expected_ps = hop_ps(plan)
    return any(hop and (hop > MOST_FACTOR * expected_ps or MOST_FACTOR * hop < expected_ps) for hop in run.hop_ps)


def hop_ps(plan: Plan) -> int:
    """Return the mean transfer time of a cache line from each worker to the next, on the machine of ``plan``."""
    between = line_transfer_ps(plan.machine, plan.workers)
    ids = np.arange(len(between))
    return int(between[ids, np.roll(ids, -1)].mean())
