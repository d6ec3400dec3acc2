"""Measured speeds of memory: the tables of Intel MLC, and the bandwidths that STREAM and likwid-bench print.

MLC writes latencies in ns and bandwidths in MB/s of 10**6 bytes. A row of a matrix is the node of the cores, a column
the node of the memory; nodes without cores have a column alone. STREAM and likwid-bench count the loads and stores of
the program, without the lines that are read before they are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from numasim.errors import InputError

Pairs = Mapping[tuple[int, int], Decimal]
_IDLE = re.compile(r"Measuring idle latencies")
_BETWEEN = re.compile(r"Measuring Memory Bandwidths between nodes")
_PEAK = re.compile(r"Measuring (Peak Injection|Maximum) Memory Bandwidths")
_LOADED = re.compile(r"Measuring Loaded Latencies")
_TRANSFERS = re.compile(r"Measuring cache-to-cache transfer latency")
_HITM = re.compile(r"Local Socket L2->L2 HITM latency\s+([\d.]+)")
_HOMED = re.compile(r"Remote Socket L2->L2 HITM latency \(data address homed in (writer|reader) socket\)")
_TITLE = re.compile(r"\s*(Memory |Writer )?Numa [Nn]ode((\s+\d+)+)\s*")
_NUMBER = re.compile(r"\d{1,12}(\.\d*)?")
_STREAM = re.compile(r"(Copy|Scale|Add|Triad):\s+(\d[\d.]*)(\s+[\d.]+)*\s*")
_RATE = re.compile(r"MByte/s:\s+(\d[\d.]*(?:[eE][+-]?\d+)?)\s*")
_TEST = re.compile(r"Test:\s+(\S+)")


@dataclass(frozen=True)
class MemorySpeeds:
    """What one file says about the speed of memory; ``lines`` has the line of each part's first value.

    ``latency_ns``, ``bandwidth_mbs`` and ``transfer_ns`` are by (node of the cores, node of the memory or of the
    reader). ``loaded`` has (bandwidth in MB/s, latency in ns) of rising load. ``total_mbs`` has the bandwidth of the
    whole system by the kind of traffic.
    """

    name: str
    program: str
    latency_ns: Pairs = field(default_factory=dict)
    bandwidth_mbs: Pairs = field(default_factory=dict)
    transfer_ns: Pairs = field(default_factory=dict)
    within_ns: Decimal | None = None  # a modified line between two cores of a socket
    loaded: tuple[tuple[Decimal, Decimal], ...] = ()
    total_mbs: Mapping[str, Decimal] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)

    def source(self, part: str) -> str:
        """Return the name of the file, without its folders, and the line of the first value of a part."""
        return f"{Path(self.name).name}:{self.lines[part]}"


def read_memory_speeds(text: str, name: str) -> MemorySpeeds | None:
    """Return the values in the text of the file ``name``, or None if it is no output of these programs.

    Raise InputError with the line if a table of MLC is damaged.
    """
    lines = text.splitlines()
    if any(_IDLE.search(line) or _BETWEEN.search(line) or _PEAK.search(line) or _LOADED.search(line) for line in lines):
        return _mlc(lines, name)
    found = {
        match[1]: (at, Decimal(match[2])) for at, line in enumerate(lines, 1) if (match := _STREAM.fullmatch(line))
    }
    if "Triad" in found:
        totals = {kernel.lower(): mbs for kernel, (_, mbs) in found.items()}
        return MemorySpeeds(name, "STREAM", total_mbs=totals, lines={"total": found["Triad"][0]})
    rates = [(at, Decimal(match[1])) for at, line in enumerate(lines, 1) if (match := _RATE.fullmatch(line))]
    tests = [match[1] for line in lines if (match := _TEST.match(line))]
    if len(rates) == 1 and tests:
        return MemorySpeeds(name, "likwid-bench", total_mbs={tests[0]: rates[0][1]}, lines={"total": rates[0][0]})
    return None


def _mlc(lines: Sequence[str], name: str) -> MemorySpeeds:
    parts: dict[str, object] = {}
    places: dict[str, int] = {}
    for at, line in enumerate(lines):
        if _IDLE.search(line):
            parts["latency_ns"], places["latency"] = _node_matrix(lines, at + 1, name)
        elif _BETWEEN.search(line):
            parts["bandwidth_mbs"], places["bandwidth"] = _node_matrix(lines, at + 1, name)
        elif (homed := _HOMED.search(line)) and homed[1] == "writer":
            parts["transfer_ns"], places["transfers"] = _node_matrix(lines, at + 1, name)
        elif within := _HITM.search(line):
            parts["within_ns"], places["within"] = Decimal(within[1]), at + 1
        elif _LOADED.search(line):
            rows = list(_loaded_rows(lines[at + 1 :]))
            if rows:
                parts["loaded"], places["loaded"] = tuple(rows), at + 1
        elif _PEAK.search(line):
            totals = dict(_totals(lines[at + 1 : at + 12]))
            if totals:
                parts["total_mbs"], places["total"] = totals, at + 1
    return MemorySpeeds(name, "Intel MLC", lines=places, **parts)  # type: ignore[arg-type]


def _node_matrix(lines: Sequence[str], first: int, name: str) -> tuple[Pairs, int]:
    """Return the matrix after line ``first`` by (row, column), and the line of its first row, counted from 1."""
    columns: list[int] = []
    values: dict[tuple[int, int], Decimal] = {}
    start = 0
    for at in range(first, len(lines)):
        words = lines[at].split()
        if not columns:
            if title := _TITLE.fullmatch(lines[at]):
                columns = [int(word) for word in title[2].split()]
            continue
        if not words or not words[0].isdigit():
            break
        if len(words) != len(columns) + 1 or not all(word == "-" or _NUMBER.fullmatch(word) for word in words[1:]):
            problem = f"the row of node {words[0]} does not have a number for each of {len(columns)} nodes"
            raise InputError(problem, place=f"{name}:{at + 1}", expected="a table as MLC prints it")
        start = start or at + 1
        cells = zip(columns, words[1:], strict=True)
        values |= {(int(words[0]), column): Decimal(word) for column, word in cells if word != "-"}
    if not values:
        raise InputError("a matrix of nodes has no rows", place=f"{name}:{first}", expected="a table as MLC prints it")
    return values, start


def _loaded_rows(lines: Sequence[str]) -> Iterator[tuple[Decimal, Decimal]]:
    for line in lines:
        words = line.split()
        if len(words) == 3 and words[0].isdigit() and all(_NUMBER.fullmatch(word) for word in words[1:]):
            yield Decimal(words[2]), Decimal(words[1])
        elif line.startswith("Measuring"):
            return


def _totals(lines: Sequence[str]) -> Iterator[tuple[str, Decimal]]:
    for line in lines:
        kind, colon, value = line.partition(":")
        if line.startswith("Measuring"):
            return
        if colon and _NUMBER.fullmatch(value.strip()):
            yield kind.strip(), Decimal(value.strip())
