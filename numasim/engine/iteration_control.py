"""Control between two iterations of a run whose strategy has a controller; the same for all engines (model 4.12).

An engine tells the `IterationControl` of the begin of a run, and at the end of each iteration the counts of the run.
The engine carries out the returned `Decision` in the next iteration. Any error of a controller ends the run with one
sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.plan.tuning import Tuning
from numasim.strategy.control.controller import I32, I64, U8, Controls, Measures
from numasim.strategy.control.loaded_controller import PATH, raised_at, said
from numasim.workload.phases import parts, runs_of

TIERS = (1, 2, 4)
IS_TIER = np.isin(np.arange(256), TIERS)


class Decision(NamedTuple):
    """The decision that an engine carries out; a field that is None changes nothing."""

    tiers: U8 | None  # [tasks]
    labels: I32 | None  # [tasks]
    switches: int | None  # bit i is set if switch i is on
    policy: int | None  # the number of a page policy in ``tune.placements``
    profile_ps: int  # the cost of measuring at the end of each task


class Pass(NamedTuple):
    """An iteration of a loop, or of a phase outside of loops."""

    phase: int  # the first phase of the loop
    iteration: int
    misses: I64  # [tasks] cache misses in the iteration


class IterationControl:
    """One run of a controller: the state of the controller, and the sums at the end of the last iteration."""

    def __init__(self, tuning: Tuning) -> None:
        self._tuning = tuning
        self._controller = tuning.controller  # the module of a user's controller is executed here, as the run begins
        self._state: Any = None
        self._iterations = self._passes()
        self._next = next(self._iterations, None)  # the iteration that runs, or is about to begin
        self._began_ps = 0
        program = tuning.program
        self._node_bytes = np.zeros((program.nodes, program.nodes), np.int64)
        self._busy_ps = np.zeros(program.workers, np.int64)
        self._ended = "before the first iteration"

    def begin(self) -> Decision:
        """Return the decision for the first iteration."""
        return self._decide(None)

    def end_iteration(
        self, now_ps: int, task_ps: I64, task_bytes: I64, node_bytes: I64, busy_ps: I64
    ) -> Decision | None:
        """An iteration ends at ``now_ps``: return the decision for the next iteration, None if there is none.

        ``task_ps`` [tasks] and ``task_bytes`` [tasks, nodes] are sums of the iteration that ends. ``node_bytes``
        [nodes, nodes] and ``busy_ps`` [workers] are sums of the run so far. This object keeps all arrays: an
        engine passes copies.
        """
        ended, self._next = self._next, next(self._iterations, None)
        if ended is None or self._next is None:
            return None
        measures = Measures(
            iteration=ended.iteration,
            phase=ended.phase,
            time_ps=now_ps - self._began_ps,
            task_ps=_constant(task_ps),
            misses=ended.misses,
            bytes=_constant(task_bytes),
            node_bytes=_constant(node_bytes - self._node_bytes),
            worker_busy_ps=_constant(busy_ps - self._busy_ps),
        )
        self._began_ps, self._node_bytes, self._busy_ps = now_ps, node_bytes, busy_ps
        self._ended = f"after iteration {ended.iteration}"
        return self._decide(measures)

    def end_iteration_at(self, told: I64) -> Decision | None:
        """Return `end_iteration` of its five arguments; ``told`` holds the time and the four arrays, end to end."""
        tasks, nodes = self._tuning.program.tasks, self._tuning.program.nodes
        to_bytes, to_pairs = 1 + tasks, 1 + tasks + tasks * nodes
        to_workers = to_pairs + nodes * nodes
        told.setflags(write=False)
        return self.end_iteration(
            int(told[0]),
            told[1:to_bytes],
            told[to_bytes:to_pairs].reshape(tasks, nodes),
            told[to_pairs:to_workers].reshape(nodes, nodes),
            told[to_workers:],
        )

    def _passes(self) -> Iterator[Pass]:
        """Yield the iterations of the run in order."""
        work = self._tuning.workload
        for part in parts(0, len(work.phases), work.loops):
            if isinstance(part, int):
                first, repeat, runs = part, work.phases[part].repeat, {part: 1}
            else:
                loop, inner = part
                first, repeat, every = loop.first, loop.repeat, runs_of(work.phases, inner)
                runs = {phase: every[phase] for phase in range(loop.first, loop.end)}
            misses = self._misses_of(runs)
            yield from (Pass(first, iteration, misses) for iteration in range(repeat))

    def _misses_of(self, runs: Mapping[int, int]) -> I64:
        """Return [tasks] the misses of an iteration in which each phase runs as often as ``runs`` says."""
        program = self._tuning.program
        times = np.zeros(program.tasks, np.int64)
        for phase, count in runs.items():
            for root in program.roots[phase]:
                times[root : program.subtree_end[root]] += count
        return _constant(times * self._tuning.misses)

    # ---- the controller --------------------------------------------------------------------------------------------

    def _decide(self, measures: Measures | None) -> Decision:
        try:
            returned = self._controller(self._tuning.program, self._state, measures)
        except (Exception, SystemExit) as error:
            place = raised_at(error, self._tuning.file) if self._tuning.file else None
            self._refuse(f"failed {self._ended}: {said(error)}", "a state and Controls", place)
        if not (isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], Controls)):
            self._refuse(f"returned {_kind(returned)} {self._ended}", "a tuple of a state and Controls")
        self._state, controls = returned
        return Decision(
            self._tiers(controls.tiers),
            self._labels(controls.labels),
            self._switches(controls.switches),
            self._policy(controls.placement),
            self._profile_ps(),
        )

    def _profile_ps(self) -> int:
        first, last = self._tuning.profiled
        if self._next is None or self._tuning.program.iterations[self._next.phase] == 1:
            return 0  # no later iteration could use the measures
        return self._tuning.profile_ps if first <= self._next.iteration <= last else 0

    def _tiers(self, tiers: Any) -> U8 | None:
        if tiers is None:
            return None
        found = self._each_task("tiers", tiers)
        of_bytes = found.dtype == np.uint8 or not len(found) or (found.min() >= 0 and found.max() <= 255)
        if not of_bytes or not IS_TIER[found].all():
            wrong = int(np.flatnonzero(~np.isin(found, TIERS))[0])
            self._refuse_entry("tiers", found, wrong, "1 (free), 2 (root) or 4 (local)")
        return np.ascontiguousarray(found, np.uint8)

    def _labels(self, labels: Any) -> I32 | None:
        if labels is None:
            return None
        found, units = self._each_task("labels", labels), self._tuning.program.units
        if len(found) and (found.min() < -1 or found.max() >= units):
            wrong = int(np.flatnonzero((found < -1) | (found >= units))[0])
            self._refuse_entry("labels", found, wrong, f"a unit from 0 to {units - 1}, or -1 for none")
        return np.ascontiguousarray(found, np.int32)

    def _each_task(self, name: str, values: Any) -> npt.NDArray[Any]:
        """Return ``values`` as an array with a whole number for each task."""
        tasks = self._tuning.program.tasks
        found = np.asarray(values)
        if found.shape != (tasks,):
            shape = " x ".join(map(str, found.shape)) or "a single value"
            self._refuse(f"returned {name} of shape {shape} {self._ended}", f"one entry for each of {tasks} tasks")
        if not np.issubdtype(found.dtype, np.integer):
            self._refuse(f"returned {name} of type {found.dtype} {self._ended}", "whole numbers")
        return found

    def _refuse_entry(self, name: str, values: npt.NDArray[Any], at: int, expected: str) -> NoReturn:
        self._refuse(f"returned {name}[{at}] = {values[at]} {self._ended}", expected)

    def _switches(self, switches: Any) -> int | None:
        if switches is None:
            return None
        known = self._tuning.program.switches
        if not isinstance(switches, frozenset | set):
            self._refuse(f"returned switches of type {type(switches).__name__}", "a frozenset of names, or None")
        if unknown := switches.difference(known):
            name = min(map(str, unknown))
            self._refuse_name(f"switched {name!r} on {self._ended}", "when or unless of a level or rule", name, known)
        return sum(1 << bit for bit, name in enumerate(known) if name in switches)

    def _policy(self, name: Any) -> int | None:
        if name is None:
            return None
        known = self._tuning.program.placements
        if name not in known:
            self._refuse_name(f"chose placement {name!r} {self._ended}", "tune.placements", str(name), known)
        return known.index(name)

    def _refuse_name(self, problem: str, where: str, name: str, known: tuple[str, ...]) -> NoReturn:
        expected = f"a name of {where}: {', '.join(known)}" if known else f"None, since no name is given by {where}"
        self._refuse(problem, expected, nearest=InputError("", value=name, known=known).nearest)

    def _refuse(self, problem: str, expected: str, place: str | None = None, nearest: str | None = None) -> NoReturn:
        file = self._tuning.file
        error = InputError(
            f"the controller {self._tuning.name} {problem}",
            path=("strategy", *PATH),
            place=place or (str(file) if file else None),
            expected=expected,
        )
        error.nearest = nearest
        raise error from None


def _kind(value: Any) -> str:
    if isinstance(value, tuple) and len(value) == 2:
        return f"a tuple of a state and {type(value[1]).__name__}"
    return f"a {type(value).__name__}" if value is not None else "nothing"


def _constant(array: I64) -> I64:
    array.setflags(write=False)
    return array
