"""Pages in the runtime's virtual time against the reference engine: what every segment takes wherever it runs, which
bytes it moves, which pages it places and moves, where the objects of tasks are (model 2.2 to 2.5, 4.5, 4.12).
"""

from __future__ import annotations

import json
from ctypes import byref, c_uint32, c_void_p
from random import Random
from typing import Any

import numpy as np
import pytest
from parts_library import PlanFile, Toucher, library
from virtual_equality import is_for_the_runtime

from engine_setup import plan_of, runtime, seeded, shipped_strategy, stealing, toy, toy_with  # isort: skip
from random_recipes import located_parts, machine_document, machine_from, placed_parts, plan_from  # isort: skip
from random_recipes import with_unlike_nodes  # isort: skip
from task_graphs import Access, Run, graph, phase, task  # isort: skip

from numasim.engine.observe.trace_hash import Trace
from numasim.engine.reference.reference import ReferenceEngine
from numasim.errors import InputError
from numasim.parts.models.placement_model import PlacementSpec
from numasim.plan.plan import Plan
from numasim.workload.graph import Mode, Region

NS_ERROR_FIELD = -4
PAUSES_PS = (0, 0, 1, 7000, 300_000)  # between two starts
PLAIN_MODEL = {"cache": "none", "contention": "none"}


class Pages:
    """The pages of a plan in the runtime."""

    def __init__(self, plan: Plan, changes: dict[str, Any] | None = None) -> None:
        self.plan, self.library = plan, library()
        self.file = PlanFile(plan, changes)
        self.error = self.file.error
        self.made = c_void_p(None if self.error else self.library.probe_pages(self.file.handle))

    def start(self, segment: int, node: int, measured_ps: int = -1, now_ps: int = 0) -> tuple[int, int, int]:
        """(time, time if all bytes were local, what is owed) of a segment that starts on ``node`` at ``now_ps``."""
        toucher = Toucher(node, now_ps)
        time = self.library.ns_plan_file_start(self.file.handle, self.made, segment, toucher, measured_ps)
        return time.total_ps, time.local_ps, time.owed_ps

    def objects(self, task: int) -> list[tuple[int, ...]]:
        """(home, mode, pieces, bytes) of each group of a task's objects."""
        count = c_uint32()
        found = self.library.probe_objects(self.made, task, byref(count))
        return [(each.home, each.mode, each.count, each.bytes) for each in found[: count.value]]

    def counts(self) -> tuple[int, list[list[int]]]:
        """(page faults, bytes by pair of nodes)."""
        nodes, node_bytes = self.plan.machine.nodes, self.library.probe_node_bytes(self.made)
        return self.library.probe_faults(self.made), np.ctypeslib.as_array(node_bytes, (nodes, nodes)).tolist()

    def close(self) -> None:
        """Free everything."""
        self.library.probe_pages_destroy(self.made)
        self.file.close()


def random_plan(chance: Random, unlike_nodes: bool = False) -> Plan:
    """Tasks that move bytes, under any placement; some are dispatched to where their data is."""
    while True:
        machine = machine_document(chance)
        if unlike_nodes:
            machine = with_unlike_nodes(machine, chance)
            for node in machine["nodes"]:
                node["cores"] = sum(kind["count"] for kind in node.get("cores", ()))  # of one kind: nothing is coupled
        recipe = {"machine": {**machine, "effects": {}}, **chance.choice((placed_parts, located_parts))(chance)}
        threads = machine_from(json.dumps(recipe["machine"])).threads
        recipe |= {"workers": chance.randint(1, min(8, threads)), "seed": chance.getrandbits(64)}
        try:
            plan = plan_from({**recipe, "model": PLAIN_MODEL, "skip": False, "folded": False})
        except InputError:
            continue
        work = plan.workload
        if len(work.accesses) and work.segments and is_for_the_runtime(work):
            return plan


def expected(engine: ReferenceEngine, worker: int, segment: int) -> tuple[int, int, int]:
    """What the reference engine lets a segment take that starts on ``worker``; counts it."""
    w = engine.workers[worker]
    overhead_ps, local_ps = w.overhead_ps, w.work_local_ps
    engine.memory.work.start_segment(w, 0, segment)
    owed_ps = w.overhead_ps - overhead_ps
    return w.due - engine.clock.now - owed_ps, w.work_local_ps - local_ps, owed_ps


def assert_equal_to_the_reference_engine(chance: Random, plan: Plan, starts: int) -> None:
    """Start segments anywhere and at any time, ``starts`` at most in each of a few phases."""
    engine, pages = ReferenceEngine(seeded(plan), Trace()), Pages(plan)
    assert pages.error == 0, pages.file.problem
    for number in sorted(chance.choices(range(len(plan.workload.phases) + 2), k=4)):
        engine.memory.pages.start_phase(number)
        pages.library.probe_start_phase(pages.made, number, engine.clock.now)
        for _ in range(chance.randint(1, starts)):
            worker, segment = chance.randrange(plan.workers.workers), chance.randrange(plan.workload.segments)
            node = int(plan.workers.node[worker])
            engine.clock.now += chance.choice(PAUSES_PS)
            assert pages.start(segment, node, now_ps=engine.clock.now) == expected(engine, worker, segment)
        for row in range(plan.workload.rows) if engine.dispatcher.objects else ():
            assert pages.objects(row) == [
                (each.home, each.mode, each.pieces, each.bytes) for each in engine.dispatcher.objects.of_task(row)
            ]
    engine.memory.work.fold()
    assert pages.counts() == (engine.ledger.page_faults, engine.memory.work.node_bytes().tolist())
    pages.close()


@pytest.mark.parametrize("seed", range(4))
def test_equal_to_the_reference_engine(seed: int) -> None:
    chance = Random(seed)
    for _ in range(12):
        assert_equal_to_the_reference_engine(chance, random_plan(chance), starts=12)


@pytest.mark.parametrize("seed", range(3))
def test_equal_where_nodes_are_without_cores_or_memory(seed: int) -> None:
    chance = Random(f"unlike {seed}")
    for _ in range(12):
        assert_equal_to_the_reference_engine(chance, random_plan(chance, unlike_nodes=True), starts=12)


@pytest.mark.parametrize("policy", ["first-touch", "next-touch", "deferred", "interleave"])
@pytest.mark.parametrize("overflow", ["none", "next"])
def test_equal_where_memory_is_short(policy: str, overflow: str) -> None:
    chance = Random(policy)
    machine = toy_with({"sockets": 3, "cores": 1}, page=PAGE, nodes={"memory": 20 * PAGE})
    changes = [{"phase": 1, "policy": "next-touch"}]
    placement = {"policy": policy, "overflow": overflow, "granule": chance.choice((1, 3)), "changes": changes}
    if policy == "interleave":
        placement["granule"] = 1
    strategy = shipped_strategy("locality-binding").model_copy(update={"placement": PlacementSpec(**placement)})
    for _ in range(5):
        tasks = [task(Run(0, (random_access(chance),))) for _ in range(30)]
        work = graph(*tasks, phases=(phase(*range(30)), phase()), regions=(REGION,))
        plan = plan_of(work, 3, strategy, runtime(costs={"fault_ns": 7, "migrate_ns": 11}), machine, skip=False)
        assert plan.steal.looks_at_data
        assert_equal_to_the_reference_engine(chance, plan, starts=20)


def random_access(chance: Random) -> Access:
    """One to four pages, whole or half."""
    first, half = chance.randrange(60), chance.choice((0, PAGE // 2))
    size = chance.randint(1, 4) * PAGE - half
    return Access(0, first * PAGE + half, size, mode=chance.choice((Mode.READ, Mode.WRITE)))


def test_random_plans_do_everything_that_pages_can() -> None:
    plans = [random_plan(Random(seed)) for seed in range(60)]
    placements = [seeded(plan).placement for plan in plans]
    assert any(placement.capacity for placement in placements)
    assert any(len(placement.stages) > 1 for placement in placements)
    assert any(stage.rule.marks for placement in placements for stage in placement.stages)
    assert any(not stage.rule.reads_place for placement in placements for stage in placement.stages)
    assert any(not plan.placement.dynamic.any() for plan in plans)
    assert any(plan.steal.looks_at_data and plan.placement.dynamic.any() for plan in plans)


PAGE = 4096
REGION = Region("data", 64 * PAGE, initialised=False)
READ = Access(0, 0, 2 * PAGE)


def touching(*accesses: Access, **placement: Any) -> Plan:
    """One segment of 1 ns that makes these accesses, on two nodes of 100 ns that are 100 ns apart."""
    work = graph(task(Run(1000, accesses)), regions=(REGION,))
    strategy = stealing(placement={"policy": "first-touch", "granule": 1, **placement}, mapping="contiguous")
    return plan_of(work, 2, strategy, machine=toy(sockets=2, cores=1), skip=False)


def test_a_measured_time_computes_for_as_long_and_waits_as_planned() -> None:
    wait_ps = 2 * PAGE // 64 * 100_000 // 10  # ten lines of a sequential walk are under way at once
    pages = Pages(touching(READ))
    assert pages.start(0, 0) == (wait_ps, wait_ps, 0)
    assert pages.start(0, 1, 0) == (2 * wait_ps, wait_ps, 0)
    assert pages.start(0, 1, wait_ps + 5) == (2 * wait_ps, wait_ps + 5, 0)
    assert pages.start(0, 1, 3 * wait_ps) == (3 * wait_ps, 3 * wait_ps, 0)
    assert pages.counts() == (2, [[2 * PAGE, 0], [6 * PAGE, 0]])
    pages.close()


def test_work_without_accesses_takes_what_it_computes() -> None:
    pages = Pages(plan_of(graph(task(7, 11)), 2))
    assert [pages.start(0, 0), pages.start(1, 0), pages.start(1, 0, 5)] == [(7, 7, 0), (11, 11, 0), (5, 5, 0)]
    assert pages.counts() == (0, [[0]])
    pages.close()


WRITE = Access(0, PAGE, PAGE, mode=Mode.WRITE)
BAD_FIELDS: dict[str, tuple[Any, str]] = {
    "compute_ps": (np.array([-1]), "compute_ps has a value out of bounds: -1 at 0, not from 0 to 1152921504606846976"),
    "settled_ps": (np.array([0]), "settled_ps has 1 entries instead of 2"),
    "open_ptr": (np.array([0, 1]), "open_ptr does not run from 0 to 2"),
    "open_access": (np.array([0, 2]), "open_access has a value out of bounds: 2 at 1, not from 0 to 1"),
    "access_region": (np.array([0, 1], np.uint32), "access_region has a value out of bounds: 1 at 1, not from 0 to 0"),
    "access_offset": (np.array([63 * PAGE, 0]), "access 0 reaches beyond its region"),
    "access_factor": (
        np.array([1, 2**34]),
        "access_factor has a value out of bounds: 17179869184 at 1, not from 0 to 8589934592",
    ),
    "access_mlp": (np.array([0, 1]), "access_mlp has a value out of bounds: 0 at 0, not from 1 to 1000000"),
    "unit_pages": (np.array([0]), "unit_pages has a value out of bounds: 0 at 0, not from 1 to 1048576"),
    "home_ptr": (np.array([1, 1]), "home_ptr does not run from 0 to 0"),
    "free_pages": (np.array([1]), "nodes_by_distance has 0 entries instead of 2"),
    "latency_ps": (np.array([-1] * 4), "latency_ps has a value out of bounds: -1 at 0, not from 0 to 9007199254740992"),
}


@pytest.mark.parametrize("name", BAD_FIELDS)
def test_fields_that_cannot_be_are_refused_with_a_sentence(name: str) -> None:
    value, sentence = BAD_FIELDS[name]
    pages = Pages(touching(READ, WRITE), {name: value})
    assert (pages.error, pages.file.problem) == (NS_ERROR_FIELD, sentence)
    pages.file.close()
