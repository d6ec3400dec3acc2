"""When a barrier opens and when each party (worker at the barrier) goes on, for every kind of barrier (model 5.4).

- `central`: all parties count on one cache line; the last party opens the barrier, and the others then read the line.
- `flag`: every party sets a flag of its own; the first party scans the flags in order, then writes a word that the
  other parties read one after the other (OMPi).
- `tree`: a party reports to its parent when its two children have reported, and goes on when its parent has gone on;
  the parent of party i is party (i - 1) div 2.
- `per-domain`: `central` within each node, then among the last party of each node; these last parties open their nodes
  (Vikranth's thesis, section 6.3.1).

Parties are numbered in ascending order of their workers. A line is a cache line; `cache_lines` has the times of its
transfers. A line that is written again comes from its last reader. Reads of one line are served one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from numasim.engine.reference.sync.cache_lines import Line, LineTimes


class Arrival(NamedTuple):
    """The arrival of a worker at a barrier."""

    time_ps: int
    worker: int


class Opening(NamedTuple):
    """When the barrier opens, and when each worker goes on, by worker."""

    time_ps: int
    leave_ps: dict[int, int]


@dataclass(slots=True)
class BarrierState:
    """The parties that have come to a barrier, and the barrier's lines, by worker or node, and `SHARED`."""

    id: int
    home: int  # the node of the line of all parties
    homes: Sequence[int]  # [workers] the node of the line that is kept for each worker
    parties: int  # how many workers the barrier waits for
    arrivals: list[Arrival] = field(default_factory=list)
    lines: dict[int, Line] = field(default_factory=dict)
    episode: int = 0  # how often the barrier has opened

    def line(self, of: int, worker: int) -> Line:
        """Return the line of worker or node ``of``; its home is that of the line kept for ``worker``."""
        if of not in self.lines:
            self.lines[of] = Line(self.homes[worker])
        return self.lines[of]

    @property
    def shared(self) -> Line:
        """Return the line of all parties."""
        if SHARED not in self.lines:
            self.lines[SHARED] = Line(self.home)
        return self.lines[SHARED]


SHARED = -1


def count_in(times: LineTimes, line: Line, arrivals: Sequence[Arrival]) -> tuple[int, int]:
    """Return (time in ps at which all arrived workers have written the line, one after the other; the last of them)."""
    now = 0
    for arrival in arrivals:
        now = max(now, arrival.time_ps) + times.move(line, arrival.worker)
    return now, arrivals[-1].worker


def read_out(times: LineTimes, line: Line, time_ps: int, readers: Sequence[int]) -> dict[int, int]:
    """Return {reader: ps} when each reader, in turn, has read the line that its owner wrote at ``time_ps``."""
    writer, leave = line.owner, {}
    for reader in readers:
        line.owner = writer
        time_ps += times.move(line, reader)
        leave[reader] = time_ps
    return leave


def _central(times: LineTimes, barrier: BarrierState) -> Opening:
    line = barrier.shared
    opened, last = count_in(times, line, sorted(barrier.arrivals))
    others = sorted(arrival.worker for arrival in barrier.arrivals if arrival.worker != last)
    return Opening(opened, {last: opened, **read_out(times, line, opened, others)})


def _flag(times: LineTimes, barrier: BarrierState) -> Opening:
    master, *others = sorted(barrier.arrivals, key=lambda arrival: arrival.worker)
    now = master.time_ps
    for arrival in others:
        flag = barrier.line(arrival.worker, arrival.worker)
        written = arrival.time_ps + times.move(flag, arrival.worker)
        now = max(now, written) + times.move(flag, master.worker)
    word = barrier.shared
    opened = now + times.move(word, master.worker)
    return Opening(opened, {master.worker: opened, **read_out(times, word, opened, [each.worker for each in others])})


def _tree(times: LineTimes, barrier: BarrierState) -> Opening:
    parties = sorted(barrier.arrivals, key=lambda arrival: arrival.worker)
    ready = [arrival.time_ps for arrival in parties]
    for child in reversed(range(1, len(parties))):
        parent = (child - 1) // 2
        line = barrier.line(parties[child].worker, parties[child].worker)
        written = ready[child] + times.move(line, parties[child].worker)
        ready[parent] = max(ready[parent], written) + times.move(line, parties[parent].worker)
    leave = {parties[0].worker: ready[0]}
    now = dict(leave)  # when each party can write to its next child
    for child in range(1, len(parties)):
        parent, worker = parties[(child - 1) // 2].worker, parties[child].worker
        line = barrier.line(worker, worker)
        now[parent] += times.move(line, worker)
        leave[worker] = now[worker] = now[parent]
    return Opening(ready[0], leave)


def _per_domain(times: LineTimes, barrier: BarrierState) -> Opening:
    by_node = sorted(barrier.arrivals, key=lambda arrival: (times.node[arrival.worker], arrival))
    domains = {node: list(parties) for node, parties in groupby(by_node, key=lambda each: times.node[each.worker])}
    leaders = []
    for node, parties in domains.items():
        line = barrier.line(node, min(arrival.worker for arrival in parties))
        leaders.append(Arrival(*count_in(times, line, parties)))
    word = barrier.shared
    opened, last = count_in(times, word, sorted(leaders))
    others = sorted(leader.worker for leader in leaders if leader.worker != last)
    leave = {last: opened, **read_out(times, word, opened, others)}
    for (node, parties), leader in zip(domains.items(), leaders, strict=True):
        followers = sorted(arrival.worker for arrival in parties if arrival.worker != leader.worker)
        leave |= read_out(times, barrier.line(node, leader.worker), leave[leader.worker], followers)
    return Opening(opened, leave)


BARRIERS: dict[str, Callable[[LineTimes, BarrierState], Opening]] = {
    "central": _central,
    "flag": _flag,
    "tree": _tree,
    "per-domain": _per_domain,
}
