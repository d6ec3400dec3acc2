"""Flows of one class under levels that change, by hand: when they begin, in what order they end (model 2.5 and 2.9).

One node of 6.4 GB/s, which one reader uses up: 64 bytes take it 10 ns. Equal readers are one class. Those that the same
resource holds back are a group: another node has a link to the first one.
"""

from __future__ import annotations

import pytest
from engine_setup import NS, Seen, run, runtime, stealing, toy_with
from task_graphs import Access, Run, Task, body, graph, phase, task

from numasim.engine.observe.trace_hash import Rank
from numasim.engine.simulate import ENGINES
from numasim.machine.topology import Machine
from numasim.plan.effects import Effects
from numasim.workload.graph import Deal, Region

DATA = Region("data", 1 << 20, True)
ONE_NODE = toy_with({"cores": 5}, nodes={"imc_bandwidth_gbs": 6.4}, links=[])
LINE_PS = 10 * NS
TWO_NODES = toy_with(
    {"sockets": 2, "cores": 3}, nodes={"imc_bandwidth_gbs": 6}, links=[{"between": (0, 1), "bandwidth_gbs": 1.6}]
)

pytestmark = pytest.mark.parametrize("engine", ENGINES)


def reads(lines: int, compute_ps: int = 0) -> Run:
    """Takes 10 ns a line if nobody else reads."""
    return Run(compute_ps, (Access(0, 0, 64 * lines),))


def together(engine: str, *bodies: Task, pop_ns: int = 0, machine: Machine = ONE_NODE) -> Seen:
    """The bodies as roots of workers 0, 1, ...; a task that a worker takes from its queue costs it ``pop_ns``."""
    work = graph(*bodies, phases=(phase(*range(len(bodies)), deal=Deal.CYCLIC),), regions=(DATA,))
    strategy = stealing(placement={"policy": "bind", "node": 0})
    how = runtime(costs={"pop_ns": pop_ns, "push_ns": 0, "probe_ns": 100_000})
    effects = Effects(contention="fluid")
    return run(work, len(bodies), strategy=strategy, how=how, machine=machine, effects=effects, engine=engine)


def last_ends(seen: Seen) -> list[int]:
    """When the last stretch of each worker ends."""
    last: dict[int, int] = {}
    for worker, _, _, end in seen.stretches:
        last[worker] = max(end, last.get(worker, 0))
    return [last[worker] for worker in sorted(last)]


def test_a_flow_that_has_not_begun_takes_part_but_gets_nothing(engine: str) -> None:
    # worker 3 owes 400 ns for a task of 250 ns, and asks for its part from the start: worker 0 has a half; from 200 ns
    # on there are four who ask, so that the task, begun at 400 ns, takes 1000 ns. By then worker 0 has done 100 + 300
    # ns of its 1000, and the others 300.
    late = (Run(200 * NS, ()), reads(100))
    seen = together(engine, body(reads(100)), body(*late), body(*late), body(task(reads(25))), pop_ns=400)
    assert last_ends(seen)[3] == 1400 * NS
    # three are left, of which worker 0 is the first to end, having 600 ns left at a third
    assert last_ends(seen)[0] == 1400 * NS + 1800 * NS + 1
    assert last_ends(seen)[1] == last_ends(seen)[2]


def test_levels_rise_again_when_others_leave(engine: str) -> None:
    # both at a half until worker 1 ends, at 500 ns; then worker 0 has all: its other 750 ns end at 1250 ns
    seen = together(engine, body(reads(100)), body(reads(25)))
    assert last_ends(seen) == [1250 * NS, 500 * NS]
    # and a third one, later, alone again, runs undisturbed
    seen = together(engine, body(reads(100), Run(1000 * NS, ()), reads(100)), body(reads(25)))
    assert last_ends(seen)[0] == 3250 * NS


def test_of_flows_that_end_in_the_same_instant_the_lowest_worker_comes_first(engine: str) -> None:
    # worker 2 begins a picosecond before worker 0, while three others hold both back, and so is ahead of it by a fourth
    # of a picosecond; when they are gone, it is ahead by half a picosecond of time, and both end in the same one
    other = body(reads(3))
    seen = together(engine, body(Run(1, ()), reads(9)), other, body(reads(9)), other, body(Run(1, ()), reads(3)))
    assert last_ends(seen)[0] == last_ends(seen)[2]
    in_order = [int(worker) for _, rank, worker, *_ in seen.records.tolist() if rank == Rank.SEG_END]
    assert in_order[-2:] == [0, 2]


def test_a_flow_that_begins_where_no_level_changes_may_be_the_next_to_end(engine: str) -> None:
    # the node has room for two readers and a half. Three have five sixths each until workers 2 and 3 have done 20 ns,
    # at 24.001 ns, when worker 1 has done 20.000833 of 100; alone, it ends at 104.000167. Worker 0 begins at 34.001 ns,
    # holds nobody back, and ends at 104.001: behind worker 1 but in the same picosecond, where the lower comes first
    short = body(reads(2))
    machine = toy_with({"cores": 5}, nodes={"imc_bandwidth_gbs": 16}, links=[])
    seen = together(engine, body(Run(34_001, ()), reads(7)), body(reads(10)), short, short, machine=machine)
    assert last_ends(seen) == [104_001, 104_001, 24_001, 24_001]
    in_order = [int(worker) for _, rank, worker, *_ in seen.records.tolist() if rank == Rank.SEG_END]
    assert in_order[-2:] == [0, 1]


def test_a_class_that_another_resource_holds_back_goes_on_from_where_it_was(engine: str) -> None:
    # workers 1 and 3 read over the link, which gives each a fourth of the 3.2 GB/s that it asks for; of the other 4.4
    # GB/s of the controller the readers beside it, who ask for 6.4 each, get 11/32
    near, far = body(reads(200)), body(reads(100))
    seen = together(engine, near, far, near, body(reads(25)), machine=TWO_NODES)
    # 500 ns at a fourth; from then on the controller is what holds all three back: 6 GB/s for 16
    assert last_ends(seen)[3] == 2000 * NS
    # 2000 ns, of which 687.5 are done, the rest at 3/8
    assert last_ends(seen)[0] == last_ends(seen)[2] == 5500 * NS
    # 500 ns at a fourth, 1312.5 at 3/8, and 187.5 alone, when the link gives it a half
    assert last_ends(seen)[1] == 5875 * NS


def test_so_does_a_class_whose_flows_have_not_begun(engine: str) -> None:
    # as above, but instead of worker 2 it is worker 4 that reads, and owes 4000 ns for a task of 450, all of which is
    # done at 3/8
    near, far, late = body(reads(200)), body(reads(100)), body(task(reads(45)))
    seen = together(engine, near, far, body(Run(1, ())), body(reads(25)), late, pop_ns=4000, machine=TWO_NODES)
    assert last_ends(seen)[3] == 2000 * NS
    assert last_ends(seen)[4] == 5200 * NS
    # 500 ns at a fourth, 1200 at 3/8, and 300 at the half that the link gives it
    assert last_ends(seen)[1] == 5800 * NS
    # 687.5 ns at 11/32, 1200 at 3/8, and 112.5 at 11/16, which is what the controller has left for one who asks for 6.4
    assert last_ends(seen)[0] == 5200 * NS + 163_637
