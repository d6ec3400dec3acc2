"""Shortcut: passing over rounds that cannot succeed (model 1.5).

A round is an idle worker's probes (looks at queues) and the wait after them; a poll is the event at the end of the
wait. While every queue is empty and nothing but rounds happens before some time, all rounds of an idle worker fail. The
random draws and the durations of these rounds are known in advance. Counters, draws and times come out as if every
probe had been an event. In each lap (`LAP_ROUNDS` rounds) the worker draws the same victims again.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import numpy.typing as npt

from numasim.draws import GAMMA, below_array, mix_array
from numasim.engine.reference.actors import Worker
from numasim.engine.reference.backoff import LAP_ROUNDS, rounds_to_lap
from numasim.engine.reference.memory.memory_system import MemorySystem
from numasim.engine.reference.run_state import Component, RunState
from numasim.strategy.picking import Stream
from numasim.strategy.probe import QuietRound

# ---- The shortcuts of the reference engine, by name ------------------------------------------------------------------
#
# A run of a plan that may not skip takes no shortcut. Whichever shortcuts are switched off, all counters and the trace
# hash stay the same; the number of events, the event hash and the mode of a run may differ.


class Shortcut(Enum):
    """A shortcut: it computes at once what could be simulated event by event."""

    POLLING = "polling"  # no events of probes that cannot succeed
    STRETCHES = "stretches"  # one event for many items that a worker takes from its own range
    STEADY = "steady production"  # no events of equal items that a producer refills


ALL_SHORTCUTS = frozenset(Shortcut)


I64 = npt.NDArray[np.int64]

CHUNK_ROUNDS = 8192  # the most rounds that are computed together
FEWEST_ROUNDS = 16  # with fewer rounds, one event per probe is as quick


# ---- Passing over polls ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Passed:
    """Sums over the rounds of one worker that were passed over; ``poll_ps`` is the time of the poll after them."""

    poll_ps: int
    rounds: int = 0
    draws: int = 0
    attempts: int = 0
    attempts_remote: int = 0
    by_home: dict[int, int] = field(default_factory=dict)  # attempts by the node of the victim
    probing_ps: int = 0
    waiting_ps: int = 0

    def add_times(self, times: int, other: Passed) -> None:
        """Add ``times`` laps with the sums ``other`` each; ``draws`` stays, because each lap draws the same again."""
        self.add(times * other.rounds, times * other.probing_ps, 0)
        self.waiting_ps += times * other.waiting_ps
        self.poll_ps += times * other.waiting_ps
        self.attempts += times * other.attempts
        self.attempts_remote += times * other.attempts_remote
        for home, count in other.by_home.items():
            self.by_home[home] = self.by_home.get(home, 0) + times * count

    def add(self, rounds: int, probing_ps: int, wait_ps: int) -> None:
        """Count ``rounds`` more rounds, whose probes take ``probing_ps`` in all, each followed by a wait."""
        self.rounds += rounds
        self.probing_ps += probing_ps
        self.waiting_ps += rounds * wait_ps
        self.poll_ps += probing_ps + rounds * wait_ps


class QuietRounds:
    """The fruitless rounds of one worker: each probes one random queue of each of several sets, one draw for each."""

    def __init__(self, shape: QuietRound, attempt: list[bool], probe_ps: list[int], home: list[int], node: int) -> None:
        self._candidates = shape.queues
        self._attempt = np.array([attempt[level] for level in shape.levels], bool)
        self._probe_ps = np.array(probe_ps, np.int64)
        self._home = np.array(home, np.int64)
        self._node = node
        self.shortest_ps = int(sum(self._probe_ps[c].min() for c in self._candidates))

    @property
    def probes(self) -> bool:
        """Tell whether a round probes any queue."""
        return bool(self._candidates)

    def advance(self, passed: Passed, stream: Stream, wait_ps: int, until_ps: int, most: int) -> None:
        """Add to ``passed`` the next rounds, each followed by ``wait_ps``, whose last probe ends before ``until_ps``:
        at most ``most``, perhaps fewer than there are. ``stream`` is the worker's stream of draws before ``passed``.
        """
        possible = max(0, until_ps - passed.poll_ps) // (self.shortest_ps + wait_ps) + 1
        if not self._candidates:
            rounds = min(most, max(0, -(-(until_ps - passed.poll_ps) // wait_ps)))
            passed.add(rounds, 0, wait_ps)
        elif possible >= FEWEST_ROUNDS or passed.rounds:
            self._advance(passed, stream, wait_ps, until_ps, min(most, possible))

    def _advance(self, passed: Passed, stream: Stream, wait_ps: int, until_ps: int, chunk: int) -> None:
        queues = self._picked(stream.base, stream.drawn + passed.draws, chunk)
        step = self._probe_ps[queues].sum(axis=1)
        last_look = passed.poll_ps + np.cumsum(step + wait_ps) - wait_ps
        rounds = int(np.searchsorted(last_look, until_ps, side="left"))
        homes = np.bincount(self._home[queues[:rounds][:, self._attempt]].ravel()).tolist()
        passed.draws += rounds * queues.shape[1]
        passed.attempts += sum(homes)
        for home, count in enumerate(homes):
            passed.by_home[home] = passed.by_home.get(home, 0) + count
            passed.attempts_remote += count if home != self._node else 0
        passed.add(rounds, int(step[:rounds].sum()), wait_ps)

    def _picked(self, base: int, drawn: int, rounds: int) -> I64:
        """Return [rounds, sets] the queue that each of the next rounds picks from each set."""
        picks = len(self._candidates)
        counter = np.arange(drawn + 1, drawn + 1 + rounds * picks, dtype=np.uint64)
        numbers = mix_array(np.uint64(base) + counter * np.uint64(GAMMA)).reshape(rounds, picks)
        columns = [c[below_array(numbers[:, i], len(c)).astype(np.int64)] for i, c in enumerate(self._candidates)]
        return np.stack(columns, axis=1)


class Polling(Component):
    """Counts the fruitless rounds of idle workers up to the next change, without an event for each probe."""

    def __init__(self, run: RunState, memory: MemorySystem) -> None:
        super().__init__(run)
        self._ledger = run.recorder.ledger
        self._work = memory.work
        backoff = run.plan.steal.backoff
        self._counts_empty_rounds = backoff.empty == "count"
        self._goes_round_by_round = not run.plan.words.locks_probes and backoff.after != "probe"
        self._quiet: dict[int, QuietRounds | None] = {}  # {worker: its rounds; None: each probe has to be an event}
        self._laps: dict[int, tuple[tuple[int, int], Passed]] = {}  # {worker: ((its `lap_begin`, wait), sums of a lap)}

    def pass_over(self, w: Worker, poll_ps: int, until_ps: int) -> int:
        """Count the worker's rounds from ``poll_ps`` on that end before ``until_ps``; return their time in ps, or 0."""
        if self._work.unsettled:  # in coupled runs: ends of segments are computed anew at the end of this instant
            return 0
        quiet = self._quiet_rounds(w)
        if quiet is None:
            return 0
        passed = Passed(poll_ps)
        stream = self._prober.victim_stream(w.id)
        rounds = -1
        while rounds < passed.rounds:
            rounds = passed.rounds
            fails = w.fails + rounds
            wait, last = (self._waits.wait_ps(count, quiet.probes) for count in (fails + 1, fails + 63))
            steady = wait == last  # a wait that does not grow in 62 rounds never does
            if self._waits.begins_lap(fails):
                passed.draws = w.lap_begin - stream.drawn
                if steady and (until_ps - passed.poll_ps) // LAP_ROUNDS > quiet.shortest_ps + wait:
                    lap = self._lap(w, quiet, stream, wait)
                    passed.add_times((until_ps - 1 - passed.poll_ps) // lap.poll_ps, lap)
            quiet.advance(passed, stream, wait, until_ps, min(CHUNK_ROUNDS, rounds_to_lap(fails)) if steady else 1)
        self._count(w, quiet, passed)
        return passed.poll_ps - poll_ps

    def _lap(self, w: Worker, quiet: QuietRounds, stream: Stream, wait_ps: int) -> Passed:
        """Return the sums over a lap of the worker, as if it began at time 0, with a wait after each round."""
        key = w.lap_begin, wait_ps
        if w.id not in self._laps or self._laps[w.id][0] != key:
            lap = Passed(0, draws=w.lap_begin - stream.drawn)
            while lap.rounds < LAP_ROUNDS:
                quiet.advance(lap, stream, wait_ps, sys.maxsize, min(CHUNK_ROUNDS, LAP_ROUNDS - lap.rounds))
            self._laps[w.id] = key, lap
        return self._laps[w.id][1]

    def _quiet_rounds(self, w: Worker) -> QuietRounds | None:
        """Return the fruitless rounds of the worker, or None if each probe has to be an event."""
        if not self._goes_round_by_round or not self._joins.may_probe(w):
            return None
        if w.id not in self._quiet or not self._tables.fixed_rounds:
            shape = self._prober.quiet_round(w.id)
            home = [self._tables.home(q, w.node) for q in range(len(w.probe_ps))]
            self._laps.pop(w.id, None)
            self._quiet[w.id] = QuietRounds(shape, self._tables.attempt, w.probe_ps, home, w.node) if shape else None
        return self._quiet[w.id]

    def _count(self, w: Worker, quiet: QuietRounds, passed: Passed) -> None:
        self._prober.victim_stream(w.id).drawn += passed.draws
        w.fails += passed.rounds
        w.idle_steal_ps += passed.probing_ps
        w.idle_backoff_ps += passed.waiting_ps
        attempts = passed.attempts
        if not quiet.probes:
            w.no_victim += passed.rounds
            attempts = passed.rounds if self._counts_empty_rounds else 0
        w.steal_attempts += attempts
        w.steal_attempts_remote += passed.attempts_remote
        w.failed += attempts
        w.failed_remote += passed.attempts_remote
        for home, count in passed.by_home.items():
            self._ledger.node_attempts[w.node][home] += count
