"""What the rows of a recording are called: by the place of the program that makes them, a function, file and line.

Functions come from the symbols of the program's files, lines from their debug information where they have it (option
``-g`` of compilers). ``addr2line`` of GNU's binutils reads both; without it a place is an address in a file.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

from numasim.runtime.record.event_files import Module
from numasim.runtime.record.recorded_rows import Rows
from numasim.schema.enumerations import Kind

UNKNOWN = "??"
OUTLINED = re.compile(r"\.?_?omp_(fn|outlined|task_entry).*$")  # what compilers add to the names of parts of functions
MOST_AT_ONCE = 500  # addresses on a command line


def kernel_names(rows: Rows, modules: Sequence[Module]) -> list[str]:
    """[rows] a name for each place where tasks, loops and regions begin; "" for what is between regions."""
    names = place_names({place for place in rows.place if place}, modules)
    found = []
    for row, (kind, place) in enumerate(zip(rows.kind, rows.place, strict=True)):
        what = "loop " if row in rows.chunks else "region " if kind == Kind.IMPLICIT else ""
        found.append(what + names[place] if place else "")
    return found


def place_names(places: Set[int], modules: Sequence[Module]) -> dict[int, str]:
    """The name of each address to which a call returns: ``fib (fib.c:8)`` where all is known, else what is.

    Places that would have the same name have their address in the file as well.
    """
    found: dict[int, str] = {}
    addresses: dict[int, str] = {}
    for module, mine in _by_module(sorted(places), modules):
        lines = _lines(module.path, [place - module.begin - 1 for place in mine])
        for place, (function, line) in zip(mine, lines, strict=True):
            addresses[place] = f"{Path(module.path).name}+{place - module.begin:#x}"
            found[place] = _name(function, line, addresses[place])
    for place in places - found.keys():
        found[place] = addresses[place] = f"{place:#x}"
    count = Counter(found.values())
    return {place: name if count[name] == 1 else f"{name} {addresses[place]}" for place, name in found.items()}


def _by_module(places: Sequence[int], modules: Sequence[Module]) -> Iterator[tuple[Module, list[int]]]:
    ordered = sorted(modules, key=lambda module: module.begin)
    begins = [module.begin for module in ordered]
    mine: dict[int, list[int]] = {}
    for place in places:
        at = bisect_right(begins, place) - 1
        if at >= 0 and place < ordered[at].end:
            mine.setdefault(at, []).append(place)
    return ((ordered[at], found) for at, found in mine.items())


def _lines(file: str, addresses: Sequence[int]) -> list[tuple[str, str]]:
    """(function, file:line) of each address in a file, "" for what is not known."""
    tool = shutil.which("addr2line")
    found: list[tuple[str, str]] = []
    for first in range(0, len(addresses), MOST_AT_ONCE):
        some = addresses[first : first + MOST_AT_ONCE]
        said: list[str] = []
        if tool and Path(file).is_file():
            command = [tool, "-f", "-C", "-e", file, *map(hex, some)]
            said = subprocess.run(command, check=False, capture_output=True, text=True).stdout.splitlines()
        if len(said) != 2 * len(some):
            said = [UNKNOWN] * (2 * len(some))
        found += zip(said[::2], said[1::2], strict=True)
    return found


def _name(function: str, line: str, address: str) -> str:
    function = "" if function.startswith(UNKNOWN) else OUTLINED.sub("", function)
    line = Path(line.partition(" ")[0]).name  # a discriminator may follow
    known = not line.startswith(UNKNOWN) and not line.endswith((":0", ":?"))
    if known:
        return f"{function} ({line})" if function else line
    return f"{function} ({address})" if function else address
