"""The graph that a reader finds in a file: tasks, dependences, and the files that tasks write and read.

The user chooses the values that a file does not have (`Choices`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import NoReturn, Self

from numasim.errors import InputError
from numasim.schema.enumerations import LONGEST_PS, MOST_BYTES, MOST_ITEMS

# ---- Times as text, such as ``1us``, and the numbers of a file, as whole picoseconds -------------------

UNITS_PS = {"ps": 1, "ns": 10**3, "us": 10**6, "µs": 10**6, "μs": 10**6, "ms": 10**9, "s": 10**12, "min": 60 * 10**12}
NAMES = "ps, ns, us, ms, s or min"
_TIME = re.compile(r"\s*(\d{0,18}\.?\d{0,18})\s*([a-zµμ]+)\s*")
_MOST_DIGITS = 400  # most characters of a number in a file, and its largest power of ten


def time_ps(text: str, option: str, least: int = 1) -> Decimal:
    """Return the picoseconds of a time such as ``1us`` or ``0.5 ns``.

    Raise InputError, which names ``option``, for a text that is no time, and for a time below ``least`` ps.
    """
    found = _TIME.fullmatch(text)
    if found and found[2] in UNITS_PS and found[1] not in ("", "."):
        time = Decimal(found[1]) * UNITS_PS[found[2]]
        if (time > 0 or not least) and time <= LONGEST_PS:
            return time
    expected = f"a number{' above 0' if least else ''} and one of the units {NAMES}, such as 1us, or 0.5ns"
    raise InputError(f"{option} is {text!r}", expected=expected)


def number(text: object) -> Decimal | None:
    """Return a finite number of a file, given as text or as a number of JSON; None for anything else."""
    if isinstance(text, bool) or not isinstance(text, str | int | float | Decimal):
        return None
    written = str(text).strip()
    if len(written) > _MOST_DIGITS:
        return None
    try:
        found = Decimal(written)
    except InvalidOperation:
        return None
    return found if found.is_finite() and abs(found.adjusted()) <= _MOST_DIGITS else None


def whole_ps(value: Decimal, unit_ps: Decimal) -> int | None:
    """Return ``value`` times ``unit_ps``, rounded to whole ps; None for a negative time or one too long for a run."""
    product = value * unit_ps
    return int(product.to_integral_value()) if value >= 0 and product <= LONGEST_PS else None


# ---- Choices of the user about values that a file does not have ------------------------------------------------------


@dataclass(frozen=True)
class Choices:
    """The choices of a user about an import.

    These are: the unit of the file's times in ps; the time in ps of tasks for which the file has no time; the names of
    the attributes with ``cost`` and ``bytes``; whether files become memory of the graph; and times in ps of tasks by
    name, label or kernel.
    """

    unit_ps: Decimal | None = None
    usual_ps: Decimal | None = None
    cost: str | None = None
    bytes: str | None = None
    memory: bool = True
    times: Mapping[str, Decimal] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        unit: str | None = None,
        usual: str | None = None,
        cost: str | None = None,
        bytes: str | None = None,
        memory: bool = True,
        times: Iterable[str] = (),
    ) -> Self:
        """Return the choices that options of the command line give.

        ``unit`` and ``usual`` (the time of tasks without a time) are such as ``1us``, ``times`` such as ``potrf=1us``.
        """
        unit_ps = None if unit is None else time_ps(unit, "--unit")
        usual_ps = None if usual is None else time_ps(usual, "--usual", least=0)
        return cls(unit_ps, usual_ps, cost, bytes, memory, dict(map(_named_time, times)))

    def refuse_all(self, path: str, reason: str) -> None:
        """Raise InputError if the user gave any option, because a file that has all values needs none (``reason``)."""
        options = {"--unit": self.unit_ps, "--usual": self.usual_ps, "--cost": self.cost, "--bytes": self.bytes}
        given = [option for option, value in options.items() if value is not None]
        for option in [*given, *["--time"] * bool(self.times), *["--no-memory"] * (not self.memory)]:
            raise InputError(f"{option} is given, and {reason}", place=path, expected=f"no {option}")


def _named_time(text: str) -> tuple[str, Decimal]:
    """Return (name, time) of an option such as ``potrf=1us``."""
    name, sign, time = text.rpartition("=")
    if not (name and sign):
        raise InputError(f"--time is {text!r}", expected="the name, label or kernel of tasks and a time: potrf=1us")
    return name, time_ps(time, f"--time {name}", least=0)


Where = tuple[str | int, ...] | int | None  # a path inside a JSON document, or a line


@dataclass
class ReadFile:
    """A file that tasks share: the size, the writers and the readers."""

    name: str
    bytes: int = 0
    writers: list[int] = field(default_factory=list)
    readers: list[int] = field(default_factory=list)


@dataclass
class ReadGraph:
    """The graph as in the file; tasks are numbered in the order of the file.

    ``unit_ps`` is the file's unit of time in ps, None if the file states no unit; ``unit_means`` says in words what a
    unit is. ``times`` has None for a task without a time in the file. ``still`` are tasks without work, such as points
    of synchronisation. ``labels`` are further texts of tasks. ``not_known`` names what files of this format lack.
    """

    path: str
    format: str
    name: str
    unit_ps: Decimal | None
    unit_means: str
    not_known: str = ""
    names: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    times: list[Decimal | None] = field(default_factory=list)
    still: set[int] = field(default_factory=set)
    places: list[Where] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    files: dict[str, ReadFile] = field(default_factory=dict)
    files_order: bool = True  # whether readers of a file wait for the writers of the file
    phases: list[int] = field(default_factory=list)  # [tasks] the loop of which the task is a chunk, if it is one
    unknown_sizes: list[str] = field(default_factory=list)  # names of files with negative sizes
    used: dict[str, None] = field(default_factory=dict)  # names of the file's fields that the reader uses
    left_out: Counter[str] = field(default_factory=Counter)  # by name, how often a field or entry is left out
    remarks: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)  # numbers of tasks by id

    def refuse(
        self, problem: str, expected: str, where: Where = None, value: str | None = None, known: Collection[str] = ()
    ) -> NoReturn:
        """Raise an InputError with the file and the line, or the path inside the document."""
        place = f"{self.path}:{where}" if isinstance(where, int) else self.path
        path = where if isinstance(where, tuple) else ()
        raise InputError(problem, place=place, path=path, expected=expected, value=value, known=known)

    def take(self, fields: Iterable[str], known: Collection[str]) -> None:
        """Count the fields of an entry of the file by name: ``known`` fields as used, other fields as left out."""
        for name in fields:
            if name in known:
                self.used[name] = None
            else:
                self.left_out[name] += 1

    def add_task(
        self, name: str, time: object, where: Where, kind: str = "", key: str | None = None, label: str = ""
    ) -> int:
        """Append a task and return its number; ``time`` is None if the file has no time, ``key`` is the id."""
        key = name if key is None else key
        if key in self.numbers:
            self.refuse(f"the task {shortened(key)} is there twice", "a different id for each task", where)
        made = self.numbers[key] = len(self.names)
        self.names.append(name)
        self.kinds.append(kind)
        self.labels.append(label)
        self.times.append(self.time(time, name, where))
        self.places.append(where)
        return made

    def time(self, given: object, name: str, where: Where) -> Decimal | None:
        """Return the time of the task ``name`` as a number; raise InputError unless the time is finite and >= 0."""
        if given is None:
            return None
        found = number(given)
        if found is None or found < 0:
            what = "is negative" if found is not None else "is not a finite number"
            problem = f"the time {shortened(given)} of task {shortened(name)} {what}"
            self.refuse(problem, "a number of at least 0", where)
        return found

    def task(self, key: str, needed_by: str, where: Where) -> int:
        """Return the number of a task that another task, or an edge, names."""
        if key not in self.numbers:
            problem = f"{needed_by} names the task {shortened(key)}, which is not there"
            value = key if len(self.numbers) <= 10_000 else None  # among more tasks the nearest id is slow to find
            self.refuse(problem, "the id of a task of this file", where, value, self.numbers)
        return self.numbers[key]

    def add_edge(self, source: int, target: int, line: int = 0) -> None:
        """Let ``target`` wait for ``source``."""
        if source == target:
            problem = f"the task {shortened(self.names[source])} waits for itself"
            self.refuse(problem, "a graph without cycles", line or self.places[source])
        self.edges.append((source, target))

    def size(self, given: object, name: str, where: Where) -> int:
        """Return a size in bytes as a whole number; raise InputError for a size that is too large or no number.

        A negative size, as in public files with sizes of 32 bits, counts as unknown: 0 bytes, with a remark.
        """
        found = number(0 if given is None or given == "" else given)
        if found is None or found > MOST_BYTES:
            expected = f"0 to {MOST_BYTES:,} bytes"
            self.refuse(f"the size {shortened(given)} of {shortened(name)} is none", expected, where)
        if found < 0:
            self.unknown_sizes.append(name)
        return max(0, int(found.to_integral_value()))

    def file(self, name: str, size: int) -> ReadFile:
        """Return the file ``name``, with ``size`` bytes if an earlier mention had fewer."""
        found = self.files.setdefault(name, ReadFile(name))
        found.bytes = max(found.bytes, size)
        return found

    def finish(self) -> ReadGraph:
        """Return the graph itself; raise InputError if the graph has no tasks, or more tasks than engines hold."""
        if self.unknown_sizes:
            first = shortened(self.unknown_sizes[0])
            self.remarks.append(
                f"{len(self.unknown_sizes):,} sizes are negative, the first that of {first}; they count 0 bytes"
            )
        if self.used:
            self.remarks.append(f"used: {', '.join(self.used)}")
        if self.left_out:
            self.remarks.append(f"left out: {', '.join(f'{name} ({n:,})' for name, n in self.left_out.items())}")
        if self.not_known:
            self.remarks.append(f"a {self.format} does not say {self.not_known}")
        if not self.names:
            self.refuse(f"there are no tasks in this {self.format}", "at least one")
        if len(self.names) > MOST_ITEMS:
            self.refuse(f"there are {len(self.names):,} tasks", f"at most {MOST_ITEMS:,}")
        return self


def shortened(value: object) -> str:
    """Return a value of a file in quotes; a long value is cut."""
    text = str(value)
    return repr(text if len(text) <= 60 else text[:57] + "...")


# ---- Dependences by files: a task that reads a file waits for the tasks that write the file ---------------------

MOST_PAIRS = 20_000_000


def file_edges(graph: ReadGraph) -> list[tuple[int, int]]:
    """Return the pairs (writer, reader) of every file.

    A task that reads and writes a file waits only for the writers that come before the task in the input.
    """
    if not graph.files_order:
        return []
    pairs = sum(len(each.writers) * len(each.readers) for each in graph.files.values())
    if pairs > MOST_PAIRS:
        graph.refuse(f"files are written and read by {pairs:,} pairs of tasks", f"at most {MOST_PAIRS:,}")
    found: list[tuple[int, int]] = []
    for each in graph.files.values():
        writers = dict.fromkeys(sorted(each.writers))
        for reader in sorted(set(each.readers)) if writers else ():
            found += [(other, reader) for other in writers if reader not in writers or other < reader]
    return found
