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
from typing import Any

from numasim.errors import InputError

Pairs = Mapping[tuple[int, int], Decimal]
_IDLE = re.compile(r"Measuring idle latencies")
_BETWEEN = re.compile(r"Measuring Memory Bandwidths between nodes")
_PEAK = re.compile(r"Measuring (Peak Injection|Maximum) Memory Bandwidths")
_UNUSED = {  # tables of MLC that are not used, with their names for the user
    "loaded latencies": re.compile(r"Measuring Loaded Latencies"),
    "times of cache lines": re.compile(r"Measuring cache-to-cache transfer latency"),
}
_TITLE = re.compile(r"\s*(?:Memory )?Numa [Nn]ode((?:\s+[0-9]{1,6})+)\s*")
_NODE = re.compile(r"[0-9]{1,6}")
_NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{0,9})?")
_STREAM = re.compile(rf"(Copy|Scale|Add|Triad):\s+({_NUMBER.pattern})(\s+[0-9.]+)*\s*")
_RATE = re.compile(rf"MByte/s:\s+({_NUMBER.pattern}([eE][+-]?[0-9]{{1,2}})?)\s*")
_TEST = re.compile(r"Test:\s+(\S+)")


@dataclass(frozen=True)
class MemorySpeeds:
    """What one file says about the speed of memory; ``lines`` has the line of each part's first value.

    ``latency_ns`` and ``bandwidth_mbs`` are by (node of the cores, node of the memory). ``total_mbs`` has the bandwidth
    of the whole system by the kind of traffic. ``unused`` names the tables of the file that are not used.
    """

    name: str
    program: str
    latency_ns: Pairs = field(default_factory=dict)
    bandwidth_mbs: Pairs = field(default_factory=dict)
    total_mbs: Mapping[str, Decimal] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    unused: tuple[str, ...] = ()

    def source(self, part: str) -> str:
        """Return the name of the file, without its folders, and the line of the first value of a part."""
        return f"{Path(self.name).name}:{self.lines[part]}"


def read_memory_speeds(text: str, name: str) -> MemorySpeeds | None:
    """Return the values in the text of the file ``name``, or None if it is no output of these programs.

    Raise InputError with the line if a table of MLC is damaged.
    """
    lines = text.splitlines()
    tables = (_IDLE, _BETWEEN, _PEAK, *_UNUSED.values())
    if any(table.search(line) for line in lines for table in tables):
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
    parts: dict[str, Any] = {}
    places: dict[str, int] = {}
    for at, line in enumerate(lines):
        if _IDLE.search(line):
            parts["latency_ns"], places["latency"] = _node_matrix(lines, at + 1, name)
        elif _BETWEEN.search(line):
            parts["bandwidth_mbs"], places["bandwidth"] = _node_matrix(lines, at + 1, name)
        elif _PEAK.search(line) and (totals := dict(_totals(lines[at + 1 : at + 12]))):
            parts["total_mbs"], places["total"] = totals, at + 1
    unused = tuple(table for table, title in _UNUSED.items() if any(map(title.search, lines)))
    return MemorySpeeds(name, "Intel MLC", lines=places, unused=unused, **parts)


def _node_matrix(lines: Sequence[str], first: int, name: str) -> tuple[Pairs, int]:
    """Return the matrix after line ``first`` by (row, column), and the line of its first row, counted from 1."""
    columns: list[int] = []
    values: dict[tuple[int, int], Decimal] = {}
    start = 0
    for at in range(first, len(lines)):
        words = lines[at].split()
        if not columns:
            if title := _TITLE.fullmatch(lines[at]):
                columns = [int(word) for word in title[1].split()]
            continue
        if not words or not _NODE.fullmatch(words[0]):
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


def _totals(lines: Sequence[str]) -> Iterator[tuple[str, Decimal]]:
    for line in lines:
        kind, colon, value = line.partition(":")
        if line.startswith("Measuring"):
            return
        if colon and _NUMBER.fullmatch(value.strip()):
            yield kind.strip(), Decimal(value.strip())
