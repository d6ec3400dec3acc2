"""The kinds of files that are read, with the largest size of each.

The sizes are far above what numasim writes or people write by hand, and low enough that a file at the limit is refused
in seconds and without exhausting memory.
"""

from __future__ import annotations

from dataclasses import dataclass

KIB, MIB, GIB = 2**10, 2**20, 2**30


@dataclass(frozen=True)
class FileKind:
    """``name`` completes the sentence "expected ..."."""

    name: str
    most_bytes: int


YAML = FileKind("a YAML file", MIB)
GRAPH = FileKind("a task graph in JSON", 128 * MIB)
PACKED_GRAPH = FileKind("a task graph in npz", GIB)
OTHER_GRAPH = FileKind(
    "a task graph in JSON, WfFormat, DAX, GraphML, DOT, STG, StarPU's tasks.rec or a table of grain graphs", 128 * MIB
)
PYTHON = FileKind("a Python module, a .py file", MIB)
HWLOC = FileKind("hwloc XML, as lstopo writes it", 4 * MIB)
SYSFS = FileKind("a file of sysfs", MIB)
CPU_INFO = FileKind("/proc/cpuinfo", 64 * MIB)
CSV = FileKind("a CSV file", 4 * MIB)
PROVENANCE = FileKind("the file that a sweep wrote; choose another directory", 16 * MIB)
RUNS = FileKind("the file as it was written; remove it", 16 * MIB)
MANIFEST = FileKind("the file that numasim wrote; choose another folder", 16 * MIB)
OWN = FileKind("a file that numasim wrote, or another folder", 256 * MIB)
TABLE = FileKind("a results directory; run its sweep again, which makes the tables anew", 64 * GIB)
