"""Random programs in the JSON form of task graphs: every op, nested joins, dependences, phases, ranges, accesses.

All random choices are drawn from a `random.Random`, so that a seed gives a program. The first choice is the simplest
choice, so that property tests shrink towards the first choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any

from numasim.errors import InputError
from numasim.workload.graph import Workload
from numasim.workload.graph_rules import validate
from numasim.workload.json_form.graph_io import unchecked

Document = dict[str, Any]

MOST_TASKS = 24
MOST_DEPTH = 4
GRAINS_PS = (1000, 1, 100, 50_000, 700_000)
OPS = ("run", "spawn", "wait", "run", "spawn", "spawn", "call")
STRICT_OPS = ("run", "spawn", "wait", "run", "spawn", "spawn")
REGION_BYTES = (64, 5_000, 70_000, 300_000)
MOST_ROW_BYTES = (64, 600, 600, 600, 20_000)
MODES = ("read", "write", "read-write")
PATTERNS = ("sequential", "strided", "random", "chase")
DEALS = ("master", "block", "cyclic")
MOST_ITEMS = (12, 12, 60, 400)
NODE_ACCESSES = (0, 0, 0, 1, 2)
DEALT_ACCESSES = (1, 1, 2, 3, 0)
AMOUNTS = (0, 1, 64, 640, 9_999, 300_000)
DEALT_AMOUNTS = (0, 1, 64, 640, 2_000)  # ps or bytes of items; small, so that searching workers make few probes
RETURNED = (1_000_000, 1, 333_333)
PAGE_AMOUNTS = (0, 1, 4096, 4097, 65_536, 1_000_000)
MOST_NODES = 6
PHASES = (1, 1, 1, 2, 3)
ROOTS = (1, 1, 1, 0, 2, 4)
REPEATS = (1, 1, 1, 2, 3)
PASSES = (2, 2, 2, 3, 1)
OPENING, CLOSING = {"lock", "begin"}, {"unlock", "commit"}
LOCKS_AND_ATOMICS = ("lock", "lock", "atomic")
TRANSACTION_OPS = ("run", "run", "load", "store")


def happens(chance: Random, percent: int) -> bool:
    """Return True in ``percent`` of 100 cases."""
    return chance.randrange(100) >= 100 - percent


@dataclass
class Draft:
    """A task graph while it is drawn. Each task is drawn before its children, so that the numbers are in preorder."""

    chance: Random
    grain_ps: int
    moves_bytes: bool
    has_groups: bool = False
    dealt: bool = False  # whether the strategy deals items by their data, whose sizes must not be drawn by the run
    ops: Sequence[str] = OPS
    least: int = 0  # the shortest compute time, in units of the draft's grain
    most_tasks: int = MOST_TASKS
    tasks: list[Document] = field(default_factory=list)
    segments: list[Document] = field(default_factory=list)
    regions: list[Document] = field(default_factory=list)
    ranges: list[Document] = field(default_factory=list)
    words: list[Document] = field(default_factory=list)

    def add_task(self, kind: str, depth: int = 0) -> int:
        """Draw a task and all tasks below the task. Return the task's number."""
        number = len(self.tasks)
        ops: list[list[Any]] = []
        self.tasks.append({"kind": kind, "ops": ops, "then": []})
        for _ in range(self.chance.randint(0, 5)):
            memories = [at for at, word in enumerate(self.words) if word["role"] == "objects"]
            if memories and happens(self.chance, 40):
                ops += self._transaction(self.chance.choice(memories))
            elif self.words and happens(self.chance, 30):
                ops += self._use(0)
            else:
                ops.append(self._op(self.chance.choice(self.ops), depth))
        if self.has_groups and happens(self.chance, 50):
            ops[:] = self._grouped(ops)
        return number

    def _grouped(self, ops: list[list[Any]]) -> list[list[Any]]:
        """Return a task's ops with groups, also nested ones, around some; none ends in a section or transaction."""
        open_before = [
            sum(len(OPENING & set(op[:1])) - len(CLOSING & set(op[:1])) for op in ops[:at])
            for at in range(len(ops) + 1)
        ]
        cuts = [at for at, brackets in enumerate(open_before) if not brackets]
        first, last = sorted((self.chance.choice(cuts), self.chance.choice(cuts)))
        inside, behind = ops[first:last], ops[last:]
        if happens(self.chance, 30):
            inside = self._grouped(inside)
        if happens(self.chance, 30):
            behind = self._grouped(behind)
        return [*ops[:first], ["group"], *inside, ["end_group"], *behind]

    def add_words(self) -> None:
        """Draw some locks and atomic words."""
        for role in self.chance.choices(LOCKS_AND_ATOMICS, k=self.chance.randint(1, 3)):
            self._add_word(role, 1)

    def _add_word(self, role: str, parties: int) -> int:
        self.words.append({"role": role, "owner": self.chance.randint(0, 9), "parties": parties})
        return len(self.words) - 1

    def add_memory(self) -> None:
        """Draw a memory of few objects, which transactions open."""
        memory = self.words[self._add_word("objects", self.chance.choice((1, 2, 3, 8, 50)))]
        memory |= {
            "skew_ppm": self.chance.choice((0, 0, 800_000, 1_300_000)),
            "undo_ps": self.chance.choice((0, 5_000)),
        }

    def _transaction(self, memory: int) -> list[list[Any]]:
        """Draw a transaction that opens objects and computes in any order."""
        inside = self.chance.choices(TRANSACTION_OPS, k=self.chance.randint(0, 6))
        ops = [["run", self._add_segment()] if name == "run" else [name, memory] for name in inside]
        return [["begin", memory], *ops, ["commit", memory]]

    def _use(self, first: int) -> list[list[Any]]:
        """Draw an atomic operation, or a critical section; sections nest by ascending words, without waits inside."""
        fit = [word for word in range(first, len(self.words)) if self.words[word]["role"] in LOCKS_AND_ATOMICS]
        if not fit:
            return []
        word = self.chance.choice(fit)
        if self.words[word]["role"] == "atomic":
            return [["atomic", word]]
        inside = [["run", self._add_segment()] for _ in range(self.chance.randint(0, 2))]
        inside += self._use(word + 1) if happens(self.chance, 30) else []
        return [["lock", word], *inside, ["unlock", word]]

    def add_team(self) -> list[int]:
        """Draw bodies that meet at a barrier; the first body signals the other bodies to begin. More bodies than
        workers deadlock.
        """
        size, rounds = self.chance.randint(1, 5), self.chance.randint(1, 3)
        barrier, start = self._add_word("barrier", size), self._add_word("condition", max(1, size - 1))
        waits = happens(self.chance, 50)
        return [self._add_body(body, barrier, start if waits else None, rounds) for body in range(size)]

    def _add_body(self, body: int, barrier: int, start: int | None, rounds: int) -> int:
        number = self.add_task("implicit")
        ops = self.tasks[number]["ops"]
        if start is not None:
            ops.insert(0, ["await" if body else "broadcast", start])
        for _ in range(rounds):
            ops.append(["barrier", barrier])
            ops.append(["run", self._add_segment()])
            ops += self._use(0)
        return number

    def _op(self, name: str, depth: int) -> list[Any]:
        if name == "wait":
            return ["wait"]
        if name == "run" or depth == MOST_DEPTH or len(self.tasks) >= self.most_tasks:
            return ["run", self._add_segment()]
        return [name, self.add_task("call" if name == "call" else "task", depth + 1)]

    def _add_segment(self) -> int:
        accesses = [self._access() for _ in range(self.chance.randint(0, 2))] if self.moves_bytes else []
        self.segments.append({"compute_ps": self.time_ps(), "accesses": accesses})
        return len(self.segments) - 1

    def time_ps(self) -> int:
        """Draw a time; equal times and times of zero are frequent, so that events coincide."""
        return self.chance.randrange(self.least, 10) * self.grain_ps

    def add_region(self) -> None:
        """Draw a range of memory."""
        name = f"r{len(self.regions)}"
        size = self.chance.choice(REGION_BYTES)
        self.regions.append({"name": name, "bytes": size, "initialised": happens(self.chance, 50)})

    def _access(self, across: int = 0) -> Document:
        """Draw an access that leaves the last ``across`` bytes of its region free."""
        chance = self.chance
        region = self.regions[chance.randint(0, len(self.regions) - 1)]
        size = region["bytes"] - across
        offset = chance.randint(0, size - 1)
        row_bytes = chance.randint(1, min(size - offset, chance.choice(MOST_ROW_BYTES)))
        rows = chance.randint(1, 4)
        free = size - offset - row_bytes
        stride = chance.randint(0, free // (rows - 1)) if rows > 1 else chance.choice((0, 64))
        return {
            "region": region["name"],
            "offset": offset,
            "row_bytes": row_bytes,
            "rows": rows,
            "stride": stride,
            "mode": chance.choice(MODES),
            "pattern": chance.choice(PATTERNS),
            "passes": chance.randint(1, 3),
        }

    def add_range(self) -> int:
        """Draw a range, whose items are equal or similar tasks; return its number."""
        low, high = sorted((self.time_ps(), self.time_ps()))
        count = self.chance.randint(1, self.chance.choice(MOST_ITEMS))
        templates = [self._template(count) for _ in range(self.chance.randint(0, 2))] if self.moves_bytes else []
        same = happens(self.chance, 40)
        times: Document = {"low_ps": low, "high_ps": low if same else high}
        if happens(self.chance, 30):
            times = {"compute_ps": self._amounts(count, self.time_ps)}
        accesses = DEALT_ACCESSES if self.dealt else NODE_ACCESSES
        on_nodes = [self._node_access(count) for _ in range(self.chance.choice(accesses))]
        self.ranges.append(
            {
                "name": f"items{len(self.ranges)}",
                "count": count,
                **times,
                "accesses": templates,
                "node_accesses": on_nodes if self.moves_bytes else [],
                **{key: self._pages(count) for key in ("fresh", "freed") if happens(self.chance, 15)},
            }
        )
        return len(self.ranges) - 1

    def _node_access(self, count: int) -> Document:
        """Draw an access that names nodes; too large numbers of nodes wrap around."""
        nodes = self.chance.randint(1, 3)
        amounts = DEALT_AMOUNTS if self.dealt else AMOUNTS
        return {
            "nodes": [self.chance.randrange(MOST_NODES) for _ in range(nodes)],
            "shares": [self.chance.choice((1, 1, 3, 1000)) for _ in range(nodes)],
            "mode": self.chance.choice(MODES),
            "pattern": self.chance.choice(PATTERNS),
            "bytes": self._amounts(count, lambda: self.chance.choice(amounts), drawn=not self.dealt),
            **({"returned_ppm": self.chance.choice(RETURNED)} if happens(self.chance, 20) else {}),
        }

    def _pages(self, count: int) -> Document:
        """Draw bytes of memory that items touch first, or give back."""
        return self._amounts(count, lambda: self.chance.choice(PAGE_AMOUNTS))

    def _amounts(self, count: int, number: Callable[[], int], drawn: bool = True) -> Document:
        """Draw a number for each item, or, if ``drawn``, sometimes a table from which the run draws the numbers."""
        if happens(self.chance, 50) or not drawn:
            return {"items": [number() for _ in range(count)]}
        parts = self.chance.randint(1, 5)
        ends = [sorted((number(), number())) for _ in range(parts)]
        weights = [self.chance.choice((1, 1, 2, 7, 2**40)) for _ in range(parts)]
        return {"weight": weights, "low": [low for low, _ in ends], "high": [high for _, high in ends]}

    def _template(self, count: int) -> Document:
        """Draw an access whose offset moves with the item, forwards or backwards, by at most 60 bytes in all."""
        divisor = self.chance.randint(1, count + 1)
        quotient, remainder = (count - 1) // divisor, min(count, divisor) - 1
        steps = [self._step(quotient), self._step(remainder)]
        moved = [step * most for step, most in zip(steps, (quotient, remainder), strict=True)]
        access = self._access(across=60)
        access["offset"] -= sum(min(0, distance) for distance in moved)
        return {**access, "divisor": divisor, "step_div": steps[0], "step_mod": steps[1]}

    def _step(self, most: int) -> int:
        reach = 30 // most if most else 30
        return self.chance.randint(-reach, reach)

    def document(self, phases: list[Document]) -> Document:
        """Return the program of these phases."""
        lists = {name: getattr(self, name) for name in ("regions", "ranges", "tasks", "segments", "words")}
        return {"name": "random", "phases": phases, **lists}

    def add_dag(self) -> list[int]:
        """Draw the tasks of a plain DAG; each task waits for some earlier tasks."""
        roots = [self.add_task("task", MOST_DEPTH) for _ in range(self.chance.randint(1, 12))]
        self.add_edges(roots, 2 * len(roots))
        return roots

    def add_dependences(self, roots: list[int]) -> None:
        """Draw edges between tasks below one root, forwards in preorder."""
        for root, end in pairwise([*roots, len(self.tasks)]):
            self.add_edges(range(root + 1, end), 3)

    def add_edges(self, among: Iterable[int], most: int) -> None:
        """Draw dependences, forwards in preorder, between the tasks of ``among``, except the tasks that cannot wait."""
        able = [task for task in among if self.tasks[task]["kind"] == "task"]
        for _ in range(self.chance.randint(0, most) if len(able) > 1 else 0):
            low, high = sorted((self.chance.choice(able), self.chance.choice(able)))
            if low < high and high not in self.tasks[low]["then"]:
                self.tasks[low]["then"].append(high)

    def phase(self, roots: list[int]) -> Document:
        """Draw the phase of ``roots``, with a range if there are no roots."""
        chance = self.chance
        ranged = not roots or happens(chance, 60 if self.dealt else 15)
        serial = happens(chance, 15)
        return {
            "roots": roots,
            "range": self.add_range() if ranged else None,
            "deal": "master" if serial and happens(chance, 90) else chance.choice(DEALS),
            "serial": serial,
            "repeat": chance.choice(REPEATS),
        }


def looped(chance: Random, phases: list[Document]) -> list[Document]:
    """Draw loops over the phases, some of them nested. Some phases are first added once more, with the same roots."""
    if not happens(chance, 25):
        return phases
    if happens(chance, 30):
        other = chance.choice(phases)
        phases = [*phases, {**other, "repeat": chance.choice(REPEATS)}]
        if not other.get("serial"):
            phases[-1]["deal"] = other["deal"] if happens(chance, 50) else chance.choice(DEALS)
    first = chance.randrange(len(phases))
    end = chance.randint(first + 1, len(phases))
    inside = phases[first:end]
    if happens(chance, 30):
        cut = chance.randrange(len(inside))
        inside = [*inside[:cut], {"loop": inside[cut:], "repeat": 2}]
    return [*phases[:first], {"loop": inside, "repeat": chance.choice(PASSES)}, *phases[end:]]


def graph_document(chance: Random, dealt: bool = False) -> Document:
    """Draw a program of one to four phases, some in loops; circular dependences are left out. If items are to be
    ``dealt``, there are more ranges, and most amounts on nodes are given item by item.
    """
    moves_bytes = happens(chance, 50) or dealt
    draft = Draft(chance, chance.choice(GRAINS_PS), moves_bytes, happens(chance, 30), dealt)
    for _ in range(chance.randint(1, 3) if draft.moves_bytes else 0):
        draft.add_region()
    if happens(chance, 30):
        draft.add_words()
    if happens(chance, 20):
        draft.add_memory()
    phases, every_root = [], []
    for _ in range(chance.choice(PHASES)):
        if happens(chance, 10):
            team = draft.add_team()
            phases.append({"roots": team, "deal": "cyclic", "repeat": chance.choice(REPEATS)})
            every_root += team
            continue
        if happens(chance, 15):
            dag = draft.add_dag()
            phases.append(draft.phase(dag))
            every_root += dag
            continue
        roots = [draft.add_task("implicit" if happens(chance, 30) else "task") for _ in range(chance.choice(ROOTS))]
        phases.append(draft.phase(roots))
        if happens(chance, 30):
            draft.add_edges(range(roots[0], len(draft.tasks)) if roots else (), 4)
        every_root += roots
    if happens(chance, 30):
        draft.add_dependences(every_root)
    document = draft.document(looped(chance, phases))
    return document if _is_acyclic(document) else without_dependences(document)


def strict_program(chance: Random, grain_ps: int, moves_bytes: bool, least: int, most_roots: int) -> Workload:
    """Draw a fully strict program of one phase, in which each task waits for its children before the task ends."""
    draft = Draft(chance, grain_ps, moves_bytes, ops=STRICT_OPS, least=least, most_tasks=60)
    draft.add_region()
    draft.regions[0]["initialised"] = True
    deal, kind = chance.choice(DEALS), chance.choice(("task", "implicit"))
    roots = [draft.add_task(kind) for _ in range(1 if deal == "master" else chance.randint(1, most_roots))]
    for ops in (task["ops"] for task in draft.tasks):
        last = max((at for at, op in enumerate(ops) if op[0] == "spawn"), default=len(ops))
        if last < len(ops) and ["wait"] not in ops[last:]:
            ops.append(["wait"])
    return workload_of(draft.document([{"roots": roots, "deal": deal, "repeat": chance.randint(1, 2)}]))


def _is_acyclic(document: Document) -> bool:
    try:
        workload_of(document)
    except InputError:
        return False
    return True


def without_dependences(document: Document) -> Document:
    """Return the program without dependences, so that every task is ready when it is spawned."""
    return {**document, "tasks": [{**task, "then": []} for task in document["tasks"]]}


def workload_of(document: Document) -> Workload:
    """Return the arrays of a document; raise InputError if the document is no well-formed program."""
    workload = unchecked(document)
    validate(workload)
    return workload


# ---- random values of keys ------------------------------------------------------------------------------------------

Values = Sequence[Any] | Callable[[Random], Any]
Options = Mapping[str, tuple[int, Values]]  # key: (percent of cases that have it, its values)


def one(chance: Random, values: Values) -> Any:
    """Return one of the values."""
    return values(chance) if callable(values) else chance.choice(values)


def some(chance: Random, options: Options) -> Document:
    """Return a drawn choice of the keys, each with one of its values."""
    return {key: one(chance, values) for key, (percent, values) in options.items() if happens(chance, percent)}


def mapping(**keys: Values) -> Callable[[Random], Document]:
    """Return a function that draws a value for each of the keys."""
    return lambda chance: {key: one(chance, values) for key, values in keys.items()}


def either(*kinds: Values) -> Callable[[Random], Any]:
    """Return a function that draws one of the kinds, and then a value of this kind."""
    return lambda chance: one(chance, chance.choice(kinds))


TINY = (1, 2, 3, 4)
NANOSECONDS = (0, 100, 20, 0.001, 7, 333, 2500)
FRACTIONS = (0, 1, 0.5, 0.25, 0.7)
SIGNED = (0, 1, -1, 0.3, -0.3)
