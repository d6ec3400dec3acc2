"""A slow second interpreter of strategies, by the definition of a round, the probes of a searching worker between two
waits (model 4.1, 4.13), without compiled tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from strategy_setup import Snapshot

from numasim.machine.topology import Machine, WorkerMap
from numasim.parts.models.search_model import LevelSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.models.strategy_terms import AmountSpec


@dataclass
class Memory:
    """The memory of a worker; ``cursor`` has, for each steal level, the place on the ring of its last pick."""

    last: int | None = None
    parent: int | None = None
    thief: int | None = None
    cursor: dict[int, int] = field(default_factory=dict)


@dataclass
class Oracle:
    spec: StrategySpec
    machine: Machine
    workers: WorkerMap

    def __post_init__(self) -> None:
        self.queue: dict[tuple[str, int], int] = {}
        self.first: list[int] = []
        for name, family in self.spec.queues.items():
            unit = self.workers.unit(family.per).tolist()
            for u in sorted(set(unit)):
                self.queue[name, u] = len(self.queue)
                self.first.append(unit.index(u))

    @property
    def searched(self) -> list[LevelSpec]:
        """Return the levels of a round, pass by pass."""
        in_rounds = [level for level in self.spec.steal if level.every is None]
        passes = range(1, self.spec.passes + 1)
        return [level for number in passes for level in in_rounds if number >= level.from_pass]

    def mine(self, family: str, w: int) -> int:
        return self.queue[family, int(self.workers.unit(self.spec.queues[family].per)[w])]

    def distance(self, a: int, b: int) -> int:
        for kind, near in (("core", 0), ("llc", 1), ("node", 2)):
            if self.workers.unit(kind)[a] == self.workers.unit(kind)[b]:
                return near
        return 3 + int(self.machine.latency_ps[self.workers.node[a], self.workers.node[b]])

    def candidates(self, level: LevelSpec, family: str, w: int) -> list[int]:
        """Return the queues of one family that the level searches, in ascending order."""
        own, source = self.mine(family, w), level.source
        if source in ("own", "parent", "thief"):
            return [own]
        assert isinstance(source, str)
        found = []
        for (name, _), q in self.queue.items():
            if name == family and (q != own or level.include_self) and self._related(source, w, self.first[q]):
                found.append(q)
        return found

    def _related(self, source: str, w: int, other: int) -> bool:
        if source == "others":
            return True
        side, kind = source.split("-")
        unit = self.workers.unit(kind.rstrip("s") if side == "other" else kind)
        return (unit[w] == unit[other]) == (side == "own")

    def groups(self, level: LevelSpec, w: int) -> list[list[list[int]]]:
        families = self.spec.families(level)
        sets = [self.candidates(level, family, w) for family in families]
        if level.pick == "after-me":
            sets = [self._rotated(qs, self.mine(f, w)) for qs, f in zip(sets, families, strict=True)]
        whole = [q for qs in sets for q in qs]
        if not whole:
            return []
        if level.by is None:
            return [sets]
        keys: dict[int, tuple[int, int]] = {}
        for q in whole:
            far = self.distance(w, self.first[q])
            keys[q] = (far, 0) if level.by == "distance" else (far, int(self.workers.unit(level.by)[self.first[q]]))
        ranks = sorted(set(keys.values()))
        if level.by != "distance":  # the distance of a unit is the distance of its nearest queue
            nearest = {unit: min(far for far, u in ranks if u == unit) for _, unit in ranks}
            keys = {q: (nearest[unit], unit) for q, (_, unit) in keys.items()}
        return [[[q for q in qs if keys[q] == rank] for qs in sets] for rank in sorted(set(keys.values()))]

    def uses(self, level: LevelSpec, w: int) -> bool:
        """Return whether worker w uses the level: ``who`` is a condition on the searching worker, not on the victim."""
        return level.who is None or self.first[self.mine(self.spec.families(level)[0], w)] == w

    def last_group(self, level: LevelSpec, last: int | None) -> list[list[list[int]]]:
        """Return the queue of the last successful steal, unless the level names only other families of queues."""
        named = [q for (name, _), q in self.queue.items() if level.queue is None or name in level.queue]
        return [[[last]]] if last in named and last is not None else []

    @staticmethod
    def _rotated(queues: list[int], own: int) -> list[int]:
        return [q for q in queues if q > own] + [q for q in queues if q <= own]

    def weights(self, groups: list[list[list[int]]], w: int) -> list[int]:
        node = self.workers.node
        latency = [[int(self.machine.latency_ps[node[w], node[self.first[q]]]) for qs in g for q in qs] for g in groups]
        return [sum(2**40 // ps for ps in group) for group in latency]


@dataclass
class Round:
    """One round: ``draw(n)`` takes a draw below n, ``bit(condition, queue)`` reads a watch."""

    oracle: Oracle
    worker: int
    memory: Memory
    view: Snapshot
    draw: Callable[[int], int]
    bit: Callable[[Any, int], bool]

    def probes(self) -> Iterator[tuple[int, int]]:
        """Yield the probes of the round. Each probe is chosen only when the caller asks for the next probe."""
        for index, level in enumerate(self.oracle.searched):
            if not level.span[0] <= self.view.iteration <= level.span[1]:
                continue
            if not self.oracle.uses(level, self.worker):
                continue
            x = {"parent": self.memory.parent, "thief": self.memory.thief}.get(str(level.source), self.worker)
            if level.source == "last":
                groups = self.oracle.last_group(level, self.memory.last)
            else:
                groups = [] if x is None else self.oracle.groups(level, x)
            if not groups:
                continue
            if level.chance is not None and self.draw(10**6) >= int(level.chance * 10**6):  # type: ignore[operator]
                continue
            for group in self._entered(level, groups):
                for segment in group:
                    yield from ((index, q) for q in self._picks(index, level, segment))
            if level.chance is not None:
                return

    def _entered(self, level: LevelSpec, groups: Any) -> Any:
        if level.visit == "random":
            return [groups[self.draw(len(groups))]]
        if level.visit == "weighted":
            weights = self.oracle.weights(groups, self._anchor(level))
            x = self.draw(sum(weights))
            return [next(g for i, g in enumerate(groups) if x < sum(weights[: i + 1]))]
        return groups

    def _anchor(self, level: LevelSpec) -> int:
        anchor = {"parent": self.memory.parent, "thief": self.memory.thief}.get(str(level.source), self.worker)
        assert anchor is not None
        return anchor

    def _start(self, index: int, level: LevelSpec, segment: list[int]) -> int:
        if level.pick in ("rotate", "permutation"):
            return self.draw(len(segment))
        if level.pick == "round-robin":
            return self.memory.cursor.get(index, 0) % len(segment)
        if level.pick != "after-last":
            return 0
        family, last = self.oracle.spec.worker_family, self.memory.last
        own = self.oracle.mine(family, self.worker) if family else 2**31
        return next((at for at, q in enumerate(segment) if q >= (own if last is None else last)), 0)

    def _stride(self, size: int) -> int:
        """Draw a step that is coprime to ``size``, so that its multiples come to every place of the ring."""
        steps = [step for step in range(1, size + 1) if len({step * n % size for n in range(size)}) == size]
        return steps[self.draw(len(steps))]

    def _picks(self, index: int, level: LevelSpec, segment: list[int]) -> Iterator[int]:
        size = len(segment)
        if not size:
            return
        start = self._start(index, level, segment)
        stride = self._stride(size) if level.pick == "permutation" else 1
        ring = [(start + stride * step) % size for step in range(size)]
        for _ in range(size if level.tries == "all" else min(size, int(level.tries))):
            some = [q for q in segment if level.condition is None or self.bit(level.condition, q)]
            if not some:
                return
            if level.pick == "random" and level.source != "last":  # a single queue needs no draw
                yield some[self.draw(len(some))]
            elif level.pick in ("longest", "shortest"):
                if level.sample is not None and level.sample < len(some):
                    some = [some[self.draw(len(some))] for _ in range(level.sample)]
                sign = -1 if level.pick == "longest" else 1
                yield min(some, key=lambda q: sign * self.view.length[q])
            else:
                ahead = [at for at in ring if segment[at] in some]
                if not ahead:
                    return
                ring = ring[ring.index(ahead[0]) + 1 :]
                self.memory.cursor[index] = ahead[0] + 1
                yield segment[ahead[0]]


def amount_of(spec: StrategySpec, level: LevelSpec, length: int, workers: int) -> int:
    """Return how many tasks a level takes, from the definition."""
    named: dict[Any, AmountSpec] = {"one": AmountSpec(count=1), "half": AmountSpec(share=2), "all": AmountSpec(share=1)}
    amount = level.amount or spec.amount
    amount = amount if isinstance(amount, AmountSpec) else named[amount]
    if length <= level.leave:
        return 0
    share = workers if amount.share == "workers" else amount.share
    rounded = length // int(share or 1) + 1 if amount.round == "above" else -(-length // int(share or 1))
    wanted = amount.count if amount.count is not None else rounded
    return min(wanted, length - level.leave, *([amount.most] if amount.most else []))
