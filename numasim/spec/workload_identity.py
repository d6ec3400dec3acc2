"""The contents of a workload as text, what it is called in tables, and where it was recorded."""

from __future__ import annotations

from pathlib import Path

from numasim.parts.base import canonical_json
from numasim.workload.graph import Workload
from numasim.workload.graph_files.forms import digest_of_file, read_graph
from numasim.workload.parameters import AnyWorkload, WorkloadFile, WorkloadGraph
from numasim.workload.recording.recorded import Recorded


def workload_name(workload: AnyWorkload) -> str:
    """Return the benchmark's name, or the file that the task graph comes from."""
    return workload.file if isinstance(workload, WorkloadFile) else workload.name


def workload_json(workload: AnyWorkload) -> str:
    """Return the contents as JSON: a benchmark's name and parameters, or the digest of a graph.

    Path and form of its file do not enter, and a graph in memory is the same as in a file.

    InputError where that file can no longer be read.
    """
    if isinstance(workload, WorkloadGraph):
        return canonical_json({"file": workload.contents})
    if isinstance(workload, WorkloadFile):
        return canonical_json({"file": digest_of_file(Path(workload.file))})
    return workload.whole_json


def recording_of(workload: AnyWorkload) -> Recorded | None:
    """Where the program was recorded; None of one that was not. InputError where its file can no longer be read."""
    if isinstance(workload, WorkloadGraph):
        held: Workload = workload.workload
        return held.recorded
    return read_graph(Path(workload.file)).recorded if isinstance(workload, WorkloadFile) else None
