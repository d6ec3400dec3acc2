"""The tiers, labels and switches of all tasks before the first iteration (model 4.14).

The tier of a task is its place among the subtrees that a strategy keeps together: free (above), root (topmost task) or
local (below). The label of a task is the number of the unit (core, node, ...) for which the task is meant. A switch
turns steal levels and dispatch rules on and off. A controller may change all these between two iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.frozen import Frozen
from numasim.machine.topology import Machine, WorkerMap
from numasim.parts.models.placement_model import DISTRIBUTIONS, DistributionSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.models.strategy_terms import TierDepth
from numasim.schema.enumerations import Tier
from numasim.strategy.control.controller import I32, U8, Program
from numasim.strategy.control.packing import outermost, packing_at_depth, slices, tiers_of_packing
from numasim.workload.builder import frozen
from numasim.workload.forest_arrays import levels
from numasim.workload.graph import I64, Workload
from numasim.workload.one_worker import LINE_BYTES, by_task
from numasim.workload.phases import iterations_of

# ---- What controllers and functions of labels know of a program and its machine --------------------------------------

UNIT_WITHOUT_RULES = "socket"


def label_unit(spec: StrategySpec) -> str:
    """Return the kind of unit that labels name: that of the queues of the first rule ``to: label``, or socket."""
    for rule in spec.dispatch or ():
        if str(rule.target) == "label":
            return spec.queues[spec.families(rule)[0]].per
    return UNIT_WITHOUT_RULES


def llc_bytes_of_units(kind: str, machine: Machine, workers: WorkerMap) -> list[int]:
    """Return [units] the bytes of last-level cache of each unit of ``kind`` that has a worker, in ascending order.

    ``kind`` is worker, core, llc, node, socket or machine. A cache counts if one of the unit's workers uses the cache.
    """
    size: dict[int, int] = {}
    for unit, domain in sorted(set(zip(workers.unit(kind).tolist(), workers.llc.tolist(), strict=True))):
        size[unit] = size.get(unit, 0) + machine.llc_bytes_of_domain[domain]
    return list(size.values())


def known_program(
    workload: Workload,
    machine: Machine,
    workers: WorkerMap,
    kind: str,
    switches: tuple[str, ...] = (),
    placements: tuple[str, ...] = (),
) -> Program:
    """Return the `Program` of ``workload``, which has a row for every task, on ``machine``; labels name units of
    ``kind``; ``switches`` and ``placements`` are the names that a controller may choose.
    """
    llc_bytes = llc_bytes_of_units(kind, machine, workers)
    return Program(
        parent=workload.parent,
        depth=frozen(_depth(workload.parent)),
        subtree_end=workload.subtree_end(),
        compute_ps=frozen(by_task(workload, workload.segment_compute_ps)),
        roots=tuple(phase.roots for phase in workload.phases),
        loops=workload.loops,
        iterations=tuple(iterations_of(workload.phases, workload.loops)),
        units=len(llc_bytes),
        unit_llc_bytes=min(llc_bytes),
        l2_bytes=machine.caches.l2_bytes,
        line_bytes=LINE_BYTES,
        workers=workers.workers,
        nodes=machine.nodes,
        switches=switches,
        placements=placements,
    )


def _depth(parent: I64) -> I64:
    depth = np.zeros(len(parent), np.int64)
    for number, tasks in enumerate(levels(parent)):
        depth[tasks] = number
    return depth


# ---- The labels of tasks, by functions registered here (model 4.14) --------------------------------------------------
#
# A function of labels takes the `Program` and the number of units. It returns for each task the number of the unit for
# which the task is meant, from 0 to ``units - 1``, or -1 for no unit; the result depends on nothing else. The items of
# ranges get their labels in `numasim.strategy.dealing`.

Labelling = Callable[[Program, int], npt.NDArray[np.integer]]
LABELLINGS: dict[str, Labelling] = {"slices": slices}
NO_LABELS: I32 = np.zeros(0, np.int32)
NOT_FUNCTIONS = ("none", "tune")  # values of ``labels`` in a strategy that name no function


def labels_of(spec: StrategySpec, program: Program) -> I32:
    """Return [tasks] the label of each task before the first iteration, -1 for none; empty if the strategy has no
    labels. Raises InputError for a name that is not registered in this process.
    """
    if spec.labels == "none":
        return NO_LABELS
    if isinstance(spec.labels, DistributionSpec) or spec.labels == "tune" or spec.distribution:
        return frozen(np.full(program.tasks, -1, np.int32))
    check_labels(spec.labels)
    found = np.ascontiguousarray(LABELLINGS[spec.labels](program, program.units), np.int32)
    assert found.shape == (program.tasks,)
    assert not program.tasks or (found.min() >= -1 and found.max() < program.units)
    return frozen(found)


def check_labels(name: str) -> None:
    """Raise InputError, with the nearest name, unless ``name`` is a word of the grammar or a registered function."""
    known = (*LABELLINGS, *DISTRIBUTIONS, *NOT_FUNCTIONS)
    if name not in known:
        problem = f"there is no function of labels {name!r}"
        raise InputError(problem, path=("labels",), expected=", ".join(known), value=name, known=known)


# ---- The tiers of tasks (model 4.14) ---------------------------------------------------------------------------------

NO_TIERS: U8 = np.zeros(0, np.uint8)


def tiers_of(spec: StrategySpec, program: Program, labels: I32) -> U8:
    """Return [tasks] the tier of each task before the first iteration; empty if the strategy has no tiers: all tasks
    are local. The roots are the tasks of a given depth or, with ``tiers: slices``, the topmost tasks with a label.
    """
    if isinstance(spec.tiers, TierDepth):
        return frozen(tiers_of_packing(program, packing_at_depth(program, spec.tiers.depth)))
    if spec.tiers == "slices":
        return frozen(tiers_of_packing(program, outermost(np.flatnonzero(labels >= 0), program.subtree_end)))
    return frozen(np.full(program.tasks, Tier.LOCAL, np.uint8)) if spec.tiers == "tune" else NO_TIERS


class TaskControl(Frozen, eq=False):
    """The controls of the first iteration. A range is many similar tasks, its items: without ``item_labels``, item i of
    n has the label ``i * item_units div n``, or no label if ``item_units`` is 0.
    """

    tiers: U8  # [tasks] `Tier`; empty if all tasks are local
    labels: I32  # [tasks] -1 for none; empty if no task has a label
    item_units: int = 0
    switches: int = 0  # bit k: switch number k of `numasim.strategy.steal_plan.StealPlan.switches` is on
    item_labels: I32 = field(default_factory=lambda: NO_LABELS)  # [items of all ranges] the unit of each dealt item
    item_nodes: I32 = field(default_factory=lambda: NO_LABELS)  # [items of all ranges] the node of each item's unit
    dealing: int = 0  # so many segments, the last of the program, are worker 0's dealing of items to units


NO_CONTROL = TaskControl(NO_TIERS, NO_LABELS)


def compile_control(
    spec: StrategySpec,
    workload: Workload,
    machine: Machine,
    workers: WorkerMap,
    item_labels: I32 = NO_LABELS,
    item_nodes: I32 = NO_LABELS,
    dealing: int = 0,
) -> TaskControl:
    """Return the controls of the first iteration by ``spec``; `NO_CONTROL` if ``spec`` treats all tasks alike, else
    ``workload`` must have a row for every task. ``item_labels``, ``item_nodes`` and ``dealing`` are as in
    `TaskControl`. Raises InputError for labels by a function that is not registered.
    """
    if not spec.needs_every_task:
        return NO_CONTROL
    program = known_program(workload, machine, workers, label_unit(spec))
    labels = labels_of(spec, program)
    item_units = program.units if spec.labels == "slices" else 0
    return TaskControl(
        tiers_of(spec, program, labels),
        labels,
        item_units,
        item_labels=item_labels,
        item_nodes=item_nodes,
        dealing=dealing,
    )
