"""What a strategy has decided for all tasks before the first iteration: tiers, labels, switches (model 4.14)."""

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
from numasim.workload.forest_arrays import levels
from numasim.workload.graph import I64, Op, Workload
from numasim.workload.one_worker import LINE_BYTES
from numasim.workload.phases import iterations_of

# ---- What controllers and functions of labels know of a program and its machine --------------------------------------

UNIT_WITHOUT_RULES = "socket"


def label_unit(spec: StrategySpec) -> str:
    """The kind of unit that labels name: that of the queues of the first rule ``to: label``, or sockets."""
    for rule in spec.dispatch or ():
        if str(rule.target) == "label":
            return spec.queues[spec.families(rule)[0]].per
    return UNIT_WITHOUT_RULES


@dataclass(frozen=True)
class LabelUnits:
    """The units that labels name, in ascending order: those that have a worker.

    ``llc_bytes`` is the size of the last-level caches in which workers of a unit have a part, of the unit with the
    least.
    """

    count: int
    llc_bytes: int

    @classmethod
    def of(cls, kind: str, machine: Machine, workers: WorkerMap) -> LabelUnits:
        """The units of ``kind`` on which ``workers`` are: worker, core, llc, node, socket or machine."""
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
    """The `Program` of ``workload``, written out, on ``machine``, whose labels name units of ``kind``.

    ``switches`` and ``placements`` are the names that a controller may choose.
    """
    units = LabelUnits.of(kind, machine, workers)
    return Program(
        parent=workload.parent,
        depth=_frozen(_depth(workload.parent)),
        subtree_end=workload.subtree_end(),
        compute_ps=_frozen(_own_compute_ps(workload)),
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
    """[tasks] the compute time of each task's own segments."""
    found = np.zeros(workload.rows, np.int64)
    runs = np.flatnonzero(workload.op_code == Op.RUN)
    task = np.searchsorted(workload.op_ptr, runs, side="right") - 1
    np.add.at(found, task, workload.segment_compute_ps[workload.op_arg[runs]])
    return found


def _frozen(array: I64) -> I64:
    array.setflags(write=False)
    return array


# ---- The labels of tasks: for which unit each is meant, by functions that are registered here (model 4.14) -----------
#
# A function of labels is given what is known of the program and how many units there are. It returns a number for
# each task, of the unit that it is meant for, from 0 to ``units - 1``, or -1 for none; it depends on nothing else.
# What deals the items of ranges by their data is in `numasim.strategy.dealing`.

Labelling = Callable[[Program, int], npt.NDArray[np.integer]]
LABELLINGS: dict[str, Labelling] = {"slices": slices}
NO_LABELS: I32 = np.zeros(0, np.int32)
NOT_FUNCTIONS = ("none", "tune")  # words that are allowed as labels


def labels_of(spec: StrategySpec, program: Program) -> I32:
    """[tasks] the label of each task before the first iteration; empty where none has one.

    Raises InputError for a name that is not registered, be it in this process alone.
    """
    if isinstance(spec.labels, DistributionSpec):
        return _frozen(np.full(program.tasks, -1, np.int32))
    check_labels(spec.labels)
    if spec.labels == "none":
        return NO_LABELS
    if spec.labels == "tune" or spec.distribution:
        return _frozen(np.full(program.tasks, -1, np.int32))
    found = np.ascontiguousarray(LABELLINGS[spec.labels](program, program.units), np.int32)
    assert found.shape == (program.tasks,)
    assert not program.tasks or (found.min() >= -1 and found.max() < program.units)
    return _frozen(found)


def _frozen(labels: I32) -> I32:
    labels.setflags(write=False)
    return labels


def check_labels(name: str) -> None:
    """InputError, with the nearest name, for labels that are no word of the grammar and no registered function."""
    known = (*LABELLINGS, *DISTRIBUTIONS.meanings, *NOT_FUNCTIONS)
    if name not in known:
        raise InputError(
            f"there is no function of labels {name!r}",
            path=("labels",),
            expected=", ".join(known),
            value=name,
            known=known,
        )


# ----------------------------------------------------------------------------------------------------------------------
# The tiers of tasks (model 4.14): which are the roots of subtrees that are kept together, by depth or by labels.

NO_TIERS: U8 = np.zeros(0, np.uint8)


def tiers_of(spec: StrategySpec, program: Program, labels: I32) -> U8:
    """[tasks] the tier of each task before the first iteration; empty where all are local."""
    if isinstance(spec.tiers, TierDepth):
        return by_depth(program, spec.tiers.depth)
    if spec.tiers == "slices":
        return by_labels(program, labels)
    nowhere = np.zeros(program.tasks, bool)
    return _tiers(nowhere, nowhere) if spec.tiers == "tune" else NO_TIERS


def by_depth(program: Program, depth: int) -> U8:
    """[tasks] free above ``depth``, root at it, local below it."""
    return _tiers(program.depth < depth, program.depth == depth)


def by_labels(program: Program, labels: I32) -> U8:
    """[tasks] free without a label; of those with one, root where no task above has one, and else local."""
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
    """What holds in the first iteration; engines keep a copy, which a controller may replace between two iterations.

    ``tiers`` [tasks] is empty where all tasks are local, ``labels`` [tasks] where none has one. Item i of a range of n
    has the label ``i * item_units div n``, or none where ``item_units`` is 0, unless ``item_labels`` [items of all
    ranges], which is empty otherwise, says it; then ``item_nodes`` has the node of the unit that the label names. The
    last ``dealing`` segments are those in which worker 0 finds these. Bit k of ``switches`` is that of
    `numasim.strategy.steal_plan.StealPlan.switches` number k.
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
    """The tiers and labels that ``spec`` gives the tasks of ``workload``, which is written out where it gives any.
    ``item_labels`` are those that its distribution gives the items of ranges, in the last ``dealing`` segments, and
    ``item_nodes`` the nodes of the units that they name.

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
