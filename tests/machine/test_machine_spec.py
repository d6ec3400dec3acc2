from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from numasim.errors import InputError
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.sources import unsourced

Make = Callable[..., dict[str, Any]]
LINES = {"same_core_ns": 1, "same_socket_ns": 15}
MATRIX = [[1, 2, 3, 4]] * 4  # of the four cores of two nodes
NODES = {"cores": 2, "memory": "1GiB", "imc_bandwidth_gbs": 10}


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"links": [{"between": [0, 2], "bandwidth_gbs": 5}]}, ("links", 0), "node 2, which does not exist"),
        ({"links": [{"between": [1, 1], "bandwidth_gbs": 5}]}, ("links", 0), "to itself"),
        (
            {"links": [{"between": [0, 1], "bandwidth_gbs": 5}, {"from": 1, "to": 0, "bandwidth_gbs": 5}]},
            ("links", 1),
            "from node 1 to node 0 is given twice",
        ),
        ({"links": None}, ("links",), "node 1 cannot be reached from node 0"),
        ({"links": [{"from": 0, "to": 1, "bandwidth_gbs": 5}]}, ("links",), "no way back from node 1"),
        ({"latency_ns": [[1, 2]]}, ("latency_ns",), "1 rows; expected 2 rows of 2"),
        ({"latency_ns": [[1, 2], [1]]}, ("latency_ns", 1), "1 latencies; expected 2 rows of 2"),
        ({"local_latency_ns": None}, (), "no latency is given; expected latency_ns"),
        ({"hop_latency_ns": None}, ("links", 0), "from node 0 to node 1 has no latency"),
        ({"mesh": {"rows": 2, "columns": 2, "bandwidth_gbs": 1}}, ("mesh",), "2 x 2 has 4 nodes, the machine has 2"),
        ({"routes": [[0, 0]]}, ("routes", 0), "two or more different nodes"),
        ({"routes": [[0, 5]]}, ("routes", 0), "no link leads from node 0 to node 5"),
        ({"routes": [[0, 1], [0, 1]]}, ("routes", 1), "given twice"),
        (
            {"clock": {"base_ghz": 2, "turbo": [{"active": 2, "ghz": 3}, {"active": 1, "ghz": 4}]}},
            ("clock", "turbo", 1),
            "out of order",
        ),
        (
            {"clock": {"base_ghz": 2, "turbo": [{"active": 1, "ghz": 3}, {"active": 2, "ghz": 4}]}},
            ("clock", "turbo", 1),
            "out of order",
        ),
        ({"clock": {"base_ghz": 2, "turbo": [{"active": 3, "ghz": 3}]}}, ("clock", "turbo", 0), "at most 2 active"),
        ({"clock": {"base_ghz": 2, "turbo": [{"active": 1, "ghz": 1}]}}, ("clock", "turbo", 0), "at least 2 GHz"),
        ({"nodes": {**NODES, "threads_per_core": 2}}, ("nodes", "threads_per_core"), "need smt"),
        (
            {"nodes": {**NODES, "per_socket": 600}},
            ("nodes",),
            "1200 nodes, 2 sockets of 600; expected at most 1024 nodes",
        ),
        ({"nodes": {**NODES, "cores": 60_000}}, ("nodes",), "120000 hardware threads"),
        ({"coherence": {"same_core_ns": 1, "same_socket_ns": 2}}, ("coherence",), "needs cross_socket_ns"),
        ({"coherence": {"same_core_ns": 1}}, ("coherence",), "same_socket_ns is missing; expected same_core_ns and"),
        ({"coherence": {}}, ("coherence",), "same_core_ns is missing; expected same_core_ns and same_socket_ns, or"),
        (
            {"coherence": {"same_core_ns": 1, "same_socket_ns": 2, "cross_socket_ns": [3, 4]}},
            ("coherence", "cross_socket_ns"),
            "2 times are given for 1 pair of sockets; expected at most one time for each different latency",
        ),
        ({"coherence": {"cores_ns": MATRIX[:3]}}, ("coherence", "cores_ns"), "has 3 rows; expected 4 rows of 4 times"),
        (
            {"coherence": {"cores_ns": [*MATRIX[:3], [1, 2]]}},
            ("coherence", "cores_ns", 3),
            "the row has 2 times; expected 4 rows of 4 times, one row a core",
        ),
        (
            {"coherence": {"cores_ns": MATRIX, "same_llc_ns": 2}},
            ("coherence",),
            "cores_ns and same_llc_ns are given; expected either cores_ns, a matrix of all cores, or times by level",
        ),
        ({"page": "3KiB"}, ("page",), "no power of two"),
        ({"page": "32B"}, ("line",), "larger than a page"),
        ({"sources": {"node.memory": "x"}}, ("sources", "node.memory"), "did you mean 'nodes.memory'?"),
        ({"sources": {"nodes": " "}}, ("sources", "nodes"), "is empty"),
    ],
)
def test_inconsistent_machine_is_refused_at_its_field(
    document: Make, changes: dict[str, Any], path: tuple[str | int, ...], words: str
) -> None:
    with pytest.raises(InputError) as caught:
        MachineSpec.model_validate(document(**changes))
    assert caught.value.path == path
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"nodes": {**NODES, "cores": 0}}, ("nodes", "cores")),
        ({"sockets": 0}, ("sockets",)),
        ({"sockets": "two"}, ("sockets",)),
        ({"latency_ns": [[1, -2], [2, 1]]}, ("latency_ns", 0, 1)),
        ({"latency_ns": [[1, float("nan")], [2, 1]]}, ("latency_ns", 0, 1)),
        ({"local_latency_ns": 0.0001}, ("local_latency_ns",)),
        ({"coherence": {**LINES, "cross_socket_ns": []}}, ("coherence", "cross_socket_ns")),
        ({"coherence": {**LINES, "cross_socket_ns": [38, -1]}}, ("coherence", "cross_socket_ns", 1)),
        ({"coherence": {**LINES, "cross_socket_ns": "far"}}, ("coherence", "cross_socket_ns")),
        ({"coherence": {**LINES, "same_llc_ns": [1]}}, ("coherence", "same_llc_ns")),
        ({"coherence": {"cores_ns": [[1, "x"], [2, 1]]}}, ("coherence", "cores_ns", 0, 1)),
        ({"coherence": {"cores_ns": 5}}, ("coherence", "cores_ns")),
        ({"links": [{"between": [0, 1], "bandwidth_gbs": 0}]}, ("links", 0, "bandwidth_gbs")),
        ({"links": [{"from": 0, "bandwidth_gbs": 1}]}, ("links", 0)),
        ({"links": [{"from": 0, "to": 1, "between": [0, 1], "bandwidth_gbs": 1}]}, ("links", 0)),
        ({"links": [{"between": [0, -1], "bandwidth_gbs": 1}]}, ("links", 0, "between", 1)),
        ({"caches": {"llc": "8MiB"}}, ("caches",)),
        ({"caches": {"llc_scope": "socket"}}, ("caches",)),
        ({"caches": {"llc": "8MiB", "llc_scope": "chip"}}, ("caches", "llc_scope")),
        ({"nodes": {**NODES, "memory": "1 GB"}}, ("nodes", "memory")),
        ({"name": "a b"}, ("name",)),
        ({"speed": 1}, ("speed",)),
    ],
)
def test_bad_value_is_refused_at_its_field(
    document: Make, changes: dict[str, Any], path: tuple[str | int, ...]
) -> None:
    with pytest.raises(ValidationError) as caught:
        MachineSpec.model_validate(document(**changes))
    found = [
        tuple(part for part in error["loc"] if part not in ("mapping", "list", "number"))
        for error in caught.value.errors()
    ]
    assert found == [path], "but for the name of a union's branch"


def test_both_directions_and_parallel_links(document: Make) -> None:
    spec = MachineSpec.model_validate(document(links=[{"between": [1, 0], "bandwidth_gbs": 7.2, "count": 2}]))
    directions = [(link.source, link.target, float(link.bandwidth_gbs)) for link in spec.directed_links()]
    assert directions == [(1, 0, 14.4), (0, 1, 14.4)]


def test_numbers_without_source_are_listed(document: Make) -> None:
    given = ("sockets", "nodes", "caches.l1", "coherence", "clock.base_ghz", "links.between")
    spec = MachineSpec.model_validate(document(sources=dict.fromkeys(given, "measured")))
    without = "caches.l2 caches.llc caches.llc_hit_ns hop_latency_ns links.bandwidth_gbs local_latency_ns"
    assert unsourced(spec) == without.split()


def test_contents_have_no_field_that_a_file_leaves_out(document: Make, shipped: dict[str, MachineSpec]) -> None:
    """A new optional field does not change the identity of earlier runs; no shipped machine has one of these fields."""
    optional = ("core_steps_per_s", "link_bandwidth_gbs", "llc_cores", "llc_sizes")
    assert [name for name in optional for spec in shipped.values() if name in spec.contents_json] == []
    assert "link_bandwidth_gbs" in MachineSpec.model_validate(document(link_bandwidth_gbs=9)).contents_json
