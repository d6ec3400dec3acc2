"""The phases of a program, in which order they run, and what is counted of it: iterations and turns (model 3.6).

An *iteration* is one pass through an outermost loop; a phase that stands alone is a loop of its own repeats. All phases
of a loop, also those of loops within it, have the number of the outermost pass. A *turn* of a phase is one run of it:
where loops are nested, one iteration has several turns of the inner phases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from numasim.schema.enumerations import Deal


@dataclass(frozen=True)
class Phase:
    """Roots (task ids) and at most one range family that start together; the phase ends when all of it has finished."""

    roots: tuple[int, ...] = ()
    range_family: int | None = None
    deal: Deal = Deal.MASTER
    serial: bool = False  # only worker 0 works, the others wait at the barrier
    repeat: int = 1  # how often the phase runs in a row
    name: str = ""


@dataclass(frozen=True)
class Loop:
    """The phases from ``first`` to ``end - 1``, which a program goes through ``repeat`` times, one after the other."""

    first: int
    end: int
    repeat: int


@dataclass(frozen=True, slots=True)
class Step:
    """One run of a phase.

    ``iteration`` is the number of the outermost loop's pass, ``turn`` how often the phase has run before, both from 0;
    ``ends_iteration`` whether the pass ends with this step.
    """

    phase: int
    iteration: int
    turn: int
    ends_iteration: bool


def runs_of(phases: Sequence[Phase], loops: Sequence[Loop]) -> list[int]:
    """[phases] how often each phase runs: its own repeats times those of the loops around it."""
    runs = [phase.repeat for phase in phases]
    for loop in loops:
        for phase in range(loop.first, loop.end):
            runs[phase] *= loop.repeat
    return runs


def steps(phases: Sequence[Phase], loops: Sequence[Loop]) -> Iterator[Step]:
    """The runs of all phases, one after the other; made as they are asked for, since there may be very many."""
    turns = [0] * len(phases)
    for first, end, repeat, inner in _outermost(phases, loops):
        for iteration in range(repeat):
            last = None
            for phase in _order(first, end, phases, inner):
                if last is not None:
                    yield Step(last, iteration, turns[last] - 1, False)
                turns[phase] += 1
                last = phase
            if last is not None:
                yield Step(last, iteration, turns[last] - 1, True)


Pass = tuple[int, int, int, Sequence[Loop]]  # first phase, end, repeats, the loops inside


def _outermost(phases: Sequence[Phase], loops: Sequence[Loop]) -> Iterator[Pass]:
    """The outermost loops in order; a phase in none is the loop of its own repeats."""
    at = 0
    for loop, inner in _nested(loops):
        for alone in range(at, loop.first):
            yield alone, alone, phases[alone].repeat, ()
        yield loop.first, loop.end, loop.repeat, inner
        at = loop.end
    for alone in range(at, len(phases)):
        yield alone, alone, phases[alone].repeat, ()


def _nested(loops: Sequence[Loop]) -> Iterator[tuple[Loop, Sequence[Loop]]]:
    """Each outermost loop of ``loops``, with the loops inside it."""
    at = 0
    while at < len(loops):
        loop, end = loops[at], at + 1
        while end < len(loops) and loops[end].first < loop.end:
            end += 1
        yield loop, loops[at + 1 : end]
        at = end


def _order(first: int, end: int, phases: Sequence[Phase], loops: Sequence[Loop]) -> Iterator[int]:
    """The phases from ``first`` to ``end - 1`` in the order of one pass; ``first`` alone where ``end`` equals it."""
    if first == end:
        yield first
        return
    at = first
    for loop, inner in _nested(loops):
        for phase in range(at, loop.first):
            yield from _again(phase, phases[phase].repeat)
        for _ in range(loop.repeat):
            yield from _order(loop.first, loop.end, phases, inner)
        at = loop.end
    for phase in range(at, end):
        yield from _again(phase, phases[phase].repeat)


def _again(phase: int, repeat: int) -> Iterator[int]:
    return (phase for _ in range(repeat))
