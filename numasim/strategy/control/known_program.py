"""What controllers and functions of labels know of a program and of the machine that it runs on, made once a plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numasim.machine.topology import Machine, WorkerMap
from numasim.parts.models.strategy_model import StrategySpec
from numasim.strategy.control.controller import Program
from numasim.workload.forest_arrays import levels
from numasim.workload.graph import I64, Op, Workload
from numasim.workload.one_worker import LINE_BYTES
from numasim.workload.phases import iterations_of

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
