"""Machines and strategies as objects: made of fields and of each other, through files; the lists of shipped names."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import numasim as ns
from numasim.errors import InputError
from numasim.objects.shipped import Shipped
from numasim.parts import catalog
from numasim.parts.models.sources import unsourced
from numasim.spec.identity import run_id, spec_hash
from numasim.spec.one_run import load_run
from numasim.spec.sweep_spec import load_sweep

RUN = {"workload": {"name": "fib", "n": 5}, "strategy": "randomized", "workers": 2}
ON_XEON = {"machine": "xeon-e5-2620-2s", "workload": {"name": "fib", "n": 5}, "workers": 2}
KINDS = {"machines": ns.Machine, "strategies": ns.Strategy}
SHIPPED = [(kind, name) for kind in KINDS for name in catalog.names(kind)]


def test_a_ring_of_four_sockets() -> None:
    ring = ns.Machine.ring(4, cores=6, threads_per_core=2, local_latency_ns=80, hop_latency_ns=40)
    assert (ring.nodes, ring.sockets, ring.cores, ring.threads) == (4, 4, 24, 48)
    assert ring.hops.tolist() == [[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]]
    assert ring.latency_ns.tolist() == (80 + 40 * ring.hops).tolist()
    assert ring.memory_bytes.tolist() == [32 * 2**30] * 4
    assert ring.check() == []


def test_like_gives_nodes_and_distances() -> None:
    shipped = ns.Machine.shipped("opteron-875-8s")
    ladder = ns.Machine.twisted_ladder(8, like=shipped)
    assert np.array_equal(ladder.latency_ns, shipped.latency_ns)
    assert np.array_equal(ladder.built.links.bytes_per_s, shipped.built.links.bytes_per_s)
    assert ladder.cores == shipped.cores
    measured = ns.Machine.fully_connected(2, like="xeon-e5-2620-2s")  # latencies: local 75.0 ns, remote 122.8 ns
    assert measured.latency_ns.tolist() == [[75.0, 122.8], [122.8, 75.0]]


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


@pytest.mark.parametrize(("kind", "name"), SHIPPED)
def test_shipped_parts_go_there_and_back(kind: str, name: str, tmp_path: Path) -> None:
    part = KINDS[kind].shipped(name)
    assert KINDS[kind].read(part.save(tmp_path / "part.yaml")) == part
    assert KINDS[kind](**part.specified()) == part


def test_however_it_is_said_a_machine_gives_the_same_run() -> None:
    name = "opteron-8380-4s"
    machine = ns.Machine.shipped(name)
    said = [name, {"like": name}, machine.specified(), machine, machine.with_(name="mine")]
    assert len({run_id(load_run({**RUN, "machine": each}), 1) for each in said}) == 1
    assert len({spec_hash(load_sweep({**RUN, "machine": each})) for each in said}) == 1
    assert run_id(load_run(RUN, changes={"machine": machine}), 1) == run_id(load_run({**RUN, "machine": name}), 1)


def test_lines_of_another_machine_are_taken_over() -> None:
    """With ``like``, a machine takes over the shortest of a list of times between sockets, and no matrix of cores."""
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
    "the value the machine 'again' stands here twice": lambda: load_sweep(
        {**RUN, "sweep": {"machine": [ns.Machine.ring(4), ns.Machine.ring(4, name="again")]}}
    ),
    "the nodes of 'xeon-8480-2s-cxl' are unlike each other": lambda: ns.Machine.ring(4, like="xeon-8480-2s-cxl"),
    "there is no strategy 'treshold'.*did you mean 'threshold'": lambda: ns.Strategy("treshold"),
    "no strategy 'tresholt'.*did you mean 'threshold'": lambda: ns.Strategy(like="tresholt", amount="half"),
    "got the machine 'ring-2'; expected the name of a strategy": lambda: ns.Strategy(like=ns.Machine.ring(2), amount=1),
    r"strategy.steal\[0\].from": lambda: ns.Strategy(steal=[{"from": "other"}]),
    "there is no worker 9; expected a worker from 0 to 3": lambda: ns.Strategy("ring").explain(
        "tilepro64", 4, worker=9
    ),
    "did you mean 'randomized'": lambda: catalog.described("strategies", "randomised"),
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


# ---- strategies ----


def test_a_strategy_of_its_own() -> None:
    mine = ns.Strategy(name="mine", steal=[{"from": "own-node", "tries": 2}, {"from": "others", "amount": "half"}])
    assert mine.name == "mine"
    assert [level.source for level in mine.spec.steal] == ["own-node", "others"]
    assert repr(mine) == "Strategy('mine': 2 steal levels, help-first)"


def test_like_merges_and_names() -> None:
    assert ns.Strategy("threshold") == ns.Strategy.shipped("threshold")
    half = ns.Strategy(like="threshold", amount="half")
    assert (half.name, half.spec.amount, half.spec.steal) == (
        "threshold+amount-half",
        "half",
        ns.Strategy.shipped("threshold").spec.steal,
    )
    assert half.with_(thresholds={"max": 9}, name="x").spec.thresholds.max == 9  # type: ignore[union-attr]
    by_name = load_run({**ON_XEON, "strategy": {"like": "threshold", "amount": "half"}})
    assert run_id(load_run({**ON_XEON, "strategy": half}), 1) == run_id(by_name, 1)
    nested = load_run({**ON_XEON, "strategy": {"like": ns.Strategy.shipped("threshold"), "amount": "half"}})
    assert run_id(nested, 1) == run_id(by_name, 1)


def test_a_strategy_is_explained() -> None:
    page = ns.Strategy.shipped("steal-half")._repr_html_()
    assert "amount: half" in page
    assert "It looks for work level by level" in page


def test_what_a_worker_does_in_words() -> None:
    text = ns.Strategy.shipped("topology-aware").explain(ns.Machine.ring(2, cores=2), workers=4)
    assert "worker 0 of 4" in text
    assert "deque 2" in text  # worker 0 and worker 2 are on node 0


# ---- the lists of shipped names ----


@pytest.mark.parametrize("kind", ["machines", "strategies", "runtimes", "sweeps", "workloads"])
def test_everything_shipped_has_a_line(kind: str) -> None:
    listed = getattr(ns, kind)()
    if kind in catalog.KINDS:
        assert list(listed) == list(catalog.names(kind))
    for line in listed.values():
        assert line.endswith(".")
        assert "\n" not in line
        assert "``" not in line
        assert 15 < len(line) <= 120


def test_the_line_is_the_first_sentence_of_the_comment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "numasim" / "configs" / "machines"
    folder.mkdir(parents=True)
    monkeypatch.setattr(catalog, "_PACKAGE", tmp_path / "numasim")
    texts = {
        "long": "# The machine of B. Vikranth, 2.5 GHz,\n# on two lines. Another sentence.\nname: long\n# no comment\n",
        "short": "# No full stop\nname: short\n",
        "none": "name: none\n# Too late.\n",
    }
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text)
    listed = ns.machines()
    assert listed == {"long": "The machine of B. Vikranth, 2.5 GHz, on two lines.", "none": "", "short": "No full stop"}
    assert repr(listed) == "long   The machine of B. Vikranth, 2.5 GHz, on two lines.\nnone\nshort  No full stop"


def test_a_list_is_a_table_for_pandas_and_notebooks() -> None:
    shipped = Shipped("machine", {"b<": "x & y", "a": "z"})
    frame = shipped.to_frame()
    assert frame.index.tolist() == ["a", "b<"]
    assert frame.index.name == "machine"
    assert frame["description"].tolist() == ["z", "x & y"]
    assert "<code>b&lt;</code>" in shipped._repr_html_()
    assert "x &amp; y" in shipped._repr_html_()
