"""Speeds of workers as a function of what all of them do (model 2.6)."""

from __future__ import annotations

import pytest
from engine_setup import SEED, plan_of, stealing, toy_with
from hypothesis import given, settings
from hypothesis import strategies as st
from task_graphs import body, graph

from numasim.draws import DrawClass, base, draw
from numasim.engine.reference.memory.speeds import Activity, Speeds
from numasim.parts.unit_factors import MILLION
from numasim.plan.effects import Effects, noise_ppm
from numasim.plan.plan import Plan

EXECUTES, POLLS, RESTS = Activity.EXECUTES, Activity.POLLS, Activity.RESTS
STEPS = [{"active": 1, "ghz": 4}, {"active": 3, "ghz": 3}]
ALL = Effects(smt="compute", clock="turbo", worker_spread_ppm=100_000)


def plan(cores: int, threads: int, effects: Effects, sockets: int = 1) -> Plan:
    """Every hardware thread has a worker, in the order of cores."""
    machine = toy_with(
        {"sockets": sockets, "cores": cores, "threads": threads},
        smt={"busy_ppm": 600_000, "poll_ppm": 900_000},
        clock={"base_ghz": 2, "turbo": STEPS[: 1 + (cores >= 3)]},
    )
    return plan_of(graph(body(1)), machine.threads, stealing(mapping="smt-first"), machine=machine, effects=effects)


def computing(effects: Effects, *activity: Activity, cores: int = 1, threads: int = 1, sockets: int = 1) -> list[int]:
    """[workers] speeds of computing."""
    speeds = Speeds(plan(cores, threads, effects, sockets), SEED).of_all(activity)
    return [speed.compute_ppm for speed in speeds]


@pytest.mark.parametrize(("mate", "speed"), [(EXECUTES, 600_000), (POLLS, 900_000), (RESTS, MILLION)])
def test_a_sibling_costs_by_what_it_does(mate: Activity, speed: int) -> None:
    assert computing(Effects(smt="compute"), EXECUTES, mate, threads=2)[0] == speed
    assert computing(Effects(), EXECUTES, mate, threads=2)[0] == MILLION


def test_several_siblings_multiply() -> None:
    assert computing(Effects(smt="compute"), EXECUTES, EXECUTES, POLLS, RESTS, threads=4) == [
        540_000,
        540_000,
        360_000,
        324_000,
    ]


@pytest.mark.parametrize(("smt", "speed"), [("none", MILLION), ("compute", MILLION), ("memory", 600_000)])
def test_memory_is_slower_beside_a_sibling_if_so_wished(smt: str, speed: int) -> None:
    found = Speeds(plan(1, 2, Effects(smt=smt, clock="turbo")), SEED).of_all([EXECUTES] * 2)
    assert [each.memory_ppm for each in found] == [speed] * 2


@pytest.mark.parametrize(("active", "speed"), [(0, MILLION), (1, MILLION), (2, 750_000), (3, 750_000), (4, 500_000)])
def test_clocks_go_by_the_number_of_cores_that_do_not_rest(active: int, speed: int) -> None:
    activity = [POLLS if i % 2 else EXECUTES for i in range(active)] + [RESTS] * (4 - active)
    assert computing(Effects(clock="turbo"), *activity, cores=4) == [speed] * 4


def test_clocks_count_cores_and_not_threads() -> None:
    two_on_one = [EXECUTES, EXECUTES, RESTS, RESTS, RESTS, RESTS]
    on_two = [EXECUTES, RESTS, EXECUTES, RESTS, RESTS, RESTS]
    effects = Effects(clock="turbo")
    by_core = Speeds(plan(3, 2, effects), SEED)
    core = plan(3, 2, effects).workers.core.tolist()
    assert core == [0, 0, 1, 1, 2, 2]
    assert by_core.of_all(two_on_one)[0].compute_ppm == MILLION
    assert by_core.of_all(on_two)[0].compute_ppm == 750_000


def test_every_socket_has_its_own_clock() -> None:
    activity = [EXECUTES, RESTS, RESTS, EXECUTES, EXECUTES, RESTS]
    assert computing(Effects(clock="turbo"), *activity, cores=3, sockets=2) == [MILLION] * 3 + [750_000] * 3


def test_without_turbo_steps_or_their_effect_the_clock_stands() -> None:
    assert computing(Effects(), EXECUTES, EXECUTES, EXECUTES, cores=3) == [MILLION] * 3


@settings(max_examples=30)
@given(st.integers(0, 2**64 - 1), st.lists(st.sampled_from(list(Activity)), min_size=6, max_size=6))
def test_everything_together_is_the_product_rounded_down_step_by_step(seed: int, activity: list[Activity]) -> None:
    found = Speeds(plan(3, 2, ALL), seed).of_all(activity)
    awake = sum(activity[2 * core] != RESTS or activity[2 * core + 1] != RESTS for core in range(3))
    for w, speed in enumerate(found):
        beside = {EXECUTES: 600_000, POLLS: 900_000, RESTS: MILLION}[activity[w ^ 1]]
        own = MILLION + noise_ppm(draw(base(seed, DrawClass.WORKER_SPEED, w), 0), 100_000)
        assert speed.compute_ppm == beside * (MILLION if awake <= 1 else 750_000) // MILLION * own // MILLION
        assert speed.memory_ppm == own


def test_the_slowest_worker_still_moves() -> None:
    machine = toy_with({"cores": 1, "threads": 8}, smt={"busy_ppm": 1, "poll_ppm": 1})
    slow = plan_of(graph(body(1)), 8, machine=machine, effects=Effects(smt="memory"))
    assert set(Speeds(slow, SEED).of_all([EXECUTES] * 8)) == {(1, 1)}
