"""Flows of one class under levels that change, by hand: when they begin, in what order they end (model 2.5 and 2.9).

One node of 6.4 GB/s, which one reader uses up: 64 bytes take it 10 ns. Equal readers are one class.
"""

from __future__ import annotations

import pytest
from engine_setup import NS, Seen, run, runtime, stealing, toy_with
from task_graphs import Access, Run, Task, body, graph, phase, task

from numasim.engine.observe.trace_hash import Rank
from numasim.engine.simulate import ENGINES
from numasim.plan.effects import Effects
from numasim.workload.graph import Deal, Region

DATA = Region("data", 1 << 20, True)
ONE_NODE = toy_with({"cores": 5}, nodes={"imc_bandwidth_gbs": 6.4}, links=[])
LINE_PS = 10 * NS

pytestmark = pytest.mark.parametrize("engine", ENGINES)


def reads(lines: int, compute_ps: int = 0) -> Run:
    """Takes 10 ns a line if nobody else reads."""
    return Run(compute_ps, (Access(0, 0, 64 * lines),))


def together(engine: str, *bodies: Task, pop_ns: int = 0) -> Seen:
    """The bodies as roots of workers 0, 1, ...; a task that a worker takes from its queue costs it ``pop_ns``."""
    work = graph(*bodies, phases=(phase(*range(len(bodies)), deal=Deal.CYCLIC),), regions=(DATA,))
    strategy = stealing(placement={"policy": "bind", "node": 0})
    how = runtime(costs={"pop_ns": pop_ns, "push_ns": 0, "probe_ns": 100_000})
    effects = Effects(contention="fluid")
    return run(work, len(bodies), strategy=strategy, how=how, machine=ONE_NODE, effects=effects, engine=engine)


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
