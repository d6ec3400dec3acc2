"""Writing a task graph, or what workers did with it, in the form that the name of the file asks for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from numasim import __version__
from numasim.errors import InputError
from numasim.files.writer import writing
from numasim.workload.export.executed import Executed, part_times
from numasim.workload.export.graph_text import dot, graphml, wfformat
from numasim.workload.export.part_graph import part_graph
from numasim.workload.graph import Workload
from numasim.workload.graph_files.forms import PACKED, write_graph
from numasim.workload.unfold import unfolded

DOT, GRAPHML, WFFORMAT = (".dot", ".gv"), ".graphml", ".wf.json"
ENDINGS = f"{PACKED}, {WFFORMAT} (WfFormat), .dot, .gv or {GRAPHML}"


def require_schedule_form(path: Path, workload: Workload) -> None:
    """InputError for a name that asks for no form of a schedule, and for ranges, whose tasks are not written down."""
    if not path.name.endswith((PACKED, WFFORMAT, GRAPHML, *DOT)):
        raise InputError(f"{path.name!r} asks for no form of a schedule", expected=f"a name that ends in {ENDINGS}")
    if workload.ranges:
        raise InputError(
            f"{workload.name!r} has a range of tasks that are not written down",
            expected="a workload without ranges, for a schedule of its tasks",
        )


def export(workload: Workload, path: Path, executed: Executed | None = None) -> list[str]:
    """Write ``workload``, with ``executed`` also what a run did, and return sentences on what the form leaves out.

    NAME.npz, NAME.wf.json, NAME.dot, NAME.gv and NAME.graphml ask for these forms; any other is numasim's JSON, which
    has no place for a run.
    """
    work = unfolded(workload)
    if path.name.endswith((WFFORMAT, GRAPHML, *DOT)):
        return _export_nodes(work, path, executed)
    if executed is None:
        write_graph(work, path)
        return []
    from numasim.workload.binary_form.to_arrays import write_executed

    write_executed(work, executed, path)
    return []


def _export_nodes(work: Workload, path: Path, executed: Executed | None) -> list[str]:
    graph = part_graph(work)
    times = part_times(graph, work, executed) if executed else None
    if path.name.endswith(WFFORMAT):
        lines = wfformat(graph, times, executed, __version__)
    else:
        lines = graphml(graph, times) if path.suffix == GRAPHML else dot(graph, times)
    _write_lines(path, lines)
    sentences = [f"{path} leaves out {' and '.join(graph.remarks)}"] if graph.remarks else []
    cut = len(set(graph.task)) < len(graph)
    return sentences + [f"{path} has a node for each part of a task between spawns and waits"] * cut


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with writing(path) as file:
        for line in lines:
            file.write(f"{line}\n".encode())
