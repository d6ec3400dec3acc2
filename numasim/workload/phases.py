"""The phases of a program, their order, and the numbers of iterations and turns (model 3.6).

A *phase* is a part of a program between two barriers of all workers. A *loop* repeats consecutive phases. A *turn* is
one run of a phase. An *iteration* is one pass through an outermost loop, with all turns of the phases inside; each turn
of a phase outside of all loops is an iteration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from numasim.frozen import Frozen
from numasim.schema.enumerations import Deal

END = -1  # stands for the phase after the last phase of an iteration


class Phase(Frozen):
    """Root tasks and at most one range (many similar tasks) that start together; ends with the last of all their tasks.

    ``deal`` says how roots and items are given to workers at the start, ``repeat`` how often the phase runs in a row.
    """

    roots: tuple[int, ...] = ()
    range_family: int | None = None
    deal: Deal = Deal.MASTER
    serial: bool = False  # only worker 0 works, the others wait at the barrier
    repeat: int = 1
    name: str = ""


class Loop(Frozen):
    """The phases from ``first`` to ``end - 1``, which run one after the other, ``repeat`` times."""

    first: int
    end: int
    repeat: int


@dataclass(frozen=True, slots=True)
class Step:
    """One run of the phase number ``phase``.

    ``iteration`` is the number of the iteration within its loop, from 0. ``turn`` is the number of earlier runs of the
    phase. ``ends_iteration`` says whether this run is the last of its iteration.
    """

    phase: int
    iteration: int
    turn: int
    ends_iteration: bool


def runs_of(phases: Sequence[Phase], loops: Sequence[Loop]) -> list[int]:
    """Return [phases] how often each phase runs: its repeats times the repeats of the loops around the phase."""
    runs = [phase.repeat for phase in phases]
    for loop in loops:
        for phase in range(loop.first, loop.end):
            runs[phase] *= loop.repeat
    return runs


def iterations_of(phases: Sequence[Phase], loops: Sequence[Loop]) -> list[int]:
    """Return [phases] the number of iterations of each phase's outermost loop, or the repeats of a phase in no loop."""
    found: list[int] = []
    for part in parts(0, len(phases), loops):
        if isinstance(part, int):
            found.append(phases[part].repeat)
        else:
            found += [part[0].repeat] * (part[0].end - part[0].first)
    return found


def steps(phases: Sequence[Phase], loops: Sequence[Loop]) -> Iterator[Step]:
    """Yield the runs of all phases, one after the other."""
    turns = [0] * len(phases)
    for part in parts(0, len(phases), loops):
        if isinstance(part, int):
            yield from (Step(part, turn, turn, True) for turn in range(phases[part].repeat))
            continue
        loop, inner = part
        for iteration in range(loop.repeat):
            order = chain(_order(loop.first, loop.end, phases, inner), [END])
            for phase, following in pairwise(order):
                yield Step(phase, iteration, turns[phase], following == END)
                turns[phase] += 1


def parts(first: int, end: int, loops: Sequence[Loop]) -> Iterator[int | tuple[Loop, Sequence[Loop]]]:
    """Yield the parts of the phases from ``first`` to ``end - 1``, in order, given the ``loops`` over these phases.

    A part is the number of a phase in none of the loops, or an outermost loop with the loops inside.
    """
    at, number = first, 0
    while number < len(loops):
        loop, after = loops[number], number + 1
        while after < len(loops) and loops[after].first < loop.end:
            after += 1
        yield from range(at, loop.first)
        yield loop, loops[number + 1 : after]
        at, number = loop.end, after
    yield from range(at, end)


def places(phases: int, loops: Sequence[Loop]) -> list[tuple[str | int, ...]]:
    """Return [phases] the path of each phase in the JSON form: ("phases", 0, "loop", 2) is phase 2 of the loop at 0."""
    found: list[tuple[str | int, ...]] = []

    def go(first: int, end: int, inside: Sequence[Loop], path: tuple[str | int, ...]) -> None:
        for number, part in enumerate(parts(first, end, inside)):
            if isinstance(part, int):
                found.append((*path, number))
            else:
                go(part[0].first, part[0].end, part[1], (*path, number, "loop"))

    go(0, phases, loops, ("phases",))
    return found


def _order(first: int, end: int, phases: Sequence[Phase], loops: Sequence[Loop]) -> Iterator[int]:
    """Yield the phases from ``first`` to ``end - 1`` in the order of one pass, with their repeats and inner loops."""
    for part in parts(first, end, loops):
        if isinstance(part, int):
            yield from (part for _ in range(phases[part].repeat))
            continue
        loop, inner = part
        for _ in range(loop.repeat):
            yield from _order(loop.first, loop.end, phases, inner)
