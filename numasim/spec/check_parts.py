"""Checks that the parts of a run fit together: the machine has the workers, nodes and links that the run names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from numasim.errors import InputError
from numasim.frozen import Frozen
from numasim.parts.base import as_list, bytes_per_s, ppm
from numasim.parts.unit_factors import MILLION
from numasim.parts.yaml.nodes import FieldPath
from numasim.schema.enumerations import MOST_COST_PS
from numasim.workload.parameters import TeamParameters
from numasim.workload.totals import MOST_PS, THOUSAND, Totals, excess, refusal, totals_of

if TYPE_CHECKING:
    from numasim.machine.topology import Machine
    from numasim.parts.models.effects_model import ModelSpec
    from numasim.parts.models.machine_model import MachineSpec
    from numasim.parts.models.strategy_model import StrategySpec
    from numasim.workload.graph import Workload
    from numasim.workload.parameters import AnyWorkload, WorkloadParameters


def check_workers(machine: MachineSpec, workers: int) -> None:
    """Raise InputError for more workers than hardware threads; its path is the field, as in all functions here."""
    if workers > machine.threads:
        problem = f"got {workers} workers, but {machine.name!r} has {machine.threads} hardware threads"
        raise InputError(problem, path=("workers",), expected=f"1 to {machine.threads}")


def check_team(workload: AnyWorkload, workers: int) -> None:
    """Raise InputError if more threads wait for each other than there are workers."""
    if isinstance(workload, TeamParameters) and workload.team > workers:
        problem = f"got {workload.team} threads, which wait for each other, but {workers} workers"
        expected = f"1 to {workers}, or no number for one thread on each worker"
        raise InputError(problem, path=("workload", "threads"), expected=expected)


def check_placement(machine: MachineSpec, strategy: StrategySpec) -> None:
    """Raise InputError for a page placement that names a missing node or a node without memory."""
    for policy in strategy.whole_placement.policies:
        for node in policy.named_nodes:
            _check_node(machine, node, ("strategy", "placement"))


def check_background(machine: MachineSpec, model: ModelSpec) -> None:
    """Raise InputError for a load of a missing node or link, and for a load that leaves no bandwidth."""
    path: FieldPath = ("model", "background")
    for node, gbs in model.background.nodes.items():
        _check_node(machine, node, (*path, "nodes", node))
        most_gbs = machine.node_shapes[node].imc_bandwidth_gbs or Decimal(0)
        _check_something_left(gbs, most_gbs, f"the controller of node {node}", (*path, "nodes", node))
    links = model.background.links
    of_links = {(each.source, each.target): each.bandwidth_gbs for each in machine.directed_links()} if links else {}
    for index, link in enumerate(links):
        what = f"link from node {link.source} to node {link.target}"
        if (link.source, link.target) not in of_links:
            expected = _links_beside(link.source, sorted(of_links))
            problem = f"there is no {what} on machine {machine.name!r}"
            raise InputError(problem, path=(*path, "links", index), expected=expected)
        most_gbs = of_links[link.source, link.target]
        _check_something_left(link.gbs, most_gbs, f"the {what}", (*path, "links", index, "gbs"))


def _check_node(machine: MachineSpec, node: int, path: FieldPath) -> None:
    if node >= machine.node_count:
        problem = f"there is no node {node} on machine {machine.name!r}"
        raise InputError(problem, path=path, expected=f"0 to {machine.node_count - 1}")
    with_memory = [number for number, each in enumerate(machine.node_shapes) if each.memory]
    if node not in with_memory:
        problem = f"node {node} of machine {machine.name!r} has no memory"
        raise InputError(problem, path=path, expected=f"one of nodes {as_list(with_memory)}")


def _links_beside(node: int, links: Sequence[tuple[int, int]]) -> str:
    """Return a text about ``links``: those that leave ``node`` or, if there are none, which nodes have some."""
    if not links:
        return "no links, since the machine has one node"
    targets = " or ".join(str(target) for source, target in links if source == node)
    return f"a link from node {node} to node {targets}" if targets else f"nodes 0 to {links[-1][0]}"


def _check_something_left(load_gbs: Decimal, most_gbs: Decimal, what: str, path: FieldPath) -> None:
    if bytes_per_s(load_gbs) >= bytes_per_s(most_gbs):
        raise InputError(
            f"{load_gbs} GB/s leave nothing of {what} to the program", path=path, expected=f"less than {most_gbs} GB/s"
        )


CHECKS: tuple[tuple[tuple[str, str], Callable[..., None]], ...] = (  # fields that have to fit together, and the check
    (("machine", "workers"), check_workers),
    (("workload", "workers"), check_team),
    (("machine", "strategy"), check_placement),
    (("machine", "model"), check_background),
)

# ---- Whether the times and sizes of a program fit into the engines' integers -----------------------------------------
#
# The parameters of a workload family are checked when they are read (`numasim.workload.parameters`). The time of a
# program also depends on the machine, and its number of threads on the workers of the run.


class Distances(Frozen):
    """The longest time of a load on a machine, in ps, and the machine's number of nodes."""

    farthest_ps: int
    nodes: int

    @classmethod
    def of(cls, machine: Machine) -> Distances:
        """Return the distances of ``machine``; a load that hits a cache may be the longest."""
        hits_ps = machine.caches.llc_hit_ps, machine.caches.llc_remote_hit_ps
        return cls(max(int(machine.latency_ps.max()), *hits_ps), machine.nodes)


def check_distances(machine: MachineSpec, distances: Distances) -> None:
    """Raise InputError for a machine whose latencies exceed the largest that engines can hold."""
    if distances.farthest_ps > MOST_COST_PS:
        problem = f"the latency of the farthest memory of {machine.name!r} is {distances.farthest_ps:,} ps"
        raise InputError(problem, path=("machine",), expected=f"at most {MOST_COST_PS:,} ps")


def check_size(workload: WorkloadParameters, workers: int, model: ModelSpec, distances: Distances) -> None:
    """Raise InputError, with the path of the field, for a program whose times or sizes exceed the engines' integers."""
    parameters, given = workload, workload.model_fields_set
    if isinstance(parameters, TeamParameters):
        parameters = parameters.for_team(workers)
    mlp_ppm = max(1, ppm(model.mlp))
    found = refusal(parameters, lambda totals: excess(totals) or too_long(totals, distances, mlp_ppm), given)
    if found:
        raise InputError(found.sentence, path=("workload", found.key) if found.key in given else ("workload",))


def check_built(work: Workload, machine: Machine, mlp_ppm: int) -> None:
    """Raise InputError for a program from a file or from draws that is larger than engines can hold."""
    totals = totals_of(work)
    distances = Distances.of(machine)
    if problem := excess(totals) or too_long(totals, distances, mlp_ppm):
        raise InputError(f"{work.name!r} {problem}", path=("workload",), expected="a smaller program")


def too_long(totals: Totals, distances: Distances, mlp_ppm: int = MILLION) -> str | None:
    """Return the end of a sentence on times that do not fit in 63 bits if all data are farthest away, else None."""
    latency_ps = distances.farthest_ps
    if totals.access_lines * latency_ps * THOUSAND > MOST_PS:
        return f"moves {totals.access_lines:,} lines in one access, too many where a miss takes {latency_ps:,} ps"
    found = totals.serial_ps(latency_ps, distances.nodes, mlp_ppm)
    if found > MOST_PS:
        return f"takes up to {found:,} ps of work, and at most {MOST_PS:,} fit"
    return None
