"""Inventories from the text of `lscpu -p`, `lscpu -e`, `numactl -H` and `likwid-topology`.

None of these texts has all that a machine file needs: `numactl` tells nodes, memory and distances but no cores and no
sockets, `lscpu` no memory and no size of a cache. `Inventory.unsaid` names what a text does not say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import takewhile
from pathlib import Path

from numasim.errors import InputError
from numasim.machine.inventory import Cache, Clock, Inventory, Thread, clock_in
from numasim.parts.base import MOST_PROCESSORS, number_list

MIB = 2**20
LISTS = ("Cache groups", "Processors")  # keys of likwid-topology whose values are lists of processors
PLACES = ("CPU", "CORE", "SOCKET", "NODE")
UNITS = {"kB": 2**10, "MB": 2**20, "GB": 2**30}
_CACHE = re.compile(r"L[1-9][DI]?")
_SIZE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{0,9})?)\s*(kB|MB|GB)")
_LIST = re.compile(r"\(([^()]*)\)")
_DISTANCE_ROW = re.compile(r"\s*([0-9]{1,6}):((?:\s+[0-9]{1,6})+)\s*")
_NODE = re.compile(r"node ([0-9]{1,6}) (cpus|size):(.*)")
_WHOLE = re.compile(r"[0-9]{1,9}")


def read_text_topology(text: str, name: str) -> Inventory | None:
    """Return the inventory in the text of the file ``name``, or None if no known program wrote the text.

    Raise InputError with the line if the text is damaged.
    """
    lines = text.splitlines()
    readers: Mapping[str, Callable[[Sequence[str], str], Inventory]] = {
        r"# CPU,|# The following is the parsable format": _lscpu_parsable,
        r"\s*CPU\s.*\b(CORE|NODE|SOCKET)\b": _lscpu_table,
        r"Hardware Thread Topology": _likwid,
        r"available: \d+ nodes": _numactl,
    }
    for pattern, reader in readers.items():
        if any(re.match(pattern, line) for line in lines):
            return reader(lines, name)
    return None


def _number(word: str, place: str) -> int:
    if not _WHOLE.fullmatch(word):
        raise InputError(f"{word!r} stands where a number is needed", place=place, expected="a whole number")
    return int(word)


# ---- lscpu -----------------------------------------------------------------------------------------------------------


def _lscpu_parsable(lines: Sequence[str], name: str) -> Inventory:
    titles = [line for line in lines if re.match(r"# *CPU\b", line)]
    if not titles:
        raise InputError("no comment names the columns", place=name, expected="a line such as '# CPU,Core,Socket,Node'")
    title = lines.index(titles[0])
    listed = takewhile(lambda row: _WHOLE.match(row[1]) is not None, enumerate(lines[title + 1 :], title + 2))
    rows = [(at, line.split(",")) for at, line in listed]
    columns = titles[0].lstrip("# ").split(",")
    return _lscpu("lscpu -p", columns, rows, name)


def _lscpu_table(lines: Sequence[str], name: str) -> Inventory:
    at, title = next((at, line) for at, line in enumerate(lines) if re.match(r"\s*CPU\s", line))
    rows = [(number, line.split()) for number, line in enumerate(lines[at + 1 :], at + 2) if line.strip()]
    return _lscpu("lscpu -e", title.split(), rows, name)


def _lscpu(program: str, columns: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]], name: str) -> Inventory:
    titles = [column.upper() for column in columns]
    threads: list[Thread] = []
    shared: dict[tuple[int, str], set[int]] = {}
    for at, cells in rows:
        if len(cells) != len(titles):
            problem = f"the row has {len(cells)} columns, and the titles name {len(titles)}"
            raise InputError(problem, place=f"{name}:{at}", expected=f"the columns {', '.join(columns)}")
        row = dict(zip(titles, cells, strict=True))
        if row.get("ONLINE", "yes") == "no":
            continue
        missing = {"CORE": row["CPU"], "SOCKET": "0", "NODE": "0"}
        said = {title: cell for title, cell in row.items() if cell not in ("", "-")}
        numbers = {title: _number(cell, f"{name}:{at}") for title, cell in (missing | said).items() if title in PLACES}
        threads.append(Thread(*(numbers[title] for title in PLACES)))
        for level, cache in _caches_of(titles, cells):
            shared.setdefault((level, cache), set()).add(numbers["CPU"])
    _check_threads(threads, name)
    unsaid = {word for title, word in (("CORE", "cores"), ("SOCKET", "sockets")) if title not in titles}
    caches = [Cache(level, 0, 0, frozenset(cpus)) for (level, _), cpus in sorted(shared.items())]
    return Inventory(
        origin=f"{program} in {Path(name).name}",
        threads=tuple(sorted(threads, key=lambda thread: thread.id)),
        caches=tuple(caches),
        memory_bytes={},
        distance={},
        clock=None,
        page_bytes=None,
        remarks=(),
        unsaid=frozenset(unsaid | {"cache sizes"}),
    )


def _caches_of(titles: Sequence[str], cells: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the level and the number of each data or unified cache of a row."""
    for title, cell in zip(titles, cells, strict=True):
        kinds = title.split(":")
        if all(_CACHE.fullmatch(kind) for kind in kinds):
            for kind, number in zip(kinds, cell.split(":"), strict=False):
                if not kind.endswith("I") and number not in ("", "-"):
                    yield int(kind[1]), number


def _check_threads(threads: Sequence[Thread], name: str) -> None:
    if not threads:
        raise InputError("no processor is listed", place=name, expected="a row for each processor")
    if len({thread.id for thread in threads}) < len(threads):
        raise InputError("a processor is listed twice", place=name, expected="each processor once")
    if len(threads) > MOST_PROCESSORS:
        raise InputError(f"{len(threads)} processors", place=name, expected=f"at most {MOST_PROCESSORS}")


# ---- numactl ---------------------------------------------------------------------------------------------------------


def _numactl(lines: Sequence[str], name: str) -> Inventory:
    threads: list[Thread] = []
    memory: dict[int, int] = {}
    for at, line in enumerate(lines, 1):
        if not (said := _NODE.match(line)):
            continue
        node, rest = int(said[1]), said[3].strip()
        if said[2] == "cpus":
            threads += [Thread(cpu, cpu, 0, node) for cpu in _cpu_list(rest, f"{name}:{at}")]
        elif said[2] == "size" and rest.endswith("MB"):
            memory[node] = _number(rest.removesuffix("MB").strip(), f"{name}:{at}") * MIB
    _check_threads(threads, name)
    return Inventory(
        origin=f"numactl -H in {Path(name).name}",
        threads=tuple(sorted(threads, key=lambda thread: thread.id)),
        caches=(),
        memory_bytes=memory,
        distance=dict(_distances(lines, name)),
        clock=None,
        page_bytes=None,
        remarks=(),
        unsaid=frozenset({"cores", "sockets"}),
    )


def _cpu_list(text: str, place: str) -> list[int]:
    """Return the processors of a list of numbers, or of ranges with a count in parentheses (`--cpu-compress`)."""
    words = re.sub(r"\(\d+\)", "", text).replace(",", " ").split()
    try:
        return [cpu for word in words for cpu in number_list(word)]
    except (InputError, ValueError):
        raise InputError(f"{text!r} is no list of processors", place=place, expected="numbers or ranges") from None


def _distances(lines: Sequence[str], name: str) -> Iterator[tuple[tuple[int, int], Decimal]]:
    columns: list[int] = []
    for at, line in enumerate(lines, 1):
        words = line.split()
        if words[:1] == ["node"] and len(words) > 1 and all(map(_WHOLE.fullmatch, words[1:])):
            columns = [int(word) for word in words[1:]]
        elif columns and (row := _DISTANCE_ROW.fullmatch(line)):
            values = row[2].split()
            if len(values) != len(columns):
                problem = f"node {row[1]} has {len(values)} distances for {len(columns)} nodes"
                raise InputError(problem, place=f"{name}:{at}", expected="a distance to each node")
            for column, value in zip(columns, values, strict=True):
                yield (int(row[1]), column), Decimal(value)


# ---- likwid-topology -------------------------------------------------------------------------------------------------


def _likwid(lines: Sequence[str], name: str) -> Inventory:
    node_of: dict[int, int] = {}
    memory: dict[int, int] = {}
    distance: dict[tuple[int, int], Decimal] = {}
    caches: list[Cache] = []
    level = size = domain = 0
    rows: list[list[int]] = []
    titles: list[str] = []
    clock: Clock | None = None
    for at, line in enumerate(lines, 1):
        key, _, value = (part.strip() for part in line.partition(":"))
        words, place = line.split(), f"{name}:{at}"
        groups = [[_number(cpu, place) for cpu in group.split()] for group in _LIST.findall(value) if key in LISTS]
        if key == "CPU name":
            clock = clock or clock_in(value, f"derived: the name of the processor, {value!r}")
        elif words[:2] == ["HWThread", "Thread"]:
            titles = words
        elif titles and words and _WHOLE.fullmatch(words[0]) and len(words) >= len(titles) - 1:
            row = dict(zip(titles, words, strict=False))
            rows.append([_number(row.get(title, ""), place) for title in ("HWThread", "Core", "Socket")])
        elif key == "Level":
            level, titles = _number(value, place), []
        elif key == "Size" and level:
            size = _bytes(value, place)
        elif key == "Cache groups":
            caches += [Cache(level, size, 0, frozenset(group)) for group in groups if group]
        elif key == "Domain":
            domain = _number(value, place)
        elif key == "Processors":
            node_of |= {cpu: domain for group in groups for cpu in group}
        elif key == "Distances":
            distance |= {(domain, other): Decimal(_number(far, place)) for other, far in enumerate(value.split())}
        elif key == "Total memory":
            memory[domain] = _bytes(value, place)
    threads = [Thread(cpu, core, socket, node_of.get(cpu, 0)) for cpu, core, socket in rows]
    _check_threads(threads, name)
    return Inventory(
        origin=f"likwid-topology in {Path(name).name}",
        threads=tuple(sorted(threads, key=lambda thread: thread.id)),
        caches=tuple(caches),
        memory_bytes=memory,
        distance=distance,
        clock=clock,
        page_bytes=None,
        remarks=(),
    )


def _bytes(text: str, place: str) -> int:
    size = _SIZE.fullmatch(text)
    if size is None:
        raise InputError(f"{text!r} is no size", place=place, expected="a size such as 32 kB or 25 MB")
    return int(Decimal(size[1]) * UNITS[size[2]])
