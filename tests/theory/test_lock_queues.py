"""A lock as a queue with one server, against queueing theory (model 8, item 9), and thesis equations 6.1 to 6.3.

Clients sleep until a source lets one client pass, at the times of a Poisson process. The client takes the lock, holds
the lock for its service time, and sleeps again. Nothing else takes time: lines cost nothing, and there are more clients
than ever wait. With a mean service time s and a load rho, a client waits for rho s / (2 (1 - rho)) on average if all
service times are equal (M/D/1), and for rho s / (1 - rho) if they are exponential (M/M/1).

In the closed system, P clients that think for Z and hold the lock for s finish at most min(P / (Z + s), 1 / s)
sections a second, and exactly that many if all times are constant.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
import scipy
from engine_setup import NS, SEED, machine_spec, plan_of, runtime, shipped_machine, simulated, stealing
from hypothesis import given
from hypothesis import strategies as st
from task_graphs import Use, body, graph

from numasim.engine.result import Result
from numasim.engine.simulate import DEFAULT_ENGINE, simulate
from numasim.machine.build_machine import build
from numasim.machine.topology import Machine
from numasim.parts.models.machine_model import MachineSpec
from numasim.workload.builder import Draft, Shape
from numasim.workload.graph import Deal, Kind, Op, Phase, Workload
from numasim.workload.sync_parameters import Role, SyncObject

I64 = npt.NDArray[np.int64]
Draw = Callable[[np.random.Generator, int], I64]
MEAN_PS = 1000 * NS
LOCK, GO = range(2)
WORDS = (SyncObject("lock", Role.LOCK), SyncObject("go", Role.CONDITION))
KINDS = ("mcs", "ticket", "mutex", "clh")


def free_lines(cores: int) -> Machine:
    """Return a machine of one socket on which cache lines and memory cost nothing."""
    lines = {"same_core_ns": 0, "same_socket_ns": 0}
    given = machine_spec(cores=cores).model_dump(by_alias=True, exclude_none=True)
    return build(MachineSpec.model_validate({**given, "coherence": lines, "local_latency_ns": 0}))


def exponential(chance: np.random.Generator, count: int) -> I64:
    return np.rint(chance.exponential(MEAN_PS, count)).astype(np.int64)


def constant(chance: np.random.Generator, count: int) -> I64:
    return np.full(count, MEAN_PS, np.int64)


# ---- the open system -----------------------------------------------------------------------------------------------


def draw_times(clients: int, rounds: int, load: float, service: Draw, seed: int) -> tuple[I64, I64]:
    """Return the gaps before arrivals, and [clients, rounds] the service times."""
    chance, arrivals = np.random.default_rng(seed), clients * rounds
    gaps = np.rint(chance.exponential(MEAN_PS / load, arrivals)).astype(np.int64)
    return gaps, service(chance, arrivals).reshape(clients, rounds)


def open_system(gaps: I64, service: I64) -> Workload:
    """Return a program: body 0 is the source, each other body is a client that is served once in every round."""
    (clients, rounds), arrivals = service.shape, len(gaps)
    source = Shape([Op.RUN, Op.SIGNAL] * arrivals, [0] * arrivals, [0] * arrivals, words=[GO] * arrivals)
    ops = [Op.AWAIT, Op.LOCK, Op.RUN, Op.UNLOCK] * rounds
    client = Shape(ops, [0] * rounds, [0] * rounds, words=[GO, LOCK, LOCK] * rounds)
    shape = np.minimum(np.arange(clients + 1), 1)
    draft = Draft(np.full(clients + 1, -1), shape, (source, client), kind=np.full(clients + 1, Kind.IMPLICIT))
    draft.compute_runs(0, gaps)
    draft.compute_runs(1, service)
    phases = (Phase(roots=tuple(range(clients + 1)), deal=Deal.CYCLIC),)
    return draft.finish(name="open", parameters={}, kernels=("work",), phases=phases, words=WORDS)


def wait_by_lindley_ps(gaps: I64, service: I64) -> int:
    """Return all waits together, by W' = max(0, W + service - gap') from an idle server on. A served client goes to the
    end of the line, so that clients take turns.
    """
    steps = np.concatenate([[0], service.T.ravel()[:-1] - gaps[1:]]).cumsum()
    return int((steps - np.minimum.accumulate(steps)).sum())


def wait_by_engine_ps(gaps: I64, service: I64, kind: str, simulate: Callable[..., Result] = simulate) -> int:
    """Return all waits together for a lock of that kind, in a run by ``simulate``."""
    strategy, workers = stealing(locks={"kind": kind}), len(service) + 1
    plan = plan_of(open_system(gaps, service), workers, strategy, runtime(poll_ns=10**6), free_lines(workers))
    result = simulate(plan, SEED)
    assert result.counters["lock_acquisitions"] == service.size
    return result.counters["lock_wait_ps"]  # type: ignore[no-any-return]


SYSTEMS: dict[str, tuple[Draw, Callable[[float], float]]] = {
    "M/D/1": (constant, lambda load: load / (2 * (1 - load))),
    "M/M/1": (exponential, lambda load: load / (1 - load)),
}
SIZES = {0.3: (24, 4500, 10), 0.7: (64, 3000, 12), 0.9: (160, 3500, 24)}  # load: clients, rounds, runs


@pytest.mark.skipif(DEFAULT_ENGINE != "native", reason="takes minutes on the reference engine")
@pytest.mark.parametrize("load", SIZES)
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_wait_is_that_of_theory(system: str, load: float) -> None:
    """All waits are those of Lindley's recursion, to the picosecond; the mean wait of all runs is that of theory."""
    service, theory = SYSTEMS[system]
    clients, rounds, runs = SIZES[load]
    waits = []
    for seed in range(runs):
        gaps, services = draw_times(clients, rounds, load, service, seed)
        waits.append(wait_by_lindley_ps(gaps, services))
        if seed < len(KINDS):
            assert wait_by_engine_ps(gaps, services, KINDS[seed]) == waits[-1]
    means = np.array(waits) / (clients * rounds * MEAN_PS)  # in mean service times
    mean, half = np.mean(means), scipy.stats.t.ppf(0.975, runs - 1) * scipy.stats.sem(means)
    print(f"{system} at {load}: {mean:.4f} +- {half:.4f}, theory {theory(load):.4f}")
    assert half <= 0.02 * theory(load)
    assert abs(mean - theory(load)) <= half


@pytest.mark.parametrize("kind", KINDS)
def test_every_wait_is_that_of_lindley(kind: str) -> None:
    """On every engine the next wait is W' = max(0, W + service - gap), to the picosecond."""
    gaps, services = draw_times(30, 20, 0.8, constant, seed=1)
    assert wait_by_engine_ps(gaps, services, kind, simulated) == wait_by_lindley_ps(gaps, services) > 0


# ---- the closed system ---------------------------------------------------------------------------------------------


def closed_system(times: list[list[tuple[int, int]]]) -> Workload:
    """Return a program of clients with [clients][rounds] (think, hold) times."""
    lock, unlock = Use(Op.LOCK), Use(Op.UNLOCK)
    bodies = [body(*[step for think, hold in each for step in (think, lock, hold, unlock)]) for each in times]
    return graph(*bodies, deal=Deal.CYCLIC, words=WORDS[:1])


def held(work: Workload, clients: int, kind: str = "mcs") -> list[list[int]]:
    """Return (lock, client, begin, end) of every critical section, in order of time."""
    strategy = stealing(locks={"kind": kind})
    plan = plan_of(work, clients, strategy, runtime(poll_ns=10**6), free_lines(8))
    result = simulate(plan, SEED, check=True)
    assert result.held is not None
    return sorted(result.held.tolist(), key=lambda section: section[2])


@pytest.mark.parametrize("clients", [1, 2, 3, 5, 8])
@pytest.mark.parametrize(("think", "hold"), [(300, 100), (0, 100), (700, 100), (1000, 7)])
@pytest.mark.parametrize("kind", KINDS)
def test_constant_times_reach_the_bound(clients: int, think: int, hold: int, kind: str) -> None:
    rounds, warm_up = 60, 20 * clients
    sections = held(closed_system([[(think, hold)] * rounds] * clients), clients, kind)
    steady = sections[warm_up : -2 * clients]
    cycle = max(think + hold, clients * hold)  # of one client
    gaps = {after[2] - before[2] for before, after in zip(steady, steady[clients:], strict=False)}
    assert gaps == {cycle}


rounds_of_a_client = st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500)), min_size=6, max_size=6)


@given(st.lists(rounds_of_a_client, min_size=1, max_size=5))
def test_no_times_exceed_the_bound(times: list[list[tuple[int, int]]]) -> None:
    """The last section ends no earlier than the sum of the busiest client's times and the sum of all hold times."""
    last = max(section[3] for section in held(closed_system(times), len(times)))
    held_ps = sum(hold for each in times for _, hold in each)
    assert last >= max(held_ps + min(each[0][0] for each in times), *(sum(map(sum, each)) for each in times))


# ---- eq. 6.1 to 6.3 of the thesis -----------------------------------------------------------------------------------

READS = 7

# The thesis has a wait loop of n reads of the word, each from the memory of the word's home, and one compare-and-swap.
# The event model gives the same time if lines are not cached (``words: memory``) and no other worker wants the lock.


def test_the_ratio_of_the_thesis() -> None:
    """R_NUMA, eq. 6.1: the mean latency of remote memory over that of local memory."""
    latency_ps, own = shipped_machine("xeon-e5-2620-2s").latency_ps, np.eye(2, dtype=bool)
    ratio = Fraction(int(latency_ps[~own].sum()), int(latency_ps[own].sum()))
    assert (ratio, round(float(ratio), 3)) == (Fraction(2475, 1523), 1.625)


@pytest.mark.parametrize(("home", "owner"), [("owner", 1), ("owner", 0), ("master", 1)])
def test_words_in_memory_take_as_long_as_the_equations_say(home: str, owner: int) -> None:
    """T_lock is as in eq. 6.2 (the word is on the worker's own node) and eq. 6.3 (on another), without the swap."""
    machine = shipped_machine("xeon-e5-2620-2s")
    strategy = stealing(locks={"words": "memory", "home": home})  # worker 1 is on node 1
    bodies = [body(), body(*[Use(Op.ATOMIC)] * READS)]  # worker 1 alone reads the word
    words = (SyncObject("word", Role.ATOMIC, owner),)
    reading = graph(*bodies, deal=Deal.CYCLIC, words=words)
    result = simulated(plan_of(reading, 2, strategy, runtime(poll_ns=50), machine))
    node = 1 if home == "owner" and owner == 1 else 0
    assert result.counters["lock_wait_ps"] == READS * int(machine.latency_ps[1, node])
