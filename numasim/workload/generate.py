"""The task graph of checked parameters, by the generator of a family or from a file."""

from __future__ import annotations

from pathlib import Path

from numasim.workload.graph import Workload
from numasim.workload.parameters import AnyWorkload, WorkloadFile, WorkloadGraph
from numasim.workload.registry import FAMILIES


def generate(spec: AnyWorkload, *, folded: bool = False) -> Workload:
    """Return the workload that ``spec`` describes; the same spec always gives the same arrays.

    With ``folded`` families that have a folded form return the folded form, whose memory does not grow with the number
    of tasks. Else raise InputError if the tasks do not fit in memory.
    """
    if isinstance(spec, WorkloadGraph):
        held: Workload = spec.workload
        return held
    if isinstance(spec, WorkloadFile):
        from numasim.workload.graph_forms import read_graph

        return read_graph(Path(spec.file))
    family = FAMILIES[spec.name]
    generator = family.folded if folded and family.folded else family.generate
    return generator(spec)
