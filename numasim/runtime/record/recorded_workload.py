"""The rows of a recording as the arrays of a task graph, with the names of kernels.

A row's kernel is the place in the program that makes the row: a function with its file and line.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np

from numasim.runtime.record.event_files import Module
from numasim.runtime.record.recorded_data import LINE_BYTES, Access, RecordedData
from numasim.runtime.record.recorded_rows import Rows
from numasim.schema.enumerations import Kind
from numasim.workload.builder import depth_first, programs_of, successors, workload_of
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import I64, Deal, Pattern, Phase, Workload

# ---- names: a function, file and line, found by the address in the program that makes a row --------------------------

UNKNOWN = "??"  # stands in the output of `addr2line` for a function or a line that is not known
# the suffix that compilers add to the name of an outlined part of a function
OUTLINED = re.compile(r"\.?_?omp_(fn|outlined|task_entry).*$")
MOST_AT_ONCE = 500  # the most addresses on one command line


def kernel_names(rows: Rows, modules: Sequence[Module]) -> list[str]:
    """Return [rows] a name for each place at which tasks, loops and regions begin; "" for rows between regions."""
    names = place_names({place for place in rows.place if place}, modules)
    found = []
    for row, (kind, place) in enumerate(zip(rows.kind, rows.place, strict=True)):
        what = "loop " if row in rows.chunks else "region " if kind == Kind.IMPLICIT else ""
        found.append(what + names[place] if place else "")
    return found


def place_names(places: Set[int], modules: Sequence[Module]) -> dict[int, str]:
    """Return the name of each return address of a call: ``fib (fib.c:8)``, or the known part of this name.

    If several places would have the same name, the names include the addresses in the file.
    """
    found: dict[int, str] = {}
    addresses: dict[int, str] = {}
    for module in modules:
        mine = sorted(place for place in places if module.begin <= place < module.end)
        lines = _lines(module.path, [place - module.begin - 1 for place in mine])
        for place, (function, line) in zip(mine, lines, strict=True):
            addresses[place] = f"{Path(module.path).name}+{place - module.begin:#x}"
            found[place] = _name(function, line, addresses[place])
    for place in places - found.keys():
        found[place] = addresses[place] = f"{place:#x}"
    count = Counter(found.values())
    return {place: name if count[name] == 1 else f"{name} {addresses[place]}" for place, name in found.items()}


def _lines(file: str, addresses: Sequence[int]) -> list[tuple[str, str]]:
    """Return (function, file:line) of each address in a file; "" for each unknown part."""
    tool = shutil.which("addr2line") if Path(file).is_file() else None
    found: list[tuple[str, str]] = []
    for first in range(0, len(addresses), MOST_AT_ONCE):
        some = addresses[first : first + MOST_AT_ONCE]
        said: list[str] = []
        if tool:
            command = [tool, "-f", "-C", "-e", file, *map(hex, some)]
            said = subprocess.run(command, check=False, capture_output=True, text=True).stdout.splitlines()
        if len(said) != 2 * len(some):
            said = [UNKNOWN] * (2 * len(some))
        found += zip(said[::2], said[1::2], strict=True)
    return found


def _name(function: str, line: str, address: str) -> str:
    function = "" if function.startswith(UNKNOWN) else OUTLINED.sub("", function)
    line = Path(line.partition(" ")[0]).name  # a discriminator may follow the line number
    known = not line.startswith(UNKNOWN) and not line.endswith((":0", ":?"))
    if known:
        return f"{function} ({line})" if function else line
    return f"{function} ({address})" if function else address


# ---- arrays ----------------------------------------------------------------------------------------------------------

MOST_KERNELS = 256


def recorded_workload(rows: Rows, data: RecordedData, kernel_of_row: list[str], name: str) -> Workload:
    """Return the workload. Tasks are numbered depth first. ``kernel_of_row`` has the name of each row's kernel."""
    order, position, parent = depth_first(np.array(rows.parent, np.int64))
    op_ptr, codes, arguments, segments = programs_of(rows.ops, order, position)
    kernels, kernel_numbers = _kernels(kernel_of_row)
    counts = np.array([len(data.accesses.get(segment, ())) for segment in segments.tolist()], np.int64)
    source, target = position[np.array(rows.edges, np.int64).reshape(-1, 2)].T
    return workload_of(
        name,
        kernels=kernels,
        regions=data.regions,
        phases=_phases(rows, position),
        op_ptr=op_ptr,
        op_code=codes,
        op_arg=arguments,
        kind=np.array(rows.kind, np.uint8)[order],
        parent=parent,
        compute_ps=np.array(rows.compute_ps, np.int64)[segments],
        kernel=kernel_numbers[np.array(rows.segment_row, np.int64)[segments]],
        accesses=(offsets(counts), _accesses(data, segments)),
        successors=successors(source, target, len(parent)),
    )


def _kernels(kernel_of_row: list[str]) -> tuple[tuple[str, ...], Any]:
    """Return the names of the kernels, and the kernel of each row. Kernels beyond the limit share one name."""
    number: dict[str, int] = {}
    for name in kernel_of_row:
        number.setdefault(name, len(number))
    names = tuple(number)[:MOST_KERNELS] or ("",)
    if len(number) > MOST_KERNELS:
        names = (*names[:-1], "other tasks")
    found = np.array([min(number[name], MOST_KERNELS - 1) for name in kernel_of_row], np.uint8)
    return names, found


_DEALS = {True: Deal.MASTER, False: Deal.CYCLIC}  # how roots are dealt in serial phases, and in all other phases


def _phases(rows: Rows, position: I64) -> tuple[Phase, ...]:
    return tuple(
        Phase(tuple(position[each.roots].tolist()), deal=_DEALS[each.serial], serial=each.serial, name=each.name)
        for each in rows.phases
    )


def _accesses(data: RecordedData, segments: I64) -> dict[str, Any]:
    found = [access for segment in segments.tolist() for access in data.accesses.get(segment, ())]
    columns = np.array(found, np.int64).reshape(-1, len(Access._fields))
    values = {name: columns[:, at] for at, name in enumerate(Access._fields)}
    scattered = (values["rows"] > 1) & (values["row_bytes"] < LINE_BYTES)
    pattern = np.where(scattered, Pattern.STRIDED, Pattern.SEQUENTIAL)
    return values | {"pattern": pattern}
