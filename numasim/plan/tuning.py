"""The controller of a plan, with all inputs that do not depend on a run (model 4.12).

A controller is a function, shipped or a user's, that changes the strategy between two iterations (passes through an
outermost loop of the program).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from numasim.errors import InputError
from numasim.frozen import Frozen
from numasim.machine.topology import Machine, WorkerMap
from numasim.parts.base import ps
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.models.tune_model import TuneSpec
from numasim.strategy.control.built_in import BUILT_IN
from numasim.strategy.control.controller import Controller, Program
from numasim.strategy.control.loaded_controller import PATH, check_unchanged, loaded_controller
from numasim.strategy.control.task_control import known_program, label_unit
from numasim.workload.graph import I64, Workload
from numasim.workload.one_worker import LINE_BYTES, by_task, segment_sums


class Tuning(Frozen, eq=False):
    """A controller, and the parts of the plan that its calls need."""

    name: str  # the name of the controller in messages
    file: Path | None  # the file that defines the controller; None: a shipped controller
    load: Callable[[], Controller]  # executes the module of a user's controller, when a run first asks for `controller`
    program: Program
    workload: Workload
    profile_ps: int  # overhead at the end of each task in the iterations from profiled[0] to profiled[1]
    profiled: tuple[int, int]
    l2_bytes: int  # size of a core's second-level cache, for the misses that are counted; -1: every pass misses

    @cached_property
    def controller(self) -> Controller:
        """The function of the controller; InputError if the function cannot be loaded (`controller_of`)."""
        return self.load()

    @cached_property
    def misses(self) -> I64:
        """Return [tasks] the misses in the second-level cache of each task's own segments, as it runs once."""
        return _own_misses(self.workload, self.l2_bytes)


def tuning_of(
    spec: StrategySpec, workload: Workload, machine: Machine, workers: WorkerMap, caches: bool
) -> Tuning | None:
    """Return the controller of ``spec`` for ``workload``, which has a row for each task; None if there is none.

    ``caches``: whether the caches of the machine are simulated. Raises InputError if a user's module has changed since
    the strategy was read; the module is not executed yet.
    """
    tune = spec.tune
    if tune is None:
        return None
    function = tune.function
    if function is not None:
        check_unchanged(function, tune.source_hash)
    unit, placements = label_unit(spec), tuple(tune.placements)
    return Tuning(
        name=tune.what or (function.name if function else ""),
        file=function.file if function else None,
        load=partial(controller_of, tune),
        program=known_program(workload, machine, workers, unit, switches=spec.switches, placements=placements),
        workload=workload,
        profile_ps=ps(tune.profile_ns),
        profiled=tune.profiled_span,
        l2_bytes=machine.caches.l2_bytes if caches else -1,
    )


def controller_of(tune: TuneSpec) -> Controller:
    """Return the controller of ``tune``; the module of a user's controller is executed, after a message with its name.
    Raises InputError if it cannot be executed, has changed since the strategy was read, or has no such function.
    """
    function = tune.function
    if function is not None:
        try:
            return loaded_controller(function, tune.source_hash)
        except InputError as error:
            error.path = ("strategy", *PATH)
            raise
    assert tune.what is not None
    return BUILT_IN[tune.what](tune)


def _own_misses(work: Workload, l2_bytes: int) -> I64:
    accesses, pointer = work.accesses, work.segment_accesses
    once = accesses.row_bytes * accesses.rows
    footprint = np.repeat(segment_sums(once, pointer), np.diff(pointer))
    lines = -(-once * np.where(footprint <= l2_bytes, 1, accesses.passes.astype(np.int64)) // LINE_BYTES)
    return by_task(work, segment_sums(lines, pointer))
