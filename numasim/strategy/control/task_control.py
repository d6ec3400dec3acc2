"""What a strategy has decided for all tasks before the first iteration: tiers, labels, switches (model 4.14)."""

from __future__ import annotations

from dataclasses import dataclass, field

from numasim.machine.topology import Machine, WorkerMap
from numasim.parts.models.strategy_model import StrategySpec
from numasim.strategy.control.controller import I32, U8
from numasim.strategy.control.known_program import known_program, label_unit
from numasim.strategy.control.labels import NO_LABELS, labels_of
from numasim.strategy.control.tiers import NO_TIERS, tiers_of
from numasim.workload.graph import Workload


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
