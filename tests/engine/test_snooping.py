"""What coherence costs on links, by hand: a line that is fetched is asked for at all nodes (model 2.5)."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from engine_setup import NS, Seen, run, runtime, stealing, toy_with
from task_graphs import Access, Run, body, graph, phase

import numasim as ns
from numasim.engine.simulate import ENGINES
from numasim.machine.build_machine import build
from numasim.machine.topology import Machine
from numasim.plan.effects import Effects
from numasim.plan.line_messages import OnLinks, fetched, written
from numasim.workload.graph import Deal, Mode, Region

HT = {"request_bytes": 8, "answer_bytes": 4}  # HyperTransport
LINES = 100
READY = Region("data", 1 << 20, True)
EVERY_PAIR = list(product(range(4), repeat=2))


def square() -> Machine:
    """Four nodes, of which 0 and 3 are two links apart, and so are 1 and 2."""
    sides = [(0, 1), (0, 2), (1, 3), (2, 3)]
    links = [{"between": side, "bandwidth_gbs": 4} for side in sides]
    routes = [[0, 1, 3], [3, 2, 0], [1, 0, 2], [2, 3, 1]]
    return toy_with({"sockets": 4, "cores": 1}, links=links, routes=routes, snoop=HT)


def on_links(machine: Machine, loads: OnLinks) -> dict[tuple[int, int], int]:
    """Bytes by the ends of a link."""
    links = machine.links
    return {(int(links.source[at]), int(links.target[at])): size for at, size in loads.items()}


# ---- what one line puts on links -----------------------------------------------------------------------------------


def test_without_snooping_a_line_has_its_64_bytes() -> None:
    machine = toy_with({"sockets": 2, "cores": 1})
    assert on_links(machine, fetched(machine, 1, 0)) == {(0, 1): 64}
    assert on_links(machine, written(machine, 1, 0)) == {(1, 0): 64}
    assert fetched(machine, 0, 0) == written(machine, 0, 0) == {}


def test_a_local_line_asks_all_nodes_and_waits_for_their_answers() -> None:
    """Questions go down a tree of three links; the answers of 1 and 2 pass one link, that of 3 two."""
    machine = square()
    questions = {(0, 1): 8, (0, 2): 8, (1, 3): 8}
    answers = {(1, 0): 4, (2, 0): 4 + 4, (3, 2): 4}
    assert on_links(machine, fetched(machine, 0, 0)) == {**questions, **answers}


def test_a_line_from_two_links_away() -> None:
    """Node 0 reads from node 3: a request over 1, questions to all others, the line and answers, an acknowledgement."""
    machine = square()
    assert on_links(machine, fetched(machine, 0, 3)) == {
        (0, 1): 8 + 4,  # the request, in the end the acknowledgement
        (1, 3): 8 + 4,
        (3, 1): 8,
        (3, 2): 8 + 64 + 4,
        (2, 0): 8 + 64 + 4 + 4,  # the last is the answer of 2
        (1, 0): 4,
    }


def test_a_line_that_is_written_back_is_acknowledged() -> None:
    machine = square()
    assert on_links(machine, written(machine, 0, 1)) == {(0, 1): 64 + 8, (1, 0): 4}
    assert written(machine, 0, 0) == {}


def test_a_line_takes_116_bytes_in_the_mean_of_a_square() -> None:
    """A request of 8 over one link, three questions of 8, three answers of 4, a line of 68, an acknowledgement of 4."""
    machine = square()
    total = Counter[int]()
    for node, home in EVERY_PAIR:
        total.update(fetched(machine, node, home))
    assert sum(total.values()) == 16 * (8 + 3 * 8 + 3 * 4 + 68 + 4)


def test_nodes_without_cores_are_not_asked() -> None:
    memory = {"socket": 0, "memory": "1GiB", "imc_bandwidth_gbs": 10}
    links = [{"between": pair, "bandwidth_gbs": 10} for pair in ((0, 1), (0, 2), (1, 2))]
    nodes = [{**memory, "cores": 1}, {**memory, "cores": 1}, memory]
    machine = toy_with({"nodes": 3}, nodes=nodes, links=links, snoop=HT)
    assert on_links(machine, fetched(machine, 0, 0)) == {(0, 1): 8, (1, 0): 4}
    assert on_links(machine, fetched(machine, 0, 2)) == {(0, 2): 8 + 4, (2, 0): 8 + 64 + 4, (2, 1): 8, (1, 0): 4}


# ---- flows ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("reader", "mode", "link", "takes_ns"),
    [
        (0, Mode.READ, 0.8, 1000),  # 10 ns a line: a question of 8 bytes in that time is 0.8 GB/s
        (0, Mode.READ, 0.4, 2000),
        (1, Mode.READ, 3.8, 2000),  # 20 ns a line: 64 + 4 + 8 bytes
        (1, Mode.READ, 1.9, 4000),
        (1, Mode.WRITE, 2.1, 4000),  # 40 ns, fetched and written back: 8 + 4 and 64 + 8 bytes towards the home
        (1, Mode.WRITE, 1.05, 8000),
    ],
)
def test_messages_take_links(engine: str, reader: int, mode: Mode, link: float, takes_ns: int) -> None:
    machine = toy_with({"sockets": 2, "cores": 1}, links=[{"between": (0, 1), "bandwidth_gbs": link}], snoop=HT)
    bodies = [body(), body()]
    bodies[reader] = body(Run(0, (Access(0, 0, 64 * LINES, mode=mode),)))
    work = graph(*bodies, phases=(phase(0, 1, deal=Deal.CYCLIC),), regions=(READY,))
    strategy, how = stealing(placement={"policy": "bind", "node": 0}), runtime(costs={"probe_remote_ns": 100})
    seen = run(work, 2, machine=machine, strategy=strategy, how=how, effects=Effects(contention="fluid"), engine=engine)
    assert seen["makespan_ps"] == takes_ns * NS
    assert seen["link_busy_max"] == pytest.approx(min(1, {0: 0.8, 1: 3.8 if mode == Mode.READ else 2.1}[reader] / link))


# ---- a machine that is shipped -------------------------------------------------------------------------------------


def all_read(machine: Machine, placement: dict[str, object], engine: str) -> Seen:
    """All cores read, each of the regions of its node."""
    size = 1 << 24
    reads = [body(Run(0, (Access(core % machine.nodes, 0, size),))) for core in range(machine.cores)]
    regions = tuple(Region(f"of node {node}", size, True) for node in range(machine.nodes))
    work = graph(*reads, phases=(phase(*range(machine.cores), deal=Deal.CYCLIC),), regions=regions)
    strategy = stealing(placement=placement)
    return run(
        work, machine.cores, machine=machine, strategy=strategy, effects=Effects(contention="fluid"), engine=engine
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("placement", "gbs"),
    [
        ({"policy": "by-region"}, 25),  # what its controllers have, which is what STREAM measures
        # Of 16 lines, one of each pair of nodes, the busiest links carry 2 requests, lines and acknowledgements, 6
        # answers, and the questions of two homes out of four.
        ({"policy": "interleave"}, 3.62 * 64 * 16 / (2 * (8 + 68 + 4) + 6 * 4 + 2 * 4 * 8)),
    ],
)
def test_four_opterons_read(engine: str, placement: dict[str, object], gbs: float) -> None:
    machine = build(ns.Machine("opteron-8380-4s").spec)
    seen = all_read(machine, placement, engine)
    moved = seen["bytes_local"] + seen["bytes_remote"]
    assert moved * 1000 / seen["makespan_ps"] == pytest.approx(gbs, rel=1e-3)


ALL_PAIRS = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


@pytest.mark.parametrize(("pairs", "vendors_gbs"), [(ALL_PAIRS, 29.9), (None, 14.9)])
def test_opterons_that_all_read_from_all_have_the_bandwidth_that_amd_prints(
    pairs: list[tuple[int, int]] | None, vendors_gbs: float
) -> None:
    """Data alone, limited by links ("XFIRE", Conway and Hughes 2007); the rate is derived from the first of the two."""
    shipped = ns.Machine("opteron-8380-4s").spec
    rate = float(shipped.links[0].bandwidth_gbs)
    machine = build(shipped)
    if pairs is not None:
        links = [{"between": pair, "bandwidth_gbs": rate} for pair in pairs]
        machine = toy_with({"sockets": 4, "cores": 1}, links=links, snoop=HT)
    total = Counter[int]()
    for node, home in EVERY_PAIR:
        total.update(fetched(machine, node, home))
    assert 64 * 16 * rate / max(total.values()) == pytest.approx(vendors_gbs, rel=5e-3)
