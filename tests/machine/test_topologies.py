"""Topologies that a machine file names, such as ``ring``: their links by hand and by networkx, and refused forms."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.machine.topology import Machine
from numasim.parts.models import interconnect as topologies
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.validation import validate
from numasim.parts.yaml.document import parse
from numasim.parts.yaml.nodes import Source
from numasim.spec.part_reader import PartReader
from numasim.spec.single_part import read_machine

BASE = "sockets: {}\nnodes: {{cores: 2, memory: 1GiB, imc_bandwidth_gbs: 10}}\n"
BASE += "caches: {{}}\nlocal_latency_ns: 80\ncoherence: {{same_core_ns: 1, same_socket_ns: 2, cross_socket_ns: 3}}\n"
BASE += "clock: {{base_ghz: 2}}\nname: test\n"


def machine(nodes: int, text: str) -> Machine:
    return build(spec_of(nodes, text))


def spec_of(nodes: int, text: str) -> MachineSpec:
    node = parse(BASE.format(nodes) + text, Source("test.yaml", None))  # type: ignore[arg-type]
    return validate(MachineSpec, PartReader().expand("machine", node), ("machine",))


def pairs(machine: Machine) -> list[tuple[int, int]]:
    return list(zip(machine.links.source.tolist(), machine.links.target.tolist(), strict=True))


def test_a_ring_of_four() -> None:
    ring = machine(4, "links: {topology: ring, bandwidth_gbs: 9, latency_ns: 40}")
    assert pairs(ring) == [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), (0, 3), (3, 0)]
    assert ring.hops(0, 2) == ring.hops(1, 3) == 2
    assert ring.hops(0, 3) == 1
    assert ring.latency_ps[0].tolist() == [80_000, 120_000, 160_000, 120_000]
    assert set(ring.links.bytes_per_s.tolist()) == {9 * 10**9}


@pytest.mark.parametrize(("nodes", "links"), [(1, 0), (2, 1), (3, 3), (8, 8)])
def test_rings_have_each_link_once(nodes: int, links: int) -> None:
    found = list(topologies.ring(nodes))
    assert len(set(found)) == len(found) == links
    if nodes > 2:
        assert nx.is_isomorphic(nx.Graph(found), nx.cycle_graph(nodes))


def test_a_mesh_is_a_grid_in_both_forms() -> None:
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 4), ordering="sorted")
    assert sorted(topologies.mesh(3, 4)) == sorted(tuple(sorted(edge)) for edge in grid.edges)
    rest = "rows: 3, columns: 4, bandwidth_gbs: 9, latency_ns: 1}"
    key, name = machine(12, "mesh: {" + rest), machine(12, "links: {topology: mesh, " + rest)
    assert pairs(key) == pairs(name)
    assert np.array_equal(key.latency_ps, name.latency_ps)


def test_the_twisted_ladder_is_that_of_the_opterons() -> None:
    shipped = build(read_machine("opteron-875-8s"))
    ladder = machine(8, "links: {topology: twisted-ladder, bandwidth_gbs: 4}\nhop_latency_ns: 20")
    assert pairs(ladder) == pairs(shipped)
    assert max(ladder.hops(a, b) for a in range(8) for b in range(8)) == 3


@pytest.mark.parametrize("nodes", [8, 12, 16])
def test_twisted_ladders_join_all_nodes_by_three_links_each(nodes: int) -> None:
    ladder = nx.Graph(list(topologies.twisted_ladder(nodes)))
    assert nx.is_connected(ladder)
    degrees = sorted(degree for _, degree in ladder.degree)
    assert degrees == [2] * 4 + [3] * (nodes - 4)


@pytest.mark.parametrize(
    "text",
    [
        "links: ring\nlink_bandwidth_gbs: 9\nhop_latency_ns: 40",
        "links: {topology: ring, count: 2, bandwidth_gbs: 4.5}\nhop_latency_ns: 40",
        "links: [{between: [0, 1]}, {between: [1, 2]}, {between: [2, 3]}, {between: [0, 3]}]\n"
        "link_bandwidth_gbs: 9\nhop_latency_ns: 40",
    ],
)
def test_other_ways_to_say_the_same_ring(text: str) -> None:
    ring = machine(4, "links: {topology: ring, bandwidth_gbs: 9, latency_ns: 40}")
    other = machine(4, text)
    assert pairs(other) == pairs(ring)
    assert np.array_equal(other.links.bytes_per_s, ring.links.bytes_per_s)
    assert np.array_equal(other.latency_ps, ring.latency_ps)


def test_a_topology_keeps_what_like_leaves() -> None:
    text = "like: opteron-8380-4s\nlinks: {topology: ring, bandwidth_gbs: 5}\n"
    whole = PartReader().expand("machine", parse(text, Source("", None))).plain()  # type: ignore[arg-type]
    assert whole["hop_latency_ns"] == 40
    assert build(validate(MachineSpec, PartReader().expand("machine", parse(text, Source("", None))))).hops(0, 2) == 2  # type: ignore[arg-type]


REFUSED: dict[str, tuple[int, str]] = {
    "links: rin": (4, r"test.yaml:8:8: machine.links: got 'rin'; expected 'ring'.*did you mean 'ring'\?"),
    "links: ring": (4, r"test.yaml:8:1: machine.links: the links have no bandwidth; expected bandwidth_gbs here"),
    "links: 3": (4, r"test.yaml:8:8: machine.links: links are a list, or a topology such as ring"),
    "links: {topology: rin}": (4, r"test.yaml:8:19: machine.links.topology: got 'rin'; expected 'ring'"),
    "links: {topology: ring, rows: 2}": (4, "rows and columns go with topology: mesh, not with topology: ring"),
    "links: {topology: mesh, rows: 2}": (4, "a mesh needs rows and columns"),
    "links: {topology: mesh, rows: 2, columns: 3, bandwidth_gbs: 1}": (4, "a mesh of 2 x 3 has 6 nodes"),
    "links: {topology: twisted-ladder, bandwidth_gbs: 1}": (10, "a twisted ladder cannot have 10 nodes"),
    "links: {topology: ring, bandwidth_gbs: 9}": (4, "the link from node 0 to node 1 has no latency"),
    "links: [{between: [0, 1]}]": (2, r"machine.links\[0\]: the link has no bandwidth"),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text: str) -> None:
    nodes, message = REFUSED[text]
    with pytest.raises(InputError, match=message):
        spec_of(nodes, text)
