"""Flows by hand: how running segments of tasks share memory controllers, links, caches and cores (model 2.5 to 2.9).

A flow is a running segment whose time depends on other workers. A line of 64 bytes takes 100 ns from the own node's
memory and ten misses overlap, so that a worker that reads alone takes 10 ns a line: 6.4 GB/s, or 3.2 GB/s from the
other node. Capacities are such that most shares are powers of two, and most times come out without rounding.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import pytest
from engine_setup import NS, Seen, run, runtime, stealing, toy_with
from task_graphs import WAIT, Access, Run, Task, body, graph, in_turn, items, phase, task

import numasim as ns
from numasim.draws import DrawClass, base, draw
from numasim.engine.observe.trace_hash import Rank
from numasim.machine.build_machine import build
from numasim.machine.topology import Machine
from numasim.plan.effects import Effects, noise_ppm, noisy_ps
from numasim.plan.resources import OnLinks, fetched, written
from numasim.workload.graph import Deal, Mode, Region, Workload

KIB = 1024
DATA = Region("data", 1 << 20, True)
FRESH = Region("fresh", 1 << 20, False)
GRANULE = 16 * 4 * KIB  # bytes placed together
FLUID, SNAPSHOT, NONE = (Effects(contention=name) for name in ("fluid", "snapshot", "none"))


def toy(controller: float = 6.4, link: float = 100, shape: dict[str, int] | None = None, **changes: Any) -> Machine:
    """Return a machine, by default of two nodes with one core each; bandwidths are in GB/s."""
    shape = shape or {"sockets": 2, "cores": 1}
    nodes = shape.get("sockets", 1) * shape.get("nodes", 1)
    links = [{"between": (a, b), "bandwidth_gbs": link} for a in range(nodes) for b in range(a + 1, nodes)]
    return toy_with(shape, nodes={"imc_bandwidth_gbs": controller}, links=links, **changes)


ONE_NODE = toy(shape={"cores": 3})


def read(size: int = 6400, offset: int = 0, mode: Mode = Mode.READ, compute_ps: int = 0, region: int = 0) -> Run:
    """Return a segment that reads ``size`` bytes; 6400 bytes are 100 lines, which take 1000 ns from the own node."""
    return Run(compute_ps, (Access(region, offset, size, mode=mode),))


def each(*bodies: tuple[Any, ...] | Task, regions: tuple[Region, ...] = (DATA,)) -> Workload:
    """Return a program with one body for each worker, from worker 0 on."""
    roots = [steps if isinstance(steps, Task) else body(*steps) for steps in bodies]
    return graph(*roots, deal=Deal.CYCLIC, regions=regions)


def flow(work: Workload, workers: int, machine: Machine, effects: Effects, **keys: Any) -> Seen:
    """Run ``work`` with all data on node 0."""
    strategy = stealing(placement={"policy": "bind", "node": 0})
    keys = {"strategy": strategy, "how": runtime(costs={"probe_remote_ns": 100}), **keys}
    return run(work, workers, machine=machine, effects=effects, **keys)


def ends(seen: Seen) -> list[int]:
    """Return when the last segment of each worker ends, in picoseconds."""
    last: dict[int, int] = {}
    for worker, _, _, end in seen.stretches:
        last[worker] = max(end, last.get(worker, 0))
    return [last[worker] for worker in sorted(last)]


def lengths(seen: Seen) -> list[int]:
    """Return the time of the one segment of each worker."""
    return [end - start for _, _, start, end in seen.stretches]


# ---- controllers ---------------------------------------------------------------------------------------------------


def test_two_readers_of_one_controller_get_half_each() -> None:
    seen = flow(each((read(),), (read(),)), 2, ONE_NODE, FLUID)
    assert ends(seen) == [2000 * NS] * 2
    assert seen.of_worker("work_local_ps") == seen.of_worker("inflation_contention_ps") == [1000 * NS] * 2
    assert seen["imc_busy_max"] == 1


@pytest.mark.parametrize(
    ("effects", "ends_ns", "waits_ns"), [(FLUID, [1500, 2000], [500, 500]), (SNAPSHOT, [1000, 2500], [0, 1000])]
)
def test_fluid_shares_are_those_of_the_moment_and_snapshots_those_of_the_start(
    effects: Effects, ends_ns: list[int], waits_ns: list[int]
) -> None:
    # Worker 0 has read half of its bytes when worker 1 begins. Under `fluid` both read at half speed until worker 0
    # ends; then half of the bytes of worker 1 are left.
    seen = flow(each((read(),), (500 * NS, read())), 2, ONE_NODE, effects)
    assert ends(seen) == [end * NS for end in ends_ns]
    assert seen.of_worker("inflation_contention_ps") == [wait * NS for wait in waits_ns]


def test_a_flow_that_asks_for_less_than_its_part_is_held_back_as_all_others() -> None:
    # Worker 0 demands 6.4 GB/s, worker 1, which computes half of the time, 3.2 GB/s. The controller's 6.4 GB/s are two
    # thirds of both demands together, and each worker gets two thirds of its demand.
    seen = flow(each((read(),), (read(compute_ps=2000 * NS),)), 2, ONE_NODE, FLUID)
    two_thirds = (6_400_000_000 << 48) // 9_600_000_000
    first_ps = -((-1000 * NS << 48) // two_thirds)
    left = (2000 * NS << 48) - first_ps * two_thirds
    assert ends(seen) == [first_ps, first_ps - (-left >> 48)]


def test_what_a_controller_keeps_for_its_own_node() -> None:
    # Three quarters of the controller are for local readers. Worker 1, on the other node, gets the last quarter:
    # 1.6 GB/s of the 3.2 GB/s that it demands. Worker 0 gets 4.8 GB/s.
    effects = Effects(contention="fluid", local_share_ppm=750_000)
    seen = flow(each((read(),), (read(),)), 2, toy(), effects)
    three_quarters = (3 << 48) // 4
    assert ends(seen) == [-((-1000 * NS << 48) // three_quarters), 4000 * NS]
    fair = flow(each((read(),), (read(),)), 2, toy(), FLUID)
    assert ends(fair)[0] == 1500 * NS + 1  # at two thirds of the speed, rounded down


# ---- links ---------------------------------------------------------------------------------------------------------


def on_node_1(steps: tuple[Any, ...]) -> Workload:
    """Return a program in which workers 1 and 3, on node 1, run the steps, and workers 0 and 2 nothing."""
    return each((), steps, (), steps)


def test_two_readers_over_one_link_get_half_each() -> None:
    seen = flow(on_node_1((read(),)), 4, toy(link=3.2, shape={"sockets": 2, "cores": 2}), FLUID)
    assert ends(seen) == [4000 * NS] * 2
    assert seen["link_busy_max"] == 1
    assert seen.of_worker("inflation_numa_ps") == [0, 1000 * NS, 0, 1000 * NS]
    assert seen.of_worker("inflation_contention_ps") == [0, 2000 * NS, 0, 2000 * NS]


def test_directions_of_a_link_are_apart() -> None:
    # A writer takes 20 ns to fetch a line and 20 ns to write it back: 1.6 GB/s in each direction of the link. Two
    # writers fill both directions, 3.2 GB/s each, without waiting for each other.
    machine = toy(controller=100, link=3.2, shape={"sockets": 2, "cores": 2})
    assert ends(flow(on_node_1((read(mode=Mode.WRITE),)), 4, machine, FLUID)) == [4000 * NS] * 2


def test_a_long_way_uses_every_link_on_it() -> None:
    # Nodes 0 - 1 - 2 are in a row. The reader on node 2 uses both links, the reader on node 1 only the link 0 - 1; each
    # gets half of the link 0 - 1.
    row = [{"between": (0, 1), "bandwidth_gbs": 3.2}, {"between": (1, 2), "bandwidth_gbs": 100}]
    shape, nodes = {"sockets": 3, "cores": 1}, {"imc_bandwidth_gbs": 100}
    far = toy_with(shape, nodes=nodes, links=row, latency_ns=[[100, 200, 200]] * 3)
    assert ends(flow(each((), (read(),), (read(),)), 3, far, FLUID)) == [4000 * NS] * 2


def test_dirty_bytes_travel_over_the_link_between_the_caches() -> None:
    # 60 ns / 10 overlapping misses = 6 ns a line, 10.7 GB/s; the link carries 6.4 GB/s, so 6400 bytes take 1000 ns
    caches = {"llc": "256KiB", "llc_scope": "socket", "llc_hit_ns": 20, "llc_remote_hit_ns": 60}
    work = in_turn((0, read(mode=Mode.WRITE)), (1, read()), regions=(DATA,))
    seen = flow(work, 2, toy(link=6.4, caches=caches), Effects(cache="lru", contention="fluid"))
    demand = 6400 * 10**12 // (600 * NS)  # a little less than 64 / 6 GB/s, so that the share is a little more than 0.6
    second_ps = -((-600 * NS << 48) // ((6_400_000_000 << 48) // demand))
    assert lengths(seen) == [2000 * NS, second_ps] == [2000 * NS, 1000 * NS]


# ---- caches and the address space ----------------------------------------------------------------------------------


def test_hits_share_the_port_of_their_cache() -> None:
    # 2 ns a line from the cache are 32 GB/s, which is all that the cache can deliver
    caches = {"llc": "1MiB", "llc_scope": "socket", "llc_hit_ns": 20, "llc_bandwidth_gbs": 32}
    machine = toy(shape={"cores": 2}, caches=caches)
    phases = (phase(0, deal=Deal.MASTER), phase(1, 2, deal=Deal.CYCLIC))
    work = graph(*[body(read())] * 3, phases=phases, regions=(DATA,))
    seen = flow(work, 2, machine, Effects(cache="share", contention="fluid"))
    assert sorted(lengths(seen)) == [400 * NS, 400 * NS, 1000 * NS]
    assert seen.of_worker("inflation_contention_ps") == [200 * NS, 200 * NS]


@pytest.mark.parametrize(("shape", "takes_ns"), [({"cores": 2}, 32_000), ({"sockets": 2, "cores": 1}, 64_000)])
def test_page_faults_wait_for_the_address_space(shape: dict[str, int], takes_ns: int) -> None:
    # A segment reads one line (10 ns) and places 16 pages of 999.375 ns: a million faults a second, the limit of all
    # workers together. If workers of two nodes fault, the limit is half a million.
    costs = {"probe_remote_ns": 100, "fault_ns": 999.375, "faults_per_s": 1_000_000, "fault_alpha": 1}
    work = each((read(64, 0),), (read(64, GRANULE),), regions=(FRESH,))
    seen = run(work, 2, how=runtime(costs=costs), machine=toy(shape=shape), effects=FLUID)
    assert lengths(seen) == [takes_ns * NS] * 2
    assert seen["page_faults"] == 32
    assert seen.of_worker("overhead_ps") == [15_990 * NS] * 2
    assert seen.of_worker("work_local_ps") == [10 * NS] * 2
    assert seen.of_worker("inflation_contention_ps") == [(takes_ns - 16_000) * NS] * 2


# ---- queueing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("controller", "busy"),
    [(12.8, 0.5), (25.6, 0.25), (8.0, 0.8), (6.4, 0.95)],  # 6.4 GB/s are a load of 100 %, which counts as 95 %
)
def test_who_comes_to_a_busy_controller_waits_as_in_an_md1_queue(controller: float, busy: float) -> None:
    machine = toy(controller, shape={"cores": 2})
    service_ns = 64 / controller
    wait_ns = busy * service_ns / (2 * (1 - busy))
    work = each((read(64_000),), (500 * NS, read()))
    seen = flow(work, 2, machine, Effects(queueing="md1"))
    assert seen.of_worker("inflation_contention_ps") == pytest.approx([0, 100 * wait_ns / 10 * NS], abs=100)
    assert ends(seen)[1] == 1500 * NS + seen.of_worker("inflation_contention_ps")[1]


def test_who_starts_together_does_not_queue() -> None:
    seen = flow(each((read(),), (read(),)), 2, toy(12.8, shape={"cores": 2}), Effects(queueing="md1"))
    assert ends(seen) == [1000 * NS] * 2


# ---- shared cores --------------------------------------------------------------------------------------------------

CORE = toy(100, shape={"cores": 1, "threads": 2}, smt={"busy_ppm": 500_000, "poll_ppm": 750_000})
SMT, SMT_MEMORY = Effects(smt="compute"), Effects(smt="memory")


@pytest.mark.parametrize(("effects", "takes_ns"), [(SMT, 1000), (SMT_MEMORY, 2000)])
def test_waiting_for_memory_is_slower_beside_a_sibling_if_so_wished(effects: Effects, takes_ns: int) -> None:
    seen = flow(each((read(),), (read(),)), 2, CORE, effects)
    assert ends(seen) == [takes_ns * NS] * 2
    assert seen.of_worker("inflation_smt_ps") == [(takes_ns - 1000) * NS] * 2


def test_memory_hides_what_a_sibling_costs_in_computing() -> None:
    # Worker 1 computes 600 ns at half speed, in 1200 ns, of which 1000 are over when worker 0 ends and begins to poll:
    # at 3/4 of the speed all of worker 1's segment would take 1000 ns, its memory time; a sixth of this is left.
    work = each((read(compute_ps=400 * NS),), (read(compute_ps=600 * NS),))
    assert ends(flow(work, 2, CORE, SMT)) == [1000 * NS, 1_166_667]


def test_a_polling_sibling_costs_less() -> None:
    # both compute at half speed until worker 1 ends at 1000 ns; then worker 1 polls, and worker 0 does its last 500 ns
    # at 3/4
    seen = flow(each((1000 * NS,), (500 * NS,)), 2, CORE, SMT)
    assert ends(seen) == [1_666_667, 1000 * NS]
    assert seen.of_worker("inflation_smt_ps") == [666_667, 500 * NS]


def test_a_sibling_without_a_part_in_a_serial_phase_costs_nothing() -> None:
    for serial, end in ((True, 1000 * NS), (False, 1_333_334)):
        work = graph(body(1000 * NS), phases=(phase(0, serial=serial),), regions=(DATA,))
        assert ends(flow(work, 2, CORE, SMT)) == [end]


def test_a_sibling_asleep_in_a_join_costs_nothing() -> None:
    # worker 1 steals the child at 100 ns, when worker 0 is asleep
    how = runtime(join="block", costs={"probe_remote_ns": 100})
    seen = flow(graph(task(task(1000 * NS), WAIT)), 2, CORE, SMT, how=how)
    assert ends(seen) == [1100 * NS]
    assert seen.of_worker("parked_ps") == [1100 * NS, 0]


def test_slower_siblings_ask_for_less() -> None:
    # Sharing a core, both workers need 2000 ns for 1000 ns of computing, and so demand 3.2 GB/s each: 6.4 GB/s together
    machine = toy(6.4, shape={"cores": 1, "threads": 2}, smt={"busy_ppm": 500_000, "poll_ppm": 500_000})
    work = each((read(compute_ps=1000 * NS),), (read(compute_ps=1000 * NS),))
    seen = flow(work, 2, machine, Effects(contention="fluid", smt="compute"))
    assert ends(seen) == [2000 * NS] * 2
    assert seen.of_worker("inflation_contention_ps") == [0, 0]


# ---- clocks, and random speeds of workers and tasks ----------------------------------------------------------------

STEPS = [{"active": 1, "ghz": 4}, {"active": 2, "ghz": 3}]
TURBO = toy(100, shape={"cores": 3}, clock={"base_ghz": 2, "turbo": STEPS})


@pytest.mark.parametrize(("workers", "end"), [(1, 1000 * NS), (2, 1_333_334), (3, 2000 * NS)])
def test_clocks_fall_with_the_cores_at_work(workers: int, end: int) -> None:
    seen = flow(each(*[(1000 * NS,)] * workers), workers, TURBO, Effects(clock="turbo"))
    assert ends(seen) == [end] * workers
    assert seen.of_worker("inflation_smt_ps") == [end - 1000 * NS] * workers


def test_memory_is_as_fast_at_any_clock() -> None:
    for effects in (Effects(clock="turbo"), Effects(clock="turbo", smt="memory")):
        assert ends(flow(each((read(),), (read(),)), 2, TURBO, effects)) == [1000 * NS] * 2


def test_a_core_that_polls_is_at_work_and_one_that_sleeps_is_not() -> None:
    how = runtime(join="block", costs={"probe_remote_ns": 100})
    asleep = flow(graph(task(task(1000 * NS), WAIT)), 2, TURBO, Effects(clock="turbo"), how=how)
    assert ends(asleep) == [1100 * NS]
    polling = flow(each((1000 * NS,)), 2, TURBO, Effects(clock="turbo"))
    assert ends(polling) == [1_333_334]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_workers_are_as_fast_as_their_draw(seed: int) -> None:
    effects = Effects(worker_spread_ppm=100_000)
    seen = flow(each((1000 * NS,), (1000 * NS,)), 2, ONE_NODE, effects, seed=seed)
    speeds = [1_000_000 + noise_ppm(draw(base(seed, DrawClass.WORKER_SPEED, w), 0), 100_000) for w in range(2)]
    assert ends(seen) == [-(-1000 * NS * 1_000_000 // speed) for speed in speeds]
    assert len(set(ends(seen))) == 2


def test_noise_belongs_to_the_task_whoever_runs_it() -> None:
    work = graph(task(*(task(1000 * NS) for _ in range(20)), WAIT, 500 * NS))
    effects = Effects(task_noise_ppm=300_000)
    for workers in (1, 3):
        seen = flow(work, workers, ONE_NODE, effects)
        assert seen.log is not None
        for each_run in seen.log:
            usual = int(work.segment_compute_ps[each_run.segment])
            number = draw(base(1, DrawClass.DURATION, each_run.task), each_run.segment)
            assert each_run.end_ps - each_run.start_ps == noisy_ps(usual, number, 300_000)


# ---- computing and waiting -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("overlap_ppm", "takes_ns"), [(0, 1600), (500_000, 1300), (1_000_000, 1000)])
@pytest.mark.parametrize(("compute_ns", "size"), [(600, 6400), (1000, 3840)])
def test_overlap_hides_a_share_of_the_shorter(overlap_ppm: int, takes_ns: int, compute_ns: int, size: int) -> None:
    work = each((read(size, compute_ps=compute_ns * NS),))
    assert ends(flow(work, 1, ONE_NODE, Effects(overlap_ppm=overlap_ppm))) == [takes_ns * NS]


@pytest.mark.parametrize(
    ("contention", "mlp_ppm", "takes_ns"),
    # twice as many overlapping misses would be 12.8 GB/s, more than the controller has
    [("none", 2_000_000, 500), ("none", 500_000, 2000), ("none", 1_000_000, 1000), ("fluid", 2_000_000, 1000)],
)
def test_misses_under_way_at_once_are_multiplied(contention: str, mlp_ppm: int, takes_ns: int) -> None:
    effects = Effects(contention=contention, mlp_ppm=mlp_ppm)
    assert ends(flow(each((read(),)), 1, ONE_NODE, effects)) == [takes_ns * NS]


# ---- overhead and ranges -------------------------------------------------------------------------------------------


def test_overhead_passes_first_but_the_flow_asks_at_once() -> None:
    # Worker 1 first pays 500 ns of overhead and does not use its share meanwhile: worker 0 has half of the controller
    # until 2000 ns. By then worker 1 has done three quarters of its work.
    how = runtime(costs={"probe_remote_ns": 100, "wait_ns": 500})
    seen = flow(each((read(),), (WAIT, read())), 2, ONE_NODE, FLUID, how=how)
    assert ends(seen) == [2000 * NS, 2250 * NS]
    assert seen.of_worker("overhead_ps") == [0, 500 * NS]
    assert seen.of_worker("inflation_contention_ps") == [1000 * NS, 750 * NS]


def test_items_ask_for_the_mean_of_their_range() -> None:
    # items of 64 lines compute 640 or 1280 ns; the demand of each is the bytes of an item in the mean time, 960 ns
    machine = toy(6.4, shape={"cores": 2})
    work = items(2, 640 * NS, 1280 * NS, Deal.CYCLIC, (Access(0, 0, 4 * KIB),), ((1, 4 * KIB, 0),), (DATA,))
    seen = flow(work, 2, machine, FLUID)
    plain = flow(work, 2, machine, NONE)
    demand = 4096 * 10**12 // (960 * NS)
    share = (6_400_000_000 << 20) // (2 * demand)
    (_, first, _, end), *_ = sorted(seen.stretches, key=lambda row: row[3])
    alone = {row[1]: row[3] - row[2] for row in plain.stretches}
    assert end == -((-alone[first] << 20) // share)


# ---- classes of flows whose shares change ---------------------------------------------------------------------------
# One reader uses up the 6.4 GB/s of a node: it reads 64 bytes in 10 ns. The engine treats equal readers as one class,
# and the classes that the same resource limits as one group. On `TWO_NODES` a link leads to the other node.

FIVE_CORES = toy(shape={"cores": 5})
TWO_NODES = toy(6, 1.6, {"sockets": 2, "cores": 3})


def reads(lines: int) -> Run:
    """Return a segment that reads ``lines`` lines and takes 10 ns a line if no other worker reads."""
    return read(64 * lines)


def together(*bodies: Task, pop_ns: int = 0, machine: Machine = FIVE_CORES) -> Seen:
    """Run a body on each worker; a task that a worker takes from its queue costs ``pop_ns``."""
    how = runtime(costs={"pop_ns": pop_ns, "push_ns": 0, "probe_ns": 100_000})
    return flow(each(*bodies), len(bodies), machine, FLUID, how=how)


def test_a_flow_that_has_not_begun_takes_part_but_gets_nothing() -> None:
    # Worker 3 pays 400 ns to take a task of 250 ns, but demands bandwidth from 0 ns on: worker 0 has half of it. From
    # 200 ns on four workers demand bandwidth, so that the task takes 1000 ns, from 400 to 1400 ns. At 1400 ns worker 0
    # has done 100 + 300 of its 1000 ns, and workers 1 and 2 have done 300 ns each.
    late = (Run(200 * NS, ()), reads(100))
    seen = together(body(reads(100)), body(*late), body(*late), body(task(reads(25))), pop_ns=400)
    assert ends(seen)[3] == 1400 * NS
    # workers 0, 1 and 2 go on at a third of the speed; worker 0 has 600 ns left and is the first to end
    assert ends(seen)[0] == 1400 * NS + 1800 * NS + 1
    assert ends(seen)[1] == ends(seen)[2]


def test_of_flows_that_end_in_the_same_instant_the_lowest_worker_comes_first() -> None:
    # Worker 2 begins a picosecond before worker 0, at a fourth of the speed, since four workers read then. So worker 2
    # is ahead by a fourth of a picosecond of work. When workers 1, 3 and 4 have ended, both run at half speed: worker 2
    # is ahead by half a picosecond of time, and both workers end in the same picosecond.
    other = body(reads(3))
    seen = together(body(Run(1, ()), reads(9)), other, body(reads(9)), other, body(Run(1, ()), reads(3)))
    assert ends(seen)[0] == ends(seen)[2]
    in_order = [int(worker) for _, rank, worker, *_ in seen.records.tolist() if rank == Rank.SEG_END]
    assert in_order[-2:] == [0, 2]


def test_a_flow_that_begins_where_no_level_changes_may_be_the_next_to_end() -> None:
    # The node has bandwidth for 2.5 readers. Three readers run at 5/6 of the speed until workers 2 and 3 have done
    # their 20 ns, at 24.001 ns; worker 1 has then done 20.000833 of 100 ns. From then on worker 1 runs at full speed
    # and ends at 104.000167 ns. Worker 0 begins at 34.001 ns, does not slow worker 1 down, and ends at 104.001 ns. Both
    # ends are rounded up to the same picosecond, in which the worker of the lower number ends first.
    short = body(reads(2))
    machine = toy_with({"cores": 5}, nodes={"imc_bandwidth_gbs": 16}, links=[])
    seen = together(body(Run(34_001, ()), reads(7)), body(reads(10)), short, short, machine=machine)
    assert ends(seen) == [104_001, 104_001, 24_001, 24_001]
    in_order = [int(worker) for _, rank, worker, *_ in seen.records.tolist() if rank == Rank.SEG_END]
    assert in_order[-2:] == [0, 1]


def test_a_class_that_another_resource_holds_back_goes_on_from_where_it_was() -> None:
    # Workers 1 and 3 read over the link (1.6 GB/s) and get 0.8 GB/s each, a fourth of their demand of 3.2 GB/s. Of the
    # controller's 6 GB/s, 4.4 are left for workers 0 and 2, which demand 6.4 GB/s each and get 11/32 of it.
    near, far = body(reads(200)), body(reads(100))
    seen = together(near, far, near, body(reads(25)), machine=TWO_NODES)
    # worker 3 has 500 ns at a fourth; then the controller limits the other workers: 6 GB/s for demands of 16 in all
    assert ends(seen)[3] == 2000 * NS
    # workers 0 and 2 have done 687.5 of 2000 ns at 2000 ns, and do the other 1312.5 ns at 3/8 of the speed
    assert ends(seen)[0] == ends(seen)[2] == 5500 * NS
    # of its 2000 ns worker 1 does 500 at a fourth, 1312.5 at 3/8, and 187.5 alone, at the half that the link allows
    assert ends(seen)[1] == 5875 * NS


# ---- what coherence costs on links ----------------------------------------------------------------------------------

HT = {"request_bytes": 8, "answer_bytes": 4}  # HyperTransport
EVERY_PAIR = list(product(range(4), repeat=2))


def square() -> Machine:
    """Return a machine of four nodes; nodes 0 and 3 are two links apart, and so are nodes 1 and 2."""
    sides = [(0, 1), (0, 2), (1, 3), (2, 3)]
    links = [{"between": side, "bandwidth_gbs": 4} for side in sides]
    routes = [[0, 1, 3], [3, 2, 0], [1, 0, 2], [2, 3, 1]]
    return toy_with({"sockets": 4, "cores": 1}, links=links, routes=routes, snoop=HT)


def on_links(machine: Machine, loads: OnLinks) -> dict[tuple[int, int], int]:
    """Return the bytes on each link, by the two ends of the link."""
    links = machine.links
    return {(int(links.source[at]), int(links.target[at])): size for at, size in loads.items()}


# ---- what one line puts on links -----------------------------------------------------------------------------------


PLAIN, SQUARE = toy_with({"sockets": 2, "cores": 1}), square()
MEMORY: dict[str, Any] = {"socket": 0, "memory": "1GiB", "imc_bandwidth_gbs": 10}
TRIANGLE = [{"between": pair, "bandwidth_gbs": 10} for pair in ((0, 1), (0, 2), (1, 2))]
TWO_OF_THREE = toy_with(
    {"nodes": 3}, nodes=[{**MEMORY, "cores": 1}, {**MEMORY, "cores": 1}, MEMORY], links=TRIANGLE, snoop=HT
)


@pytest.mark.parametrize(
    ("machine", "loads", "expected"),
    [
        # without snooping, the 64 bytes of the line
        (PLAIN, fetched(PLAIN, 1, 0), {(0, 1): 64}),
        (PLAIN, written(PLAIN, 1, 0), {(1, 0): 64}),
        (PLAIN, {**fetched(PLAIN, 0, 0), **written(PLAIN, 0, 0)}, {}),
        # a local line: questions to all nodes; the answers of nodes 1 and 2 pass one link, that of node 3 two links
        (SQUARE, fetched(SQUARE, 0, 0), {(0, 1): 8, (0, 2): 8, (1, 3): 8, (1, 0): 4, (2, 0): 4 + 4, (3, 2): 4}),
        # a line two links away, over 1: request, questions to all others, the line and answers, acknowledgement
        (
            *(SQUARE, fetched(SQUARE, 0, 3)),
            # the request and the acknowledgement pass (0, 1) and (1, 3); the last 4 bytes of (2, 0) answer for node 2
            {(0, 1): 8 + 4, (1, 3): 8 + 4, (3, 1): 8, (3, 2): 8 + 64 + 4, (2, 0): 8 + 64 + 4 + 4, (1, 0): 4},
        ),
        # a line that is written back is acknowledged
        (SQUARE, written(SQUARE, 0, 1), {(0, 1): 64 + 8, (1, 0): 4}),
        (SQUARE, written(SQUARE, 0, 0), {}),
        # nodes without cores are not asked
        (TWO_OF_THREE, fetched(TWO_OF_THREE, 0, 0), {(0, 1): 8, (1, 0): 4}),
        (TWO_OF_THREE, fetched(TWO_OF_THREE, 0, 2), {(0, 2): 8 + 4, (2, 0): 8 + 64 + 4, (2, 1): 8, (1, 0): 4}),
    ],
)
def test_the_bytes_of_one_line_on_links(machine: Machine, loads: OnLinks, expected: dict[tuple[int, int], int]) -> None:
    assert on_links(machine, loads) == expected


# ---- flows ---------------------------------------------------------------------------------------------------------


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
def test_messages_take_links(reader: int, mode: Mode, link: float, takes_ns: int) -> None:
    machine = toy_with({"sockets": 2, "cores": 1}, links=[{"between": (0, 1), "bandwidth_gbs": link}], snoop=HT)
    steps: list[tuple[Run, ...]] = [(), ()]
    steps[reader] = (read(mode=mode),)
    seen = flow(each(*steps), 2, machine, FLUID)
    assert seen["makespan_ps"] == takes_ns * NS
    assert seen["link_busy_max"] == pytest.approx(min(1, {0: 0.8, 1: 3.8 if mode == Mode.READ else 2.1}[reader] / link))


# ---- a machine that is shipped -------------------------------------------------------------------------------------

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
