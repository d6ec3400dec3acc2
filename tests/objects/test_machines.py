"""Machines as objects: topologies by hand, values and where they come from, there and back through files, errors."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import numasim as ns
from numasim.errors import InputError
from numasim.parts import catalog
from numasim.parts.models.sources import unsourced
from numasim.spec.identity import run_id, spec_hash
from numasim.spec.one_run import load_run
from numasim.spec.sweep_spec import load_sweep

RUN = {"workload": {"name": "fib", "n": 5}, "strategy": "randomized", "workers": 2}


def test_a_ring_of_four_sockets() -> None:
    ring = ns.Machine.ring(4, cores=6, threads_per_core=2, local_latency_ns=80, hop_latency_ns=40)
    assert (ring.nodes, ring.sockets, ring.cores, ring.threads) == (4, 4, 24, 48)
    assert ring.hops.tolist() == [[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]]
    assert ring.latency_ns.tolist() == (80 + 40 * ring.hops).tolist()
    assert ring.memory_bytes.tolist() == [32 * 2**30] * 4
    assert ring.check() == []


def test_other_topologies() -> None:
    assert ns.Machine.fully_connected(4).hops.tolist() == (1 - np.eye(4, dtype=int)).tolist()
    mesh = ns.Machine.mesh(8, 8)
    assert (mesh.nodes, mesh.hops[0, 63], mesh.hops[9, 18]) == (64, 14, 2)
    assert ns.Machine.twisted_ladder(8).hops.max() == 3
    assert ns.Machine.ring(1).hops.tolist() == [[0]]


def test_like_gives_nodes_and_distances() -> None:
    shipped = ns.Machine.shipped("opteron-875-8s")
    ladder = ns.Machine.twisted_ladder(8, like=shipped)
    assert np.array_equal(ladder.latency_ns, shipped.latency_ns)
    assert np.array_equal(ladder.built.links.bytes_per_s, shipped.built.links.bytes_per_s)
    assert ladder.cores == shipped.cores
    measured = ns.Machine.fully_connected(2, like="xeon-e5-2620-2s")  # 75.0 ns at best, 122.8 to the other node
    assert measured.latency_ns.tolist() == [[75.0, 122.8], [122.8, 75.0]]
    with pytest.raises(InputError, match=r"the nodes of 'xeon-8480-2s-cxl' are unlike each other"):
        ns.Machine.ring(4, like="xeon-8480-2s-cxl")


@pytest.mark.parametrize("machine", ["ring", "fully_connected"])
def test_every_number_has_a_source(machine: str) -> None:
    made = getattr(ns.Machine, machine)(4, cores=4, threads_per_core=2)
    assert unsourced(made.spec) == []
    assert made.sources["nodes.cores"] == "given in Python"
    assert made.sources["caches"].startswith("assumed")
    assert unsourced(getattr(ns.Machine, machine)(4, like="opteron-8380-4s").spec) == []


def test_a_changed_machine_keeps_the_rest_and_says_what_changed() -> None:
    machine = ns.Machine.shipped("xeon-e5-2620-2s")
    wider = machine.with_(nodes={"cores": 8})
    assert (machine.cores, wider.cores, wider.threads) == (12, 16, 32)
    assert wider.name == "xeon-e5-2620-2s+nodes.cores-8"
    assert wider.sources["nodes.cores"] == "given in Python"
    assert wider.sources["nodes.memory"] == machine.sources["nodes.memory"]
    assert machine.with_(**{"nodes.cores": 8}).contents == wider.contents
    assert machine.with_(nodes={"cores": 8}, name="wide").name == "wide"
    assert (
        machine.with_(links=[{"between": [0, 1], "bandwidth_gbs": 4}]).name
        != machine.with_(links=[{"between": [0, 1], "bandwidth_gbs": 3}]).name
    )


def test_nodes_are_changed_as_they_were_made() -> None:
    ring = ns.Machine.ring(4, cores=8, memory="64GiB")
    more = ring.with_(cores=16, name="more")
    assert more == ring.with_(nodes={"cores": 16}, name="more")
    assert (more.cores, int(more.memory_bytes[0])) == (64, 64 * 2**30)
    assert ns.Machine(ring, cores=16, name="more") == more
    small = ring.with_(cores=2, **{"nodes.memory": "1GiB"})
    assert (small.cores, int(small.memory_bytes[0])) == (8, 2**30)


def test_machines_do_not_change() -> None:
    machine = ns.Machine.ring(2)
    with pytest.raises(AttributeError, match=r"a machine does not change; with_\(page=...\) makes another one"):
        machine.page = 5
    assert machine == ns.Machine.ring(2)
    assert len({machine, ns.Machine.ring(2), ns.Machine.ring(3)}) == 2
    assert pickle.loads(pickle.dumps(machine)) == machine


@pytest.mark.parametrize("name", catalog.names("machines"))
def test_shipped_machines_go_there_and_back(name: str, tmp_path: Path) -> None:
    machine = ns.Machine.shipped(name)
    path = machine.save(tmp_path / "machine.yaml")
    assert ns.Machine.read(path) == machine
    assert ns.Machine(**machine.specified()) == machine


def test_however_it_is_said_a_machine_gives_the_same_run() -> None:
    name = "opteron-8380-4s"
    machine = ns.Machine.shipped(name)
    said = [name, {"like": name}, machine.specified(), machine, machine.with_(name="mine")]
    assert len({run_id(load_run({**RUN, "machine": each}), 1) for each in said}) == 1
    assert len({spec_hash(load_sweep({**RUN, "machine": each})) for each in said}) == 1
    assert run_id(load_run(RUN, changes={"machine": machine}), 1) == run_id(load_run({**RUN, "machine": name}), 1)


def test_lines_of_another_machine_are_taken_over() -> None:
    """A list of times between sockets becomes the time between the nearest; a matrix belongs to its own cores."""
    wide = ns.Machine.ring(4).with_(**{"coherence.cross_socket_ns": [80, 120]})
    assert ns.Machine.ring(2, like=wide).specified()["coherence"]["cross_socket_ns"] == 80
    matrix = [[5 if a == b else 9 for b in range(16)] for a in range(16)]
    measured = ns.Machine.ring(2, name="mine", coherence={"cores_ns": matrix})
    assert list(measured.specified()["coherence"]) == ["cores_ns"]
    with pytest.raises(InputError, match=r"coherence of 'mine' is a matrix of its own cores; expected coherence"):
        ns.Machine.ring(4, like=measured)
    times = {"same_core_ns": 5, "same_socket_ns": 20, "cross_socket_ns": 60}
    assert ns.Machine.ring(4, like=measured, coherence=times).specified()["coherence"] == times


def test_machines_are_an_axis(tmp_path: Path) -> None:
    ring, other = ns.Machine.ring(4), ns.Machine.ring(4, hop_latency_ns=70)
    same_name = ring.with_(page="64KiB", name="ring-4")
    axes = {"machine": [ring, other, same_name, "tilepro64"], "workers": [1, 2]}
    frame = ns.sweep({**RUN, "sweep": axes}, tmp_path / "a", jobs=1).to_frame()
    names = ["ring-4", "ring-4+hop_latency_ns-70", "ring-4 (2)", "tilepro64"]
    assert frame["machine"].tolist() == [name for name in names for _ in range(2)]
    spec = tmp_path / "a" / "spec.yaml"
    assert spec_hash(load_sweep(spec)) == spec_hash(load_sweep({**RUN, "sweep": axes}))
    shards = len(list((tmp_path / "a" / "shards").iterdir()))
    ns.sweep(spec, tmp_path / "a", jobs=1)
    assert len(list((tmp_path / "a" / "shards").iterdir())) == shards


def test_equal_machines_on_an_axis_are_refused() -> None:
    axes = {"machine": [ns.Machine.ring(4), ns.Machine.ring(4, name="again")]}
    with pytest.raises(InputError, match=r"the value the machine 'again' stands here twice"):
        load_sweep({**RUN, "sweep": axes})


REFUSED = {
    "there is no machine 'opteron'.*did you mean 'opteron-875-8s'": lambda: ns.Machine.shipped("opteron"),
    "machine.nodes.cores: got 0; expected at least 1": lambda: ns.Machine.ring(4, cores=0),
    "machine.nodes: got 0 nodes; expected at least one": lambda: ns.Machine.mesh(0, 4),
    "a twisted ladder cannot have 6 nodes": lambda: ns.Machine.twisted_ladder(6),
    r"there is no field 'core' here; expected cores, .*; did you mean 'cores'": lambda: ns.Machine.ring(4, core=3),
    "no field 'memroy' here; .* did you mean 'memory'": lambda: ns.Machine.ring(4).with_(memroy="1GiB"),
    "there is no machine 'tilepro'.*did you mean 'tilepro64'": lambda: ns.Machine("tilepro"),
    "there is no field 'coers'": lambda: ns.Machine.ring(4, coers=3),
    "cores and nodes are given": lambda: ns.Machine.mesh(2, 2, cores=3, nodes={"memory": "1GiB"}),
    "machine.nodes.corse|there is no field 'corse'": lambda: ns.Machine.ring(4).with_(**{"nodes.corse": 3}),
    "got the strategy 'ring'; expected the name of a machine": lambda: load_run(
        {**RUN, "machine": ns.Strategy.shipped("ring")}
    ),
    "workers: a whole number is needed here, got the machine 'ring-2'": lambda: load_run(
        {**RUN, "machine": "tilepro64", "workers": ns.Machine.ring(2)}
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_refused(message: str) -> None:
    with pytest.raises(InputError, match=message):
        REFUSED[message]()


def test_a_machine_of_hwloc() -> None:
    file = next((Path(__file__).parents[1] / "machine" / "hwloc").glob("*.xml"))
    machine = ns.Machine.from_hwloc(file, name="theirs")
    assert machine.name == "theirs"
    assert machine.cores > 0
