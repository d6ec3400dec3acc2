"""Full links and controllers carry their bandwidth, to within one part in a thousand, and two carry twice as much.

Every flow alone demands more than the 1.6 GB/s that its link or controller has: 3.2 from the other node, 6.4 from the
own node. So the bottleneck is full as long as any flow runs, and only the time without flows is lost: the first steals,
far below a millionth of the run. Shares are rounded down by at most one in 2**20 of the demands, which here are less
than fifty times the capacity: rounding costs at most the 10,000th part.
"""

from __future__ import annotations

import pytest
from engine_setup import NS, Seen, observe, plan_of, runtime, stealing, toy_with
from task_graphs import Access, Run, Task, body, graph, task

from numasim.machine.topology import Machine
from numasim.plan.effects import Effects
from numasim.workload.graph import Deal, Region, Workload

PART = 1 << 22  # bytes of the data on each node
CAPACITY_GBS = 1.6
BYTES_PER_S = 1_600_000_000
STEPS = 25


def machine(sockets: int, cores: int, controller: float = 100, link: float = 100) -> Machine:
    pairs = [(a, b) for a in range(sockets) for b in range(a + 1, sockets)]
    return toy_with(
        {"sockets": sockets, "cores": cores},
        nodes={"imc_bandwidth_gbs": controller},
        links=[{"between": pair, "bandwidth_gbs": link} for pair in pairs],
    )


def stream(worker: int, home: int) -> Task:
    """Reads of many lengths, so that no two workers begin together again, from the part of the data on ``home``."""
    lengths = [100_000 + (worker * 7919 + step * 104_729) % 1_000_003 for step in range(STEPS)]
    return body(*(Run(0, (Access(0, home * PART, length),)) for length in lengths))


def streams(on: Machine, sources: dict[int, int]) -> Seen:
    """All workers of the machine; those of node ``a`` stream from ``sources[a]``, the others have nothing to do."""
    plan = plan_of(graph(body(1)), on.threads, machine=on)
    nodes = plan.workers.node.tolist()
    bodies = [stream(w, sources[node]) if node in sources else body() for w, node in enumerate(nodes)]
    regions = (Region("data", on.nodes * PART, True),)
    work = graph(*bodies, deal=Deal.CYCLIC, regions=regions)
    return flowing(work, on, stealing(placement="block"))


def flowing(work: Workload, on: Machine, strategy: object) -> Seen:
    how = runtime(poll_ns=100_000, costs={"probe_remote_ns": 100})
    plan = plan_of(work, on.threads, strategy, how, on, effects=Effects(contention="fluid"))  # type: ignore[arg-type]
    return observe(plan)


def bytes_per_s(seen: Seen) -> float:
    return float(seen["bytes_local"] + seen["bytes_remote"]) * 1e12 / float(seen["makespan_ps"])


def test_a_full_link_carries_its_bandwidth() -> None:
    seen = streams(machine(2, 6, link=CAPACITY_GBS), {1: 0})
    assert bytes_per_s(seen) == pytest.approx(BYTES_PER_S, rel=1e-3)
    assert bytes_per_s(seen) <= BYTES_PER_S
    assert seen["link_busy_max"] == pytest.approx(1, rel=1e-3)


def test_two_links_carry_twice_as_much() -> None:
    one = streams(machine(4, 3, link=CAPACITY_GBS), {1: 0})
    for second in ({3: 2}, {0: 1}):  # another pair of nodes, or the way back of the same one
        two = streams(machine(4, 3, link=CAPACITY_GBS), {1: 0} | second)
        assert two["bytes_remote"] > 1.9 * one["bytes_remote"]
        assert carried_while_both_run(two) == pytest.approx(2 * bytes_per_s(one), rel=1e-3)


def test_a_full_controller_delivers_its_bandwidth() -> None:
    seen = streams(machine(2, 6, controller=CAPACITY_GBS), {0: 0})
    assert bytes_per_s(seen) == pytest.approx(BYTES_PER_S, rel=1e-3)
    assert bytes_per_s(seen) <= BYTES_PER_S
    assert seen["imc_busy_max"] == pytest.approx(1, rel=1e-3)


def test_two_controllers_deliver_twice_as_much() -> None:
    two = streams(machine(2, 6, controller=CAPACITY_GBS), {0: 0, 1: 1})
    assert carried_while_both_run(two) == pytest.approx(2 * BYTES_PER_S, rel=1e-3)


def carried_while_both_run(seen: Seen) -> float:
    """Return the bytes per second of two groups of workers, each over its own time: they read not quite as much."""
    ends: dict[int, int] = {}
    assert seen.log is not None
    for each in seen.log:
        node = int(seen.result.per_worker["node"][each.worker])
        ends[node] = max(ends.get(node, 0), each.end_ps)
    moved = seen.result.node_bytes.sum(axis=1)
    assert len(ends) == 2
    return sum(float(moved[node]) * 1e12 / end for node, end in ends.items())


@pytest.mark.parametrize("strategy", ["randomized", "topology-aware", "threshold", "steal-half"])
def test_tasks_that_are_stolen_fill_a_controller_as_well(strategy: str) -> None:
    # all data on node 0; workers of both nodes take the tasks as they find them
    reads = [task(Run(10 * NS, (Access(0, 0, 100_000 + i % 7 * 10_000),))) for i in range(150)]
    work = graph(task(*reads), regions=(Region("data", PART, True),))
    seen = flowing(work, machine(2, 4, controller=CAPACITY_GBS), strategy)
    assert bytes_per_s(seen) == pytest.approx(BYTES_PER_S, rel=1e-3)
    assert bytes_per_s(seen) <= BYTES_PER_S


def test_below_its_bandwidth_a_controller_delivers_what_is_asked_for() -> None:
    seen = streams(machine(1, 1, controller=10), {0: 0})
    assert bytes_per_s(seen) == pytest.approx(6_400_000_000, rel=1e-3)  # 64 bytes in 10 ns, lines begun are paid
