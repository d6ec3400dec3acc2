"""The phases of a graph while it is made: which tasks start together, in which order, in which loops (model 3.6)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

from numasim.errors import InputError
from numasim.schema.enumerations import MOST_ITEMS
from numasim.workload.graph_rules import MOST_NESTED
from numasim.workload.phases import Loop


@dataclass(eq=False)
class GraphPhase:
    """Tasks of a graph that start together when all before have ended; `Graph.again` runs them again."""

    order: PhaseOrder
    name: str
    repeat: int  # how often it runs in a row
    number: int | None = None  # None: it has no tasks yet


class PhaseOrder:
    """The phases of a graph in the order in which they run, and the loops over them; ``at`` is that of tasks now."""

    def __init__(self) -> None:
        self.at = GraphPhase(self, "", 1)
        self.runs: list[GraphPhase] = []
        self._phases = 0
        self._loops: list[Loop] = []  # one that is open ends before its first phase
        self._open: list[int] = []  # their numbers

    def number(self) -> int:
        """The number of the phase that a task is added to."""
        if self.at.number is None:
            self.at.number = self._phases
            self._phases += 1
            self.runs.append(self.at)
        return self.at.number

    def begin(self, name: str = "", repeat: int = 1) -> GraphPhase:
        """Go on to a new phase, which is one as soon as it has a task."""
        self._require_times(repeat)
        self.at = GraphPhase(self, name, repeat)
        return self.at

    def again(self, phase: GraphPhase) -> None:
        """Run a phase with the same tasks again."""
        if not isinstance(phase, GraphPhase) or phase.order is not self:
            raise InputError(f"got {phase!r} to run again", expected="what phase() of this graph returned")
        if phase.number is None:
            raise InputError(f"the phase {phase.name!r} has no tasks", expected="a phase that task() has added some to")
        self._require_times(phase.repeat)
        self.runs.append(phase)
        self.begin()

    @contextmanager
    def loop(self, repeat: int) -> Iterator[None]:
        """Go ``repeat`` times through the phases that are added inside; an `InputError` where that is none."""
        self._require_times(repeat)
        if len(self._open) == MOST_NESTED:
            raise InputError("loops are nested too deep", expected=f"at most {MOST_NESTED} in each other")
        self.begin()
        number, first = len(self._loops), len(self.runs)
        self._loops.append(Loop(first, first, repeat))
        self._open.append(number)
        yield
        if len(self.runs) == first:
            raise InputError("the loop is empty", expected="at least one task in it")
        self._loops[number] = Loop(first, len(self.runs), repeat)
        self._open.pop()
        self.begin()

    def loops(self) -> tuple[Loop, ...]:
        """The loops so far, as `Workload.loops`; one that is open ends with what there is."""
        ends = {number: len(self.runs) for number in self._open}
        closed = (Loop(each.first, ends.get(at, each.end), each.repeat) for at, each in enumerate(self._loops))
        return tuple(each for each in closed if each.first < each.end)

    def _require_times(self, repeat: int) -> None:
        if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
            raise InputError(f"got {repeat!r} as the number of repeats", expected="a whole number from 1 on")
        runs = repeat * prod(self._loops[number].repeat for number in self._open)
        if runs > MOST_ITEMS:
            raise InputError(
                f"the phases would run {runs:,} times", expected=f"at most {MOST_ITEMS:,} times, with the loops around"
            )
