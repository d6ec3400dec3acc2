"""Barriers of every kind and conditions, worked out by hand (model 5.4; thesis section 6.3.1)."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from engine_setup import NS, SEED, Seen, observe, plan_of, run, runtime, stealing, toy
from task_graphs import Use, body, graph, phase

from numasim.engine.check.deadlock import DeadlockError
from numasim.engine.observe.trace_hash import Rank
from numasim.engine.simulate import ENGINES, simulate
from numasim.parts.models.strategy_terms import BarrierName
from numasim.workload.graph import Deal, Op, Workload
from numasim.workload.sync_parameters import Role, SyncObject

KINDS = get_args(BarrierName)
MEET = Use(Op.BARRIER)


def meeting(*arrivals_ns: int, rounds: int = 1) -> Workload:
    """A body for each worker, which comes to the barrier at a given time and then as soon as it can."""
    bodies = [body(arrival * NS, *[MEET] * rounds) for arrival in arrivals_ns]
    words = (SyncObject("gate", Role.BARRIER, parties=len(bodies)),)
    return graph(*bodies, phases=(phase(*range(len(bodies)), deal=Deal.CYCLIC),), words=words)


def met(work: Workload, kind: str, sockets: int = 2, **locks: Any) -> Seen:
    """Two workers a socket; lines take 20 ns inside one, 40 to the other, 100 or 200 from memory."""
    strategy = stealing(locks={"barrier": kind, **locks}, mapping="contiguous")
    return run(work, 4, strategy, runtime(poll_ns=50), toy(sockets=sockets, cores=4 // sockets))


def leaving_ns(seen: Seen) -> list[float]:
    """[workers] when each left the last barrier."""
    last = {actor: t / NS for t, actor, _, _ in seen.of_rank(Rank.WAKE)}
    return [last[worker] for worker in range(4)]


# Workers 0 and 1 are on one socket, 2 and 3 on the other; all arrive at 1000, and words live on the master's node.
FIRST = {
    # 100 from memory to 0, 20 to 1, 40 to 2, 20 to 3, which opens at 1180; then 40 to 0, 40 to 1, 20 to 2
    "central": (1180, [1220, 1260, 1280, 1180]),
    # flags are written at 1100, 1200, 1200; the master reads at 1120, 1240, 1280, and opens a word from memory
    "flag": (1380, [1380, 1400, 1440, 1480]),
    # 3 writes at 1200, 1 reads at 1240 and writes at 1340; 2 writes at 1200; 0 reads at 1240, and the other at 1360
    "tree": (1360, [1360, 1380, 1420, 1420]),
    # node lines: 100 and 20 more, 200 and 20 more; 1 is on the word from 1120 to 1220, 3 from 1260 on
    "per-domain": (1260, [1320, 1300, 1280, 1260]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_meeting(kind: str) -> None:
    seen = met(meeting(1000, 1000, 1000, 1000), kind)
    opens, leaves = FIRST[kind]
    assert seen.of_rank(Rank.RELEASE)[0] == (opens * NS, 1, 0, 0)
    assert leaving_ns(seen) == leaves
    assert seen["idle_barrier_ps"] == sum(leave - 1000 for leave in leaves) * NS


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_leaves_before_the_last_has_come(kind: str) -> None:
    seen = met(meeting(10, 7000, 20, 30, rounds=3), kind)
    opened = [t for t, actor, _, _ in seen.of_rank(Rank.RELEASE) if actor]
    woken = sorted(t for t, _, _, _ in seen.of_rank(Rank.WAKE))
    assert len(opened) == 3
    assert len(woken) == 12
    for episode, opens in enumerate(opened):
        assert opens >= 7000 * NS
        assert all(opens <= t for t in woken[4 * episode : 4 * episode + 4])
        assert all(t <= opens for t in woken[: 4 * episode])


def test_a_barrier_per_domain_crosses_sockets_less_often() -> None:
    crossings = {}
    for kind in KINDS:
        crossings[kind] = met(meeting(0, 0, 0, 0, rounds=50), kind)["lock_handoffs_remote"]
    assert crossings["per-domain"] == min(crossings.values())
    assert crossings["per-domain"] * 1.5 < crossings["flag"]


@pytest.mark.parametrize("engine", ENGINES)
def test_more_parties_than_workers_are_a_deadlock(engine: str) -> None:
    with pytest.raises(DeadlockError, match="a worker for each party of a barrier"):
        simulate(plan_of(meeting(0, 0, 0), 2, how="bare"), SEED, engine)


# ---- conditions ----------------------------------------------------------------------------------------------------

COSTS = {"signal_ns": 80, "wake_ns": 2500, "wake_remote_ns": 4000}


def waiting(*arrivals_ns: int, signal: Op = Op.BROADCAST, owner: int = 0, home: str = "master") -> Seen:
    """Worker 0 signals at 1000 ns; the others wait from their arrivals on. The condition is kept for ``owner``."""
    others = [body(arrival * NS, Use(Op.AWAIT)) for arrival in arrivals_ns]
    work = graph(
        body(1000 * NS, Use(signal)),
        *others,
        phases=(phase(*range(1 + len(others)), deal=Deal.CYCLIC),),
        words=(SyncObject("go", Role.CONDITION, owner=owner, parties=len(others)),),
    )
    strategy = stealing(mapping="contiguous", locks={"home": home})
    return run(work, 1 + len(others), strategy, runtime(costs=COSTS, poll_ns=50), toy(sockets=2, cores=2))


def test_waiters_are_let_pass_one_after_the_other() -> None:
    seen = waiting(300, 100, 200)
    woken = {worker: t / NS for t, worker, _, _ in seen.of_rank(Rank.WAKE)}
    assert woken[2] == 1000 + 80 + 40 + 4000  # the first to come, on the other socket
    assert woken[3] == 1000 + 2 * (80 + 40) + 4000
    assert woken[1] == 1000 + 2 * (80 + 40) + 80 + 20 + 2500
    assert seen.of_worker("overhead_ps")[0] == (2 * 120 + 100) * NS
    assert seen.of_worker("parked_ps")[1:] == [
        int((woken[worker] - arrival) * NS) for worker, arrival in ((1, 300), (2, 100), (3, 200))
    ]


@pytest.mark.parametrize(("owner", "home", "home_node"), [(0, "owner", 0), (3, "owner", 1), (3, "master", 0)])
def test_a_sleeper_is_as_far_away_as_its_condition(owner: int, home: str, home_node: int) -> None:
    """Thesis section 6.3.1: what counts is where the condition lives, not who signals; that pays for the line."""
    seen = waiting(300, 100, 200, owner=owner, home=home)
    woken = {worker: t / NS for t, worker, _, _ in seen.of_rank(Rank.WAKE)}
    signalled = {2: 1120, 3: 1240, 1: 1340}
    assert woken == {w: t + (2500 if w // 2 == home_node else 4000) for w, t in signalled.items()}
    assert seen.of_worker("overhead_ps")[0] == (2 * 120 + 100) * NS


def test_one_that_comes_later_need_not_wait() -> None:
    seen = waiting(2000, 100)
    assert [worker for _, worker, _, _ in seen.of_rank(Rank.WAKE)] == [2]
    assert seen.of_worker("parked_ps")[1] == 0
    assert seen.of_worker("overhead_ps")[1] == 20 * NS  # the line, from the signaller


@pytest.mark.parametrize("engine", ENGINES)
def test_one_signal_lets_one_pass(engine: str) -> None:
    words = (SyncObject("go", Role.CONDITION),)
    work = graph(body(Use(Op.SIGNAL)), *[body(Use(Op.AWAIT)) for _ in range(2)], phases=(
        phase(0, 1, 2, deal=Deal.CYCLIC),), words=words)  # fmt: skip
    with pytest.raises(DeadlockError, match="1 tasks are left"):
        simulate(plan_of(work, 3, how="bare"), SEED, engine)


@pytest.mark.parametrize("parties", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_workers_come_to_a_barrier_that_is_about_to_open_for_others(kind: str, parties: int) -> None:
    """More workers use it than it has parties: the next ones meet by themselves."""
    bodies = [body(start * NS, MEET, 50 * NS, MEET, 5 * NS, MEET, 7 * NS) for start in (0, 0, 1, 30)]
    words = (SyncObject("gate", Role.BARRIER, parties=parties),)
    work = graph(*bodies, phases=(phase(*range(4), deal=Deal.CYCLIC),), words=words)
    strategy = stealing(locks={"barrier": kind}, mapping="contiguous")
    plan = plan_of(work, 4, strategy, "bare", toy(sockets=2, cores=2), skip=False)
    seen = [observe(plan, engine) for engine in ENGINES]
    assert all(sorted(each.records.tolist()) == sorted(seen[0].records.tolist()) for each in seen)
    assert sum(actor == 1 for _, actor, _, _ in seen[0].of_rank(Rank.RELEASE)) == 12 // parties
