"""Programs that loop over phases, by hand (model 3.6): order, times, noise, and the rows of phases in results.

A turn is a run of a phase, an iteration a pass through the outermost loop. `test_spellings` compares loops with the
same phases written out.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

from engine_setup import NS, SEED, plan_of, run, runtime, seeded, stealing, toy
from task_graphs import WAIT, Access, Run, body, graph, items, phase, task

from numasim import draws
from numasim.engine.check.bounds import bounds_of
from numasim.engine.observe.trace_hash import Rank
from numasim.engine.phase_rows import SUMS
from numasim.engine.simulate import DEFAULT_ENGINE, ENGINES, simulate
from numasim.plan.effects import Effects, noisy_ps
from numasim.plan.serial_time import serial_ps
from numasim.workload.graph import Deal, Loop, Mode, Phase, Region, Workload
from numasim.workload.span import longest_chains_ps, span_ps

KIB = 1024
TWO_NODES = toy(sockets=2, cores=1)
TWO_NODES_EACH = toy(sockets=2, cores=2)
NESTED = (Loop(0, 3, 2), Loop(1, 3, 3))  # twice: phase 0, then three times phases 1 and 2


def looped(work: Workload, *loops: Loop) -> Workload:
    return replace(work, loops=loops)


def test_nested_loops_run_their_phases_in_order() -> None:
    phases = (phase(0), phase(1, repeat=2), phase(2))
    seen = run(looped(graph(task(100 * NS), task(10 * NS), task(NS), phases=phases), *NESTED), 1)
    once = [100, *[10, 10, 1] * 3]
    assert seen.order() == [0, *[1, 1, 2] * 3] * 2
    assert seen["makespan_ps"] == seen["span_ps"] == seen["work_ps"] == 2 * sum(once) * NS
    assert [at for at, *_ in seen.of_rank(Rank.RELEASE)] == [at * NS for at in accumulate(once * 2)]
    assert seen["tasks"] == 20


def test_a_root_may_run_in_several_phases() -> None:
    tree = task(10 * NS, task(20 * NS), 5 * NS)
    work = looped(graph(tree, task(7 * NS), phases=(phase(0), phase(2, 0), phase(2))), Loop(1, 3, 2))
    seen = run(work, 1)
    assert seen["tasks"] == 2 + 2 * (3 + 1)
    assert seen["makespan_ps"] == (35 + 2 * (35 + 7 + 7)) * NS


def test_work_span_and_bounds_count_every_pass() -> None:
    first, second = task(10 * NS, name="first"), task(20 * NS, after=("first",))
    phases = (phase(0, 1), phase(2, 3), phase(0, 1))
    work = looped(graph(first, second, task(4 * NS), task(6 * NS), phases=phases), Loop(0, 3, 5), Loop(1, 2, 2))
    chains = longest_chains_ps(work, work.segment_compute_ps)
    assert chains == [30 * NS, 6 * NS, 30 * NS]
    plan = plan_of(work, 2)
    if "native" in ENGINES:
        from numasim.engine.native.native_engine import longest_chains_ps as compiled

        assert compiled(seeded(plan), work.segment_compute_ps) == chains
    assert span_ps(work, 0) == 5 * (30 + 2 * 6 + 30) * NS
    bounds = bounds_of(plan, lambda segments: longest_chains_ps(work, segments))
    assert (bounds.work_ps, bounds.critical_path_ps) == (5 * (30 + 20 + 30) * NS, 5 * (30 + 12 + 30) * NS)
    assert work.tasks == 5 * (2 + 4 + 2)


def test_ranges_run_in_every_pass() -> None:
    work = items(4, 10 * NS)
    work = looped(replace(work, phases=(*work.phases, Phase(range_family=0, serial=True))), Loop(0, 2, 3))
    seen = run(work, 1)
    assert seen["makespan_ps"] == 3 * 2 * 40 * NS
    assert serial_ps(seeded(plan_of(work, 1)), seen["work_ps"], lambda _: 0) == seen["makespan_ps"]


def test_a_program_that_loops_may_skip_ahead() -> None:
    work = looped(graph(task(1000 * NS), task(200 * NS), phases=(phase(0, repeat=2), phase(1))), Loop(0, 2, 3))
    assert plan_of(work, 2).skipping
    assert run(work, 2)["makespan_ps"] == 3 * 2200 * NS


# ---- what lasts from pass to pass ----------------------------------------------------------------------------------


def test_levels_count_the_passes_of_the_outermost_loop() -> None:
    # 8 tasks in one queue; thieves steal only in iteration 1 of the three iterations of the outer loop
    phases = (phase(*range(8)), phase(*range(8, 16), repeat=2))
    work = looped(graph(*[task(1000 * NS) for _ in range(16)], phases=phases), Loop(0, 2, 3), Loop(1, 2, 2))
    strategy = stealing({"from": "others", "iterations": [1, 1]})
    seen = run(work, 2, strategy)
    ends = [at for at, *_ in seen.of_rank(Rank.RELEASE)]
    assert len(ends) == 15
    assert {sum(end < at for end in ends) // 5 for at, *_ in seen.steals} == {1}


def test_a_change_of_placement_comes_into_force_when_its_phase_first_runs() -> None:
    half = [Run(0, (Access(0, at * 64 * KIB, 64 * KIB, mode=Mode.WRITE),)) for at in range(3)]
    regions = (Region("fresh", 3 * 64 * KIB, False),)
    # pass 0: the first third by first touch; then bound to node 1 for good
    bodies = (body(half[0]), body(half[1]), body(half[0], half[2]))
    work = graph(*bodies, phases=(phase(0), phase(1), phase(2)), regions=regions)
    placement = {"policy": "first-touch", "granule": 1, "changes": [{"phase": 1, "policy": "bind", "node": 1}]}
    seen = run(looped(work, Loop(0, 3, 2)), 2, stealing(placement=placement), machine=TWO_NODES)
    assert seen.result.node_pages.tolist() == [16, 32]


# ---- noise ---------------------------------------------------------------------------------------------------------


def noisy_turns(seed: int, turns: int, task: int, number: int) -> list[int]:
    """Return the time of 1000 ns in each turn with a noise of 10 %; turn k has seed ^ mix(k * G) (model 1.4)."""
    found = []
    for turn in range(turns):
        of_turn = seed ^ draws.mix(turn * draws.GAMMA % 2**64)
        found.append(noisy_ps(1000 * NS, draws.draw(draws.base(of_turn, 3, task), number), 100_000))
    return found


def test_noise_is_another_in_every_turn() -> None:
    # phase 0 has 2 x 3 turns of one task; phase 1 runs the same root: turn k of phase 1 has the noise of turn k of
    # phase 0
    work = looped(graph(task(1000 * NS), phases=(phase(0, repeat=2), phase(0))), Loop(0, 2, 3))
    seen = run(work, 1, effects=Effects(task_noise_ppm=100_000))
    first, second = iter(noisy_turns(SEED, 6, 0, 0)), iter(noisy_turns(SEED, 3, 0, 0))
    lengths = [end - start for _, _, start, end in seen.stretches]
    assert lengths == [next(turns) for _ in range(3) for turns in (first, first, second)]
    assert len(set(noisy_turns(SEED, 6, 0, 0))) == 6


def test_items_draw_their_times_once_and_their_noise_in_every_turn() -> None:
    work = looped(items(1, 1000 * NS), Loop(0, 1, 4))
    plan = plan_of(work, 1, effects=Effects(task_noise_ppm=100_000))
    seen = run(work, 1, effects=Effects(task_noise_ppm=100_000))
    assert seen["makespan_ps"] == sum(noisy_turns(SEED, 4, 0, 1))
    assert serial_ps(seeded(plan), seen["work_ps"], lambda _: 0) == seen["makespan_ps"]
    drawn = run(looped(items(1, 1, 1000 * NS), Loop(0, 1, 4)), 1)
    assert drawn["makespan_ps"] % 4 == 0  # the same time in every turn


# ---- rows ----------------------------------------------------------------------------------------------------------


def test_a_result_has_a_row_for_each_run_of_a_phase() -> None:
    phases = (phase(0, 1, name="two"), phase(1, repeat=2))
    seen = run(looped(graph(task(100 * NS), task(10 * NS), phases=phases), Loop(0, 2, 2)), 1)
    rows = seen.result.iterations
    assert rows["name"].tolist() == ["two", "", ""] * 2
    assert rows[["phase", "iteration", "turn"]].to_numpy().tolist() == [
        [0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 1, 1], [1, 1, 2], [1, 1, 3]
    ]  # fmt: skip
    assert rows["time_ps"].tolist() == [110 * NS, 10 * NS, 10 * NS] * 2
    assert rows["start_ps"].tolist() == [0, *accumulate(rows["time_ps"].tolist()[:-1])]
    assert rows["tasks"].tolist() == [2, 1, 1] * 2


def test_rows_add_up_to_the_run() -> None:
    phases = (phase(*range(6)), phase(*range(6, 9), deal=Deal.BLOCK, repeat=2))
    works = looped(graph(*[task(NS * (200 + 70 * at)) for at in range(9)], phases=phases), Loop(0, 2, 2))
    seen = run(works, 4, machine=TWO_NODES_EACH)
    rows = seen.result.phase_rows
    for name in SUMS:
        assert int(rows[name].sum()) == seen[name], name
    assert seen["steal_success"] > 0
    assert int(rows["time_ps"].sum()) == seen["makespan_ps"]


def test_only_so_many_rows_are_kept() -> None:
    work = looped(graph(task(NS), phases=(phase(0),)), Loop(0, 1, 100_002))
    result = simulate(plan_of(work, 1), SEED, DEFAULT_ENGINE)
    assert len(result.phase_rows["phase"]) == 100_000
    remark = "the result has a row for each of the first 100,000 runs of phases; of 100,002 the rest has none"
    assert result.remarks == [remark]


# ---- phases ---------------------------------------------------------------------------------------------------------


def test_in_a_serial_phase_the_others_wait_at_the_barrier() -> None:
    seen = run(graph(task(500 * NS), task(300 * NS), phases=(phase(0, serial=True), phase(1))))
    assert seen.of_worker("idle_barrier_ps") == [0, 500 * NS]
    assert seen.of_worker("steal_attempts") == [0, 3]  # in the second phase alone
    assert seen.of_worker("idle_steal_ps") == [0, 300 * NS]


def test_a_probe_that_is_under_way_at_the_end_of_a_phase_is_dropped() -> None:
    # worker 1 looks at 100 ns and would look again at 200 ns; the second phase begins at 150 ns and starts a new probe
    seen = run(graph(task(150 * NS), task(150 * NS), phases=(phase(0), phase(1))))
    assert seen.of_worker("steal_attempts") == [0, 2]
    assert seen.of_worker("idle_steal_ps") == [0, 300 * NS]


def test_back_off_starts_anew_in_every_phase() -> None:
    # in each phase worker 1 probes until 100 ns, waits 50 ns, probes until 250 ns, and waits 50 of 100 ns until the end
    seen = run(graph(*[task(300 * NS)] * 2, phases=(phase(0), phase(1))), how=runtime(backoff={"first_ns": 50}))
    assert seen.of_worker("steal_attempts") == [0, 4]
    assert seen.of_worker("idle_backoff_ps") == [0, 2 * 100 * NS]


def test_an_empty_program_takes_no_time() -> None:
    seen = run(graph(task()))
    assert (seen["makespan_ps"], seen["tasks"], seen["steal_attempts"]) == (0, 1, 0)


# a thief probes only queues with a task: while all queues are empty, no queue is probed
SEEKS_LENGTH = stealing({"from": "others", "pick": "random", "if": {"length": 1}})


def test_a_worker_that_seeks_before_others_have_begun_passes_over_nothing_that_they_bring() -> None:
    spawner = body(*[task(1000 * NS) for _ in range(3)], WAIT)
    work = graph(body(10_000 * NS), body(), spawner, deal=Deal.CYCLIC)
    seen = run(work, 3, SEEKS_LENGTH, runtime(poll_ns=50))  # as event by event
    assert seen.of_worker("tasks") == [0, 1, 2]
    work = graph(body(), body(1000 * NS), deal=Deal.CYCLIC)  # no deadlock
    assert run(work, 2, SEEKS_LENGTH, runtime(poll_ns=50))["makespan_ps"] == 1000 * NS
