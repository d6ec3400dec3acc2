"""The contents of a workload as text, and what it is called in tables."""

from __future__ import annotations

from pathlib import Path

from numasim.parts.base import canonical_json
from numasim.workload.graph_files.forms import digest_of_file
from numasim.workload.parameters import AnyWorkload, WorkloadFile, WorkloadGraph


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
