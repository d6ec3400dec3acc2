"""Whether the parts of a run go together: workers, threads, nodes and background loads that the machine has."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from numasim.errors import InputError
from numasim.parts.base import bytes_per_s
from numasim.parts.number_lists import as_list
from numasim.parts.validation import placed
from numasim.parts.yaml.nodes import FieldPath, Node
from numasim.workload.parameters import TeamParameters

if TYPE_CHECKING:
    from numasim.parts.models.effects_model import BackgroundSpec
    from numasim.parts.models.machine_model import MachineSpec
    from numasim.parts.models.strategy_model import StrategySpec
    from numasim.workload.parameters import AnyWorkload


def check_workers(machine: MachineSpec, workers: int, document: Node) -> None:
    """InputError, as in all of these functions placed in ``document``, for more workers than hardware threads."""
    if workers > machine.threads:
        raise InputError(
            f"got {workers} workers, but {machine.name!r} has {machine.threads} hardware threads",
            path=("workers",),
            place=str(document.mapping()["workers"].place) or None,
            expected=f"1 to {machine.threads}",
        )


def check_team(workload: AnyWorkload, workers: int, document: Node) -> None:
    """InputError for more threads that wait for each other than workers."""
    if isinstance(workload, TeamParameters) and workload.team > workers:
        raise InputError(
            f"got {workload.team} threads, which wait for each other, but {workers} workers",
            path=("workload", "threads"),
            place=str(document.mapping()["workload"].place) or None,
            expected=f"1 to {workers}, or nothing for one on each worker",
        )


def check_placement(machine: MachineSpec, strategy: StrategySpec, document: Node) -> None:
    """InputError for a page placement that names a node which the machine has not, or which has no memory."""
    nodes = machine.node_count
    with_memory = [number for number, node in enumerate(machine.node_shapes) if node.memory]
    for policy in strategy.whole_placement.policies:
        for node in policy.named_nodes:
            if node < nodes and node not in with_memory:
                raise InputError(
                    f"node {node} of machine {machine.name!r} has no memory",
                    path=("strategy", "placement"),
                    place=str(document.mapping()["strategy"].place) or None,
                    expected=f"one of nodes {as_list(with_memory)}",
                )
            if node >= nodes:
                raise InputError(
                    f"there is no node {node} on machine {machine.name!r}",
                    path=("strategy", "placement"),
                    place=str(document.mapping()["strategy"].place) or None,
                    expected=f"0 to {nodes - 1}",
                )


def check_background(machine: MachineSpec, background: BackgroundSpec, document: Node) -> None:
    """InputError for a load of something that the machine has not, or that leaves nothing of it."""
    try:
        _check_node_loads(machine, background)
        _check_link_loads(machine, background)
    except InputError as error:
        raise placed(error, document) from None


def _check_node_loads(machine: MachineSpec, background: BackgroundSpec) -> None:
    for node, gbs in background.nodes.items():
        path = ("model", "background", "nodes", node)
        if node >= machine.node_count:
            raise InputError(
                f"there is no node {node} on machine {machine.name!r}",
                path=path,
                expected=f"0 to {machine.node_count - 1}",
            )
        bandwidth_gbs = machine.node_shapes[node].imc_bandwidth_gbs
        if bandwidth_gbs is None:
            raise InputError(
                f"node {node} of machine {machine.name!r} has no memory", path=path, expected="nodes with memory"
            )
        _check_something_left(gbs, bandwidth_gbs, f"the controller of node {node}", path)


def _check_link_loads(machine: MachineSpec, background: BackgroundSpec) -> None:
    if not background.links:
        return
    bandwidth_gbs = {(each.source, each.target): each.bandwidth_gbs for each in machine.directed_links()}
    for index, link in enumerate(background.links):
        path, ends = ("model", "background", "links", index), (link.source, link.target)
        if ends not in bandwidth_gbs:
            raise InputError(
                f"there is no link from node {link.source} to node {link.target} on machine {machine.name!r}",
                path=path,
                expected=_links_beside(link.source, sorted(bandwidth_gbs)),
            )
        what = f"the link from node {link.source} to node {link.target}"
        _check_something_left(link.gbs, bandwidth_gbs[ends], what, (*path, "gbs"))


def _links_beside(node: int, links: Sequence[tuple[int, int]]) -> str:
    """What to take for a link that is not there: one that leaves ``node``, or, if there is none, any node that has."""
    if not links:
        return "no links, since the machine has one node"
    targets = " or ".join(str(target) for source, target in links if source == node)
    return f"a link from node {node} to node {targets}" if targets else f"nodes 0 to {links[-1][0]}"


def _check_something_left(load_gbs: Decimal, most_gbs: Decimal, what: str, path: FieldPath) -> None:
    if bytes_per_s(load_gbs) >= bytes_per_s(most_gbs):
        raise InputError(
            f"{load_gbs} GB/s leave nothing of {what} to the program", path=path, expected=f"less than {most_gbs} GB/s"
        )
