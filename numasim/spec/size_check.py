"""Whether a program fits: the parts of a run together, before anything of it is built.

A family's own parameters are checked where they are read (`numasim.workload.parameters`). How long its work takes also
follows from the machine, and how many threads it has from the workers of the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.parts.base import ppm
from numasim.parts.unit_factors import MILLION
from numasim.schema.enumerations import MOST_COST_PS
from numasim.workload.parameters import TeamParameters
from numasim.workload.size.counting import totals_of
from numasim.workload.size.limits import refusal
from numasim.workload.size.totals import MOST_PS, THOUSAND, Totals, excess

if TYPE_CHECKING:
    from numasim.machine.topology import Machine
    from numasim.parts.models.effects_model import ModelSpec
    from numasim.parts.models.machine_model import MachineSpec
    from numasim.workload.graph import Workload
    from numasim.workload.parameters import WorkloadParameters


@dataclass(frozen=True)
class Distances:
    """The latency of the farthest memory of a machine, in ps, and its number of nodes."""

    farthest_ps: int
    nodes: int

    @classmethod
    def of(cls, spec: MachineSpec) -> Distances:
        """Those of the machine that ``spec`` describes."""
        return cls.on(build(spec))

    @classmethod
    def on(cls, machine: Machine) -> Distances:
        """Those of ``machine``, where a hit in a cache may take longer than a miss."""
        hits_ps = machine.caches.llc_hit_ps, machine.caches.llc_remote_hit_ps
        return cls(max(int(machine.latency_ps.max()), *hits_ps), machine.nodes)


def check_distances(machine: MachineSpec, distances: Distances) -> None:
    """InputError for a machine whose latencies exceed what the engines hold."""
    if distances.farthest_ps > MOST_COST_PS:
        raise InputError(
            f"the latency of the farthest memory of {machine.name!r} is {distances.farthest_ps:,} ps",
            path=("machine",),
            expected=f"at most {MOST_COST_PS:,} ps",
        )


def check_size(workload: WorkloadParameters, workers: int, model: ModelSpec, distances: Distances) -> None:
    """InputError, with the path of the field, for a program whose times or numbers exceed what the engines hold."""
    parameters, given = workload, workload.model_fields_set
    if isinstance(parameters, TeamParameters):
        parameters = parameters.for_team(workers)
    mlp_ppm = max(1, ppm(model.mlp))
    found = refusal(parameters, lambda totals: excess(totals) or too_long(totals, distances, mlp_ppm), given)
    if found:
        raise InputError(found.sentence, path=("workload", found.key) if found.key in given else ("workload",))


def check_built(work: Workload, machine: Machine, mlp_ppm: int) -> None:
    """InputError for a program, read from a file or grown by draws, that exceeds what the engines hold."""
    totals = totals_of(work)
    distances = Distances.on(machine)
    if problem := excess(totals) or too_long(totals, distances, mlp_ppm):
        raise InputError(f"{work.name!r} {problem}", path=("workload",), expected="a smaller program")


def too_long(totals: Totals, distances: Distances, mlp_ppm: int = MILLION) -> str | None:
    """What of the times on this machine does not fit, as the part of a sentence: even if all memory is the farthest."""
    latency_ps = distances.farthest_ps
    if totals.access_lines * latency_ps * THOUSAND > MOST_PS:
        return f"moves {totals.access_lines:,} lines in one access, too many where a miss takes {latency_ps:,} ps"
    found = totals.serial_ps(latency_ps, distances.nodes, mlp_ppm)
    if found > MOST_PS:
        return f"takes up to {found:,} ps of work, and at most {MOST_PS:,} fit"
    return None
