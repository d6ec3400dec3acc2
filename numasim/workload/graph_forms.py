"""Reading task graphs from JSON or npz files, told apart by their first bytes; writing them in these and other formats.

The digest (hash) of a graph is computed from its arrays, so equal graphs in JSON and npz have equal digests.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from numasim import __version__
from numasim.errors import InputError
from numasim.files.reader import GRAPH, PACKED_GRAPH, FileKind, hash_of, hash_of_file, open_regular, read_bytes, text_of
from numasim.files.writer import writing
from numasim.workload.export.graph_text import dot, graphml, wfformat
from numasim.workload.export.part_graph import Executed, part_graph, part_times, require_no_ranges
from numasim.workload.graph import Workload
from numasim.workload.unfold import unfolded

PACKED = ".npz"
MAGIC = b"PK\x03\x04"  # the first bytes of a zip archive with members
_LARGEST = FileKind(GRAPH.name, PACKED_GRAPH.most_bytes)


def kind_of(path: Path, place: str | None = None) -> FileKind:
    """Return the kind of the graph file ``path``, which ``place`` names; raise InputError if the file is unreadable."""
    with open_regular(path, _LARGEST, place) as file:
        try:
            return PACKED_GRAPH if file.read(len(MAGIC)) == MAGIC else GRAPH
        except OSError:
            return GRAPH  # reading the file as JSON reports the error


def require_graph_file(path: Path, place: str | None = None) -> None:
    """Raise InputError unless ``path`` is a readable regular file that is not too large for its form."""
    open_regular(path, kind_of(path, place), place).close()


def read_graph(path: Path) -> Workload:
    """Return the checked graph in the file ``path``; an `InputError` names the file and the line, field or array.

    The last two graphs stay in memory: a file with the contents of one of the last two files is not parsed again.
    """
    return _workload(_Contents(hash_of_file(path, kind_of(path)), path))


def digest_of_file(path: Path) -> str:
    """Return the digest of the graph in the file ``path``; InputError as for `read_graph`."""
    return _digest(_Contents(hash_of_file(path, kind_of(path)), path))


def write_graph(workload: Workload, path: Path, executed: Executed | None = None) -> None:
    """Write ``workload`` as npz if ``path`` ends in .npz, else as JSON; only npz holds the schedule ``executed``."""
    if path.suffix == PACKED:
        from numasim.workload.packed_graph import write as write_arrays

        return write_arrays(workload, path, executed)
    from numasim.workload.json_form.graph_io import write as write_json

    write_json(workload, path)


@dataclass(frozen=True)
class _Contents:
    """The contents of a file, as the key of a cache: equal ``hash`` means equal contents."""

    hash: str
    path: Path = field(compare=False)


@lru_cache(maxsize=2)
def _workload(contents: _Contents) -> Workload:
    """Return the checked graph in the file; raise InputError if the file has changed since its hash was computed."""
    kind, place = kind_of(contents.path), str(contents.path)
    data = read_bytes(contents.path, kind)
    if hash_of(data) != contents.hash:
        raise InputError("the file changed while it was read", place=place, expected="a finished file")
    if kind is PACKED_GRAPH:
        from numasim.workload.packed_graph import workload_of

        return workload_of(data, place)
    from numasim.workload.json_form.graph_io import of_text  # imported late: generators need no models of files

    return of_text(text_of(data, place, kind.name), place)


@lru_cache(maxsize=4096)
def _digest(contents: _Contents) -> str:
    return _workload(contents).digest()


# ---- Writing a task graph, or a schedule (what a run executed, where and when), in the format of the suffix ----------

DOT, GRAPHML, WFFORMAT = (".dot", ".gv"), ".graphml", ".wf.json"
ENDINGS = f"{PACKED}, {WFFORMAT} (WfFormat), .dot, .gv or {GRAPHML}"


def require_schedule_form(path: Path, workload: Workload) -> None:
    """Raise InputError if the suffix of ``path`` names no format of schedules, or if ``workload`` has ranges."""
    if not path.name.endswith((PACKED, WFFORMAT, GRAPHML, *DOT)):
        raise InputError(f"{path.name!r} asks for no form of a schedule", expected=f"a name that ends in {ENDINGS}")
    require_no_ranges(workload, "a workload without ranges, for a schedule of its tasks")


def export(workload: Workload, path: Path, executed: Executed | None = None) -> list[str]:
    """Write ``workload``, with the schedule ``executed`` of a run if given. Return remarks on data that is left out.

    The suffix .npz, .wf.json, .dot, .gv or .graphml gives the format; other names give numasim's JSON, which cannot
    hold a schedule.
    """
    work = unfolded(workload)
    if not path.name.endswith((WFFORMAT, GRAPHML, *DOT)):
        write_graph(work, path, executed)
        return []
    graph = part_graph(work)
    times = part_times(graph, work, executed) if executed else None
    if path.name.endswith(WFFORMAT):
        lines = wfformat(graph, times, executed, __version__)
    else:
        lines = graphml(graph, times) if path.suffix == GRAPHML else dot(graph, times)
    with writing(path) as file:
        for line in lines:
            file.write(f"{line}\n".encode())
    sentences = [f"{path} leaves out {' and '.join(graph.remarks)}"] if graph.remarks else []
    cut = len(set(graph.task)) < len(graph)
    return sentences + [f"{path} has a node for each part of a task between spawns and waits"] * cut
