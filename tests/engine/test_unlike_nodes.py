"""Machines whose nodes differ, on every engine: the places of workers and memory, the speeds of cores."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any

import numpy as np
import pytest
from engine_setup import NS, event_by_event, machine_spec, observe, plan_of, simulated, stealing
from equality import judge
from random_recipes import RandomRun, plan_from, random_recipe, with_unlike_nodes
from task_graphs import WAIT, Access, Run, graph, task

from numasim.engine.check.deadlock import TooLongError
from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.machine.topology import Machine
from numasim.parts.models.machine_model import MachineSpec
from numasim.plan.effects import NO_EFFECTS
from numasim.plan.plan import Plan
from numasim.workload.graph import Mode, Region

PAGE = 4096
BOUND = {"policy": "bind", "node": 1}
MEMORY = {"memory": "1GiB", "imc_bandwidth_gbs": 10}
DATA = Region("data", 8 * PAGE, initialised=False)
LONGEST = 143  # number of the longest random run: five workers poll every 1 ns for 0.5 s (600 million events)
FROM_OTHERS = stealing({"from": "others"})


def of_nodes(*nodes: dict[str, Any]) -> Machine:
    """Return the toy machine on one socket with these nodes: 100 ns to the own memory, 200 ns to another node's."""
    usual = machine_spec(nodes=sum(node.get("count", 1) for node in nodes)).model_dump(by_alias=True, exclude_none=True)
    return build(MachineSpec.model_validate({**usual, "nodes": [{"socket": 0, **node} for node in nodes]}))


FAR_MEMORY = of_nodes({"cores": 2, **MEMORY}, {**MEMORY}, {"cores": 2})  # the second has no cores, the third no memory


def touching(placement: Any, workers: int = 4) -> Plan:
    """Return a plan of sixteen tasks that each write half a page."""
    tasks = [task(Run(1000 * NS, (Access(0, at * PAGE // 2, PAGE // 2, mode=Mode.WRITE),))) for at in range(16)]
    strategy = stealing(mapping="contiguous", placement=placement)
    return plan_of(graph(task(*tasks, WAIT), regions=(DATA,)), workers, strategy, machine=FAR_MEMORY)


@pytest.mark.parametrize("placement", ["interleave", "block", BOUND, "hash-home", "first-touch"])
def test_a_node_without_cores_holds_memory_and_is_never_asked_for_work(placement: Any) -> None:
    result = simulated(touching(placement))
    served, asked = result.node_bytes.sum(axis=0), result.node_attempts
    assert asked.sum() > 0
    assert not asked[1].any()
    assert not asked[:, 1].any()
    assert not result.node_bytes[1].any()
    assert not served[2], "there is no memory"
    assert served[1] == {"interleave": 8 * PAGE, "block": 8 * PAGE, "first-touch": 0}.get(str(placement), served[1])
    if isinstance(placement, dict):
        assert served.tolist() == [0, 16 * PAGE, 0]


def test_memory_that_a_node_without_memory_touches_first_is_on_the_nearest_that_has_some() -> None:
    """The pages of a worker on the third node are on the first node, which is as near as the second node."""
    machine = of_nodes({"cores": 1, **MEMORY}, {**MEMORY}, {"cores": 1})
    write = task(Run(0, (Access(0, 0, PAGE, mode=Mode.WRITE),)))
    plan = plan_of(graph(write, regions=(DATA,)), 2, stealing(mapping="contiguous"), machine=machine)
    assert machine.home_of_node.tolist() == [0, 1, 0]
    assert machine.latency_ps[2].tolist() == [200_000, 200_000, 200_000]
    result = simulated(plan)
    assert result.node_bytes.sum() == result.node_bytes[:, 0].sum() == 2 * PAGE


def test_a_core_of_half_the_speed_computes_twice_as_long_and_waits_no_longer() -> None:
    """Worker 0 is on the fast core, worker 1 on the slow core; each has a task of 1000 ns; nothing else costs time."""
    kinds = [{"count": 1}, {"count": 1, "speed_ppm": 500_000}]
    machine = of_nodes({"cores": kinds, **MEMORY})
    plan = plan_of(graph(task(task(1000 * NS), task(1000 * NS), WAIT)), 2, FROM_OTHERS, machine=machine)
    seen = observe(event_by_event(plan))
    durations = {worker: end - start for worker, _, start, end in seen.stretches if end > start}
    assert plan.coupled
    assert durations == {0: 1000 * NS, 1: 2000 * NS}
    assert seen["serial_ps"] == 2000 * NS, "on the fast core"
    reads = [task(Run(0, (Access(0, 0, PAGE),))) for _ in range(2)]
    work = graph(task(*reads, WAIT), regions=(Region("data", PAGE, initialised=True),))
    waits = plan_of(work, 2, FROM_OTHERS, machine=machine)
    stretches = observe(waits).stretches
    assert {worker for worker, _, _, _ in stretches} == {0, 1}
    assert {end - start for _, _, start, end in stretches} == {PAGE // 64 * 100 * NS // 10}, "ten misses at a time"


def test_workers_on_fast_cores_alone_are_not_coupled() -> None:
    machine = of_nodes({"cores": [{"count": 2}, {"count": 2, "speed_ppm": 500_000}], **MEMORY})
    plans = [plan_of(graph(task(1)), workers, machine=machine, effects=NO_EFFECTS) for workers in (2, 3)]
    assert [plan.coupled for plan in plans] == [False, True]


def test_a_run_on_listed_nodes_that_are_alike_is_that_of_the_short_form() -> None:
    alike = [of_nodes({"count": 2, "cores": 2, **MEMORY}), build(machine_spec(nodes=2, cores=2))]
    plans = [plan_of(graph(task(*[task(500 * NS + at) for at in range(9)], WAIT)), 4, machine=each) for each in alike]
    one, other = (simulated(plan) for plan in plans)
    assert one.counters == other.counters
    assert np.array_equal(one.node_attempts, other.node_attempts)


def unlike_run(number: int) -> RandomRun | None:
    chance = Random(f"unlike nodes {number}")
    recipe = random_recipe(chance)
    recipe["model"].pop("background", None)  # a node without memory has no controller that other programs could use
    recipe["machine"] = with_unlike_nodes(recipe["machine"], chance)
    nodes = recipe["machine"]["nodes"]
    threads = sum(kind["count"] * kind["threads_per_core"] for node in nodes for kind in node.get("cores", ()))
    recipe["workers"] = chance.randint(1, min(8, threads))
    try:
        return RandomRun(plan_from(recipe), recipe["seed"], recipe)
    except InputError:
        return None


@pytest.mark.parametrize("shard", range(4))
def test_engines_agree_on_random_runs_on_unlike_nodes(shard: int) -> None:
    numbers = [number for number in range(shard, 160, 4) if number != LONGEST]
    runs = [run for number in numbers if (run := unlike_run(number))]
    assert len(runs) >= 10
    for run in runs:
        with suppress(TooLongError):  # a slow core or a back-off makes times too long
            assert judge(run).problem is None, run
