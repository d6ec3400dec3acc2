"""The graph that a reader finds in a file: tasks, dependences, and the files that tasks write and read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NoReturn

from numasim.errors import InputError
from numasim.schema.enumerations import MOST_BYTES, MOST_ITEMS
from numasim.workload.imports.import_choices import number

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

    ``unit_ps`` is the length of the file's unit of time, None if the file has no unit; ``unit_means`` says what a
    number stands for. ``times`` has None for tasks without a time in the file; ``still`` are tasks without work, such
    as points of synchronisation. ``labels`` are further texts of the file at tasks. ``not_known`` lists values that no
    file of the format has.
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
    files_order: bool = True  # whether readers of a file wait for its writers
    phases: list[int] = field(default_factory=list)  # [tasks] the loop of each task, in a table of chunks of loops
    unknown_sizes: list[str] = field(default_factory=list)  # names of files with negative sizes
    used: dict[str, None] = field(default_factory=dict)  # names of the fields that the reader uses
    left_out: Counter[str] = field(default_factory=Counter)  # how often fields and entries are left out, by name
    remarks: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)  # numbers of tasks by id

    def refuse(self, problem: str, expected: str, where: Where = None) -> NoReturn:
        """Raise an InputError with the file and the line, or the path inside the document."""
        raise InputError(
            problem,
            place=f"{self.path}:{where}" if isinstance(where, int) else self.path,
            path=where if isinstance(where, tuple) else (),
            expected=expected,
        )

    def take(self, fields: Iterable[str], known: Collection[str]) -> None:
        """Count the fields of an entry of the file: ``known`` fields are used, other fields left out."""
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
            self.refuse(
                f"the time {shortened(given)} of task {shortened(name)} {what}", "a number of at least 0", where
            )
        return found

    def task(self, key: str, needed_by: str, where: Where) -> int:
        """Return the number of a task that another task, or an edge, names."""
        if key not in self.numbers:
            raise InputError(
                f"{needed_by} names the task {shortened(key)}, which is not there",
                place=f"{self.path}:{where}" if isinstance(where, int) else self.path,
                path=where if isinstance(where, tuple) else (),
                expected="the id of a task of this file",
                value=key if len(self.numbers) <= 10_000 else None,
                known=self.numbers,
            )
        return self.numbers[key]

    def add_edge(self, source: int, target: int, line: int = 0) -> None:
        """Let ``target`` wait for ``source``."""
        if source == target:
            self.refuse(
                f"the task {shortened(self.names[source])} waits for itself",
                "a graph without cycles",
                line or self.places[source],
            )
        self.edges.append((source, target))

    def size(self, given: object, name: str, where: Where) -> int:
        """Return a size in bytes as a whole number; raise InputError for a size that is too large or no number.

        Some public files have negative sizes, which were once held in 32 bits: these sizes are unknown, with a remark.
        """
        found = number(0 if given is None or given == "" else given)
        if found is None or found > MOST_BYTES:
            expected = f"0 to {MOST_BYTES:,} bytes"
            self.refuse(f"the size {shortened(given)} of {shortened(name)} is none", expected, where)
        if found < 0:
            self.unknown_sizes.append(name)
        return max(0, int(found.to_integral_value()))

    def file(self, name: str, size: int) -> ReadFile:
        """Return the file ``name``; the size is the largest size in the input."""
        found = self.files.get(name)
        if found is None:
            found = self.files[name] = ReadFile(name)
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
    """Return (writer, reader) of every file.

    Several tasks that write a file, or both read and write a file, wait for each other in the order of the input.
    """
    if not graph.files_order:
        return []
    pairs = sum(len(each.writers) * len(each.readers) for each in graph.files.values())
    if pairs > MOST_PAIRS:
        graph.refuse(f"files are written and read by {pairs:,} pairs of tasks", f"at most {MOST_PAIRS:,}")
    return [edge for each in graph.files.values() if each.writers for edge in _edges_of(each)]


def _edges_of(used: ReadFile) -> list[tuple[int, int]]:
    writers, readers = sorted(set(used.writers)), sorted(set(used.readers))
    own = set(writers)
    return [
        (writer, reader)
        for reader in readers
        for writer in writers
        if writer != reader and (reader not in own or writer < reader)
    ]
