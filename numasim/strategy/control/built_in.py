"""The shipped controllers, by the names in ``tune: {what: NAME}`` of a strategy.

A controller is called between two iterations (passes through an outermost loop of the program) and chooses for the next
one the switches that are on, and the tier of each task: free, root (of a subtree that is kept together) or local (below
a root). A packing is a set of roots. A new controller is a module of this package, an entry of `BUILT_IN`, and a word
with its fields in `numasim.parts.models.tune_model`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from numasim.frozen import Frozen
from numasim.parts.models.strategy_terms import TierDepth
from numasim.parts.models.tune_model import CpuBoundSpec, TuneSpec
from numasim.parts.unit_factors import MILLION
from numasim.schema.enumerations import Tier
from numasim.strategy.control.controller import I64, Controller, Controls, Measures, Program
from numasim.strategy.control.packing import (
    MOVES,
    initial_packing,
    packing_at_depth,
    packing_of_labels,
    packing_within,
    slices,
    sums_over_subtrees,
    tiers_of_packing,
)
from numasim.workload.forest_arrays import offsets

# ---- Which programs compute rather than wait for memory, by the cache misses of their tasks (model 4.8) --------------
#
# Chen and Guo (2015, section 6.6) count retired instructions. The model has no instructions. Each microsecond that a
# task's own segments compute therefore counts as ``instructions_per_us`` instructions. A task with fewer than
# ``misses_per_million`` cache misses in a million instructions is bound by the processor; the paper prints no
# threshold. Tasks are weighed by their instructions, because those that only create tasks may be the most numerous.


def bound_instructions(rule: CpuBoundSpec, misses: I64, compute_ps: I64) -> tuple[int, int]:
    """Return the instructions of the tasks that are bound by the processor, and the instructions of all tasks."""
    whole, rest = np.divmod(compute_ps, MILLION)
    instructions = whole * rule.instructions_per_us + rest * rule.instructions_per_us // MILLION
    bound = misses * MILLION < instructions * rule.misses_per_million
    return int(instructions[bound].sum()), int(instructions.sum())


def is_cpu_bound(rule: CpuBoundSpec, misses: I64, compute_ps: I64) -> bool:
    """Return whether the tasks that are bound by the processor execute more than half of all instructions."""
    bound, counted = bound_instructions(rule, misses, compute_ps)
    return 2 * bound > counted


# ---- The controller ``fastest``: tries sets of switches, one set an iteration, and keeps the fastest set -------------
#
# The first iteration runs with the first set of switches. The time of this iteration counts for no set, because
# the iteration also places pages and begins with cold caches.

Times = tuple[int, ...]  # the times of the iterations so far, in picoseconds


def fastest(tune: TuneSpec) -> Controller:
    """Return the controller that tries the sets of switches ``tune.of``; its state is the times of the sets so far."""
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


# ---- How much of the shared cache a subtree of tasks uses, as LAWS and CATS estimate it (model 4.8) ------------------


def shared_cache_bytes(misses: I64, line_bytes: int, subtree_end: I64) -> I64:
    """Return [tasks] the bytes of shared cache that each subtree uses, SOSC (Chen and Guo 2015, equation 2).

    Each miss of a core's last private cache takes a line of the shared cache: ``S_a = M_a + sum of S_i`` over the
    children of task a, where ``M_a`` is the number of misses of the task's own segments times the size of a line.
    """
    before = offsets(misses * line_bytes)
    return before[subtree_end] - before[:-1]


# ---- Searching the packing of a program while it runs: Algorithm 1 of LAWS as a controller (model 4.8) ---------------
#
# In the first iteration all tasks are free, and cache misses are counted. The second iteration has the initial packing;
# its time is the paper's T. Every further iteration moves all roots at once (`MOVES` of `packing`). Chen and Guo
# (2015, Algorithm 1) first try smaller subtrees, the children of the roots, for as long as an iteration gets strictly
# faster. If the very first move was no gain, they go back to the initial packing and try larger subtrees, the parents
# of the roots, until an iteration is strictly slower: a packing that takes equally long is kept. The fastest packing
# then stays until the loop ends.
#
# A program without a loop cannot use the measurements of its first iteration, and a program bound by the processor
# cannot gain from packing: the switch `PLAIN` is then on, and all tasks are local.

PLAIN = "plain"  # the switch that is on while nothing is packed, and workers steal as in ordinary work stealing
KEEPS_EQUAL = "parents"  # the move after which a packing that takes equally long is kept (Algorithm 1, line 17)


class Search(Frozen, eq=False):
    """The state of the search for a packing between two iterations.

    The next iteration runs under the roots ``tried``. The fastest roots so far are ``kept``; their iteration took
    ``kept_ps``, None until the ``initial`` roots have run. ``moves`` begins with the move that is being tried; the
    search ends when no move is left. If ``labels`` [tasks] are given, each root has to have a label. A packing is kept
    if its iteration takes ``gain_per_mille`` thousandths less than ``kept_ps``; with 0, if it takes at all less time,
    or, after the move `KEEPS_EQUAL`, as much.
    """

    initial: I64
    moves: tuple[str, ...]
    labels: I64 | None
    gain_per_mille: int
    tried: I64
    kept: I64
    kept_ps: int | None = None

    @classmethod
    def begin(cls, program: Program, roots: I64, tune: TuneSpec) -> Search:
        """Return the search before the iteration with the initial packing ``roots``."""
        labels = slices(program, program.units) if tune.within == "slice" else None
        initial = roots if labels is None else packing_within(program, roots, labels)
        gain_per_mille = 0 if tune.keep == "faster" else tune.keep.faster_by_per_mille
        return cls(initial, tune.moves, labels, gain_per_mille, tried=initial, kept=initial)

    @property
    def ended(self) -> bool:
        """Return whether the packing stays as it is until the loop ends."""
        return not self.moves and self.kept_ps is not None

    def measured(self, program: Program, time_ps: int) -> Search:
        """Return the search after the iteration under ``tried`` took ``time_ps``."""
        if self.kept_ps is None:
            return replace(self, kept_ps=time_ps)._go_on(program)
        if self.ended:
            return self
        if self._is_gain(time_ps, self.kept_ps):
            return replace(self, kept=self.tried, kept_ps=time_ps)._go_on(program)
        return self._turn(program)

    def _is_gain(self, time_ps: int, kept_ps: int) -> bool:
        """Return whether a packing whose iteration took ``time_ps`` replaces the packing that took ``kept_ps``."""
        if self.gain_per_mille:
            return time_ps * 1000 <= kept_ps * (1000 - self.gain_per_mille)
        return time_ps < kept_ps or (time_ps == kept_ps and self.moves[0] == KEEPS_EQUAL)

    def _go_on(self, program: Program) -> Search:
        """Return the search that tries the first of ``moves`` that changes the kept roots, else the kept roots."""
        if not self.moves:
            return replace(self, tried=self.kept)
        tried = MOVES[self.moves[0]](program, self.kept)
        if self.labels is not None:
            tried = packing_within(program, tried, self.labels)
        return self._turn(program) if np.array_equal(tried, self.kept) else replace(self, tried=tried)

    def _turn(self, program: Program) -> Search:
        """Return the search without its first move, or without any move if another packing than the first is kept."""
        gained = not np.array_equal(self.kept, self.initial)
        return replace(self, moves=() if gained else self.moves[1:])._go_on(program)


class PackingTuner(Frozen):
    """The controller ``tune: {what: packing}``.

    Without moves the initial packing stays, as in CATS (Chen, Guo and Huang 2012). The state of the controller is the
    search in the present loop, None while there is no packing.
    """

    tune: TuneSpec

    def __call__(
        self, program: Program, state: Search | None, measures: Measures | None, /
    ) -> tuple[Search | None, Controls]:
        """Return the new state and controls: all tasks free before the first iteration of a loop, then packings.

        If no phase of the program has several iterations, all tasks are local, and the switch `PLAIN` is on.
        """
        if measures is None or measures.iteration + 1 == program.iterations[measures.phase]:
            loops = max(program.iterations, default=1) > 1
            return None, _all(program, Tier.FREE) if loops else _all(program, Tier.LOCAL, PLAIN)
        if measures.iteration == 0:
            return self._profiled(program, measures)
        if state is None or state.ended:
            return state, Controls()
        search = state.measured(program, measures.time_ps)
        return search, Controls(tiers=tiers_of_packing(program, search.tried))

    def _profiled(self, program: Program, measures: Measures) -> tuple[Search | None, Controls]:
        ran = tasks_of_loop(program, measures.phase)
        rule = self.tune.cpu_bound
        if rule != "none" and is_cpu_bound(rule, measures.misses[ran], program.compute_ps[ran]):
            return None, _all(program, Tier.LOCAL, PLAIN)
        roots = self._initial(program, measures)
        search = Search.begin(program, roots[ran[roots]], self.tune)
        return search, Controls(tiers=tiers_of_packing(program, search.tried), switches=frozenset())

    def _initial(self, program: Program, measures: Measures) -> I64:
        if isinstance(self.tune.start, TierDepth):
            return packing_at_depth(program, self.tune.start.depth)
        if self.tune.start == "slices":
            return packing_of_labels(program, slices(program, program.units))
        used = shared_cache_bytes(measures.misses, program.line_bytes, program.subtree_end)
        return initial_packing(program, used, program.unit_llc_bytes)


def _all(program: Program, tier: Tier, *switches: str) -> Controls:
    """Return controls that give all tasks ``tier`` and turn on the ``switches`` on which a level or rule depends."""
    on = frozenset(switches).intersection(program.switches)
    return Controls(tiers=np.full(program.tasks, tier, np.uint8), switches=on)


def tasks_of_loop(program: Program, phase: int) -> npt.NDArray[np.bool_]:
    """Return [tasks] whether each task is of the loop, or of the phase outside loops, that begins with ``phase``."""
    end = max((loop.end for loop in program.loops if loop.first == phase), default=phase + 1)
    roots = np.unique(np.array([root for roots in program.roots[phase:end] for root in roots], np.int64))
    return sums_over_subtrees(roots, np.ones(len(roots), np.int64), program.subtree_end) > 0


BUILT_IN: Mapping[str, Callable[[TuneSpec], Controller]] = {"fastest": fastest, "packing": PackingTuner}
