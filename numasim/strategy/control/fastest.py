"""The controller ``fastest``: tries sets of switches, an iteration each, and keeps the one that was fastest.

The first iteration, in which pages are placed and caches are cold, counts for no set; it has the first one switched on.
"""

from __future__ import annotations

from numasim.parts.models.tune_model import TuneSpec
from numasim.strategy.control.controller import Controller, Controls, Measures, Program

Times = tuple[int, ...]  # of the iterations so far


def fastest(tune: TuneSpec) -> Controller:
    """The controller that tries the sets of ``tune.of``; its state is the times of the iterations that count."""
    sets = [frozenset(names) for names in tune.of or ()]

    def choose(program: Program, state: Times | None, measures: Measures | None) -> tuple[Times | None, Controls]:
        if measures is None:
            return None, Controls(switches=sets[0])
        times: Times = () if state is None else (*state, measures.time_ps)
        if len(times) < len(sets):
            return times, Controls(switches=sets[len(times)])
        best = min(range(len(sets)), key=times.__getitem__)
        return times[: len(sets)], Controls(switches=sets[best])

    return choose
