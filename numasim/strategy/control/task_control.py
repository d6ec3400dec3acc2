"""The tiers, labels and switches of all tasks before the first iteration (model 4.14)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.machine.topology import Machine, WorkerMap
from numasim.parts.models.placement_model import DISTRIBUTIONS, DistributionSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.models.strategy_terms import TierDepth
from numasim.schema.enumerations import Tier
from numasim.strategy.control.controller import I32, U8, Program
from numasim.strategy.control.packing import slices
from numasim.workload.builder import frozen
from numasim.workload.forest_arrays import levels
from numasim.workload.graph import I64, Op, Workload
from numasim.workload.one_worker import LINE_BYTES
from numasim.workload.phases import iterations_of

# ---- What controllers and functions of labels know of a program and its machine --------------------------------------

UNIT_WITHOUT_RULES = "socket"


def label_unit(spec: StrategySpec) -> str:
    """Return the kind of unit that labels name: the unit of the queues of the first rule ``to: label``, or socket."""
    for rule in spec.dispatch or ():
        if str(rule.target) == "label":
            return spec.queues[spec.families(rule)[0]].per
    return UNIT_WITHOUT_RULES


@dataclass(frozen=True)
class LabelUnits:
    """The units that labels name: the units that have a worker, in ascending order.

    ``llc_bytes`` is the size of all last-level caches of a unit's workers, for the unit with the smallest such size.
    """

    count: int
    llc_bytes: int

    @classmethod
    def of(cls, kind: str, machine: Machine, workers: WorkerMap) -> LabelUnits:
        """Return the units of ``kind`` (worker, core, llc, node, socket or machine) that have any of ``workers``."""
        unit = workers.unit(kind)
        domains = {(int(u), int(llc)) for u, llc in zip(unit, workers.llc, strict=True)}
        size: dict[int, int] = {}
        for u, llc in sorted(domains):
            size[u] = size.get(u, 0) + machine.llc_bytes_of_domain[llc]
        return cls(len(size), min(size.values()))


def known_program(
    workload: Workload,
    machine: Machine,
    workers: WorkerMap,
    kind: str,
    switches: tuple[str, ...] = (),
    placements: tuple[str, ...] = (),
) -> Program:
    """Return the `Program` of ``workload``, which is unfolded, on ``machine``; labels name units of ``kind``.

    ``switches`` and ``placements`` are the names that a controller may choose.
    """
    units = LabelUnits.of(kind, machine, workers)
    return Program(
        parent=workload.parent,
        depth=frozen(_depth(workload.parent)),
        subtree_end=workload.subtree_end(),
        compute_ps=frozen(_own_compute_ps(workload)),
        roots=tuple(phase.roots for phase in workload.phases),
        loops=workload.loops,
        iterations=tuple(iterations_of(workload.phases, workload.loops)),
        units=units.count,
        unit_llc_bytes=units.llc_bytes,
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


def _own_compute_ps(workload: Workload) -> I64:
    """Return [tasks] the compute time of each task's own segments."""
    found = np.zeros(workload.rows, np.int64)
    runs = np.flatnonzero(workload.op_code == Op.RUN)
    task = np.searchsorted(workload.op_ptr, runs, side="right") - 1
    np.add.at(found, task, workload.segment_compute_ps[workload.op_arg[runs]])
    return found


# ---- The labels of tasks: the unit for which each task is meant, by functions registered here (model 4.14) -----------
#
# A function of labels takes the `Program` and the number of units. It returns for each task the number of the unit for
# which the task is meant, from 0 to ``units - 1``, or -1 for no unit; the result depends on nothing else. The items of
# ranges get their labels in `numasim.strategy.dealing`.

Labelling = Callable[[Program, int], npt.NDArray[np.integer]]
LABELLINGS: dict[str, Labelling] = {"slices": slices}
NO_LABELS: I32 = np.zeros(0, np.int32)
NOT_FUNCTIONS = ("none", "tune")  # words that are allowed as labels


def labels_of(spec: StrategySpec, program: Program) -> I32:
    """Return [tasks] the label of each task before the first iteration; empty if no task has a label.

    Raises InputError for a name that is not registered in this process.
    """
    if isinstance(spec.labels, DistributionSpec):
        return frozen(np.full(program.tasks, -1, np.int32))
    check_labels(spec.labels)
    if spec.labels == "none":
        return NO_LABELS
    if spec.labels == "tune" or spec.distribution:
        return frozen(np.full(program.tasks, -1, np.int32))
    found = np.ascontiguousarray(LABELLINGS[spec.labels](program, program.units), np.int32)
    assert found.shape == (program.tasks,)
    assert not program.tasks or (found.min() >= -1 and found.max() < program.units)
    return frozen(found)


def check_labels(name: str) -> None:
    """Raise InputError, with the nearest name, unless ``name`` is a word of the grammar or a registered function."""
    known = (*LABELLINGS, *DISTRIBUTIONS, *NOT_FUNCTIONS)
    if name not in known:
        raise InputError(
            f"there is no function of labels {name!r}",
            path=("labels",),
            expected=", ".join(known),
            value=name,
            known=known,
        )


# ----------------------------------------------------------------------------------------------------------------------
# The tiers of tasks (model 4.14): the roots of the subtrees that are kept together, by depth or by labels.

NO_TIERS: U8 = np.zeros(0, np.uint8)


def tiers_of(spec: StrategySpec, program: Program, labels: I32) -> U8:
    """Return [tasks] the tier of each task before the first iteration; empty if all tasks are local."""
    if isinstance(spec.tiers, TierDepth):
        return by_depth(program, spec.tiers.depth)
    if spec.tiers == "slices":
        return by_labels(program, labels)
    nowhere = np.zeros(program.tasks, bool)
    return _tiers(nowhere, nowhere) if spec.tiers == "tune" else NO_TIERS


def by_depth(program: Program, depth: int) -> U8:
    """Return [tasks] the tier free above ``depth``, root at ``depth``, local below ``depth``."""
    return _tiers(program.depth < depth, program.depth == depth)


def by_labels(program: Program, labels: I32) -> U8:
    """Return [tasks] free for tasks without a label; with a label root if no task above has a label, else local."""
    labelled = labels >= 0
    below = np.zeros(len(labelled), bool)
    for depth, tasks in enumerate(levels(program.parent)):
        if depth:
            parent = program.parent[tasks]
            below[tasks] = below[parent] | labelled[parent]
    return _tiers(~labelled & ~below, labelled & ~below)


def _tiers(free: npt.NDArray[np.bool_], root: npt.NDArray[np.bool_]) -> U8:
    found = np.full(len(free), Tier.LOCAL, np.uint8)
    found[free] = Tier.FREE
    found[root] = Tier.ROOT
    found.setflags(write=False)
    return found


@dataclass(frozen=True, eq=False)
class TaskControl:
    """The controls of the first iteration; engines keep a copy, which a controller may replace between two iterations.

    ``tiers`` [tasks] is empty if all tasks are local, ``labels`` [tasks] if no task has a label. ``item_labels`` [items
    of all ranges] has the labels of dealt items, ``item_nodes`` the nodes of the units that the labels name; worker 0
    deals in the last ``dealing`` segments. If these arrays are empty, item i of a range of n items has the label
    ``i * item_units div n``, or no label if ``item_units`` is 0. Bit k of ``switches`` is set if switch number k of
    `numasim.strategy.steal_plan.StealPlan.switches` is on.
    """

    tiers: U8
    labels: I32
    item_units: int = 0
    switches: int = 0
    item_labels: I32 = field(default_factory=lambda: NO_LABELS)
    item_nodes: I32 = field(default_factory=lambda: NO_LABELS)
    dealing: int = 0


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
    """Return the tiers and labels that ``spec`` gives the tasks of ``workload``, which is unfolded if there are any.

    ``item_labels``, ``item_nodes`` and ``dealing`` are as in `TaskControl`.

    Raises InputError for labels by a function that is not registered.
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
