"""Work stealing under arrivals against its mean-field limit (model 8, item 5; Mitzenmacher, SPAA 1998).

The last test compares the share of transactions that abort with a closed form.

Tasks arrive at every server at rate lambda and take an exponential time of mean 1. A server that has become empty makes
one attempt to steal one task from a random other that holds at least two. With S_i the share of servers that hold at
least i tasks: S_1 = lambda, S_2 = ((1 + lambda) - sqrt((1 + lambda)^2 - 4 lambda^2)) / 2, and
S_i - S_(i+1) = (S_(i-1) - S_i) lambda / (1 + lambda - S_2).

The process is built from ordinary parts. A server and its source of arrivals are two workers of one core, which share
the server's queue. The source executes one long body that alternates between computing (a gap) and spawning a task. A
server enters the level that steals with a chance, which is one after a task from its own queue and zero after a failed
attempt: one attempt each time that it becomes empty. A task in execution is not in the queue, so a victim with two
tasks has one in its queue.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import numpy as np
import numpy.typing as npt
import pytest
from engine_setup import NS, SEED, Seen, plan_of, quickly, runtime, stealing, toy
from task_graphs import Task, body, graph, phase, task

from numasim.engine.observe.trace_hash import Rank
from numasim.engine.simulate import simulate
from numasim.workload.builder import Draft, Shape
from numasim.workload.graph import Deal, Kind, Op, Phase, Workload
from numasim.workload.sync_parameters import Role, SyncObject

SERVERS = 64
MEAN_PS = 1000 * NS
WARM_UP, END = 50, 350  # in mean service times
LEVELS = 6

ONCE = stealing(
    {"from": "own", "queue": "station"},
    {"from": "others", "queue": "station", "chance": {"first": 0, "most": 1, "miss": -1, "elsewhere-hit": 1}},
    queues={"station": {"per": "core", "own": "fifo", "steal": "fifo"}},
    dispatch=[{"to": "own", "queue": "station"}],
)
HOW = runtime(poll_ns=50, costs={"probe_ns": 1, "probe_remote_ns": 1})


def exponentials(count: int, mean_ps: float, chance: np.random.Generator) -> Iterator[int]:
    """Return exponential times in random order, one from each of ``count`` equally likely strata: the mean is exact."""
    quantiles = (np.arange(count) + 0.5) / count
    return iter(np.rint(-mean_ps * np.log(chance.permutation(quantiles))).astype(np.int64).tolist())


def arrivals(rate: float, seed: int) -> Workload:
    """Return a program: server i is worker i, and the source of server i is worker 64 + i."""
    chance = np.random.default_rng(seed)
    count = int(1.1 * rate * SERVERS * END)
    gaps, services = exponentials(count, MEAN_PS / rate, chance), exponentials(count, MEAN_PS, chance)

    def source() -> Task:
        steps: list[int | Task] = []
        now = 0
        while now < END * MEAN_PS:
            gap = next(gaps)
            now += gap
            steps += [gap, task(next(services))]
        return body(*steps)

    roots = [*(body() for _ in range(SERVERS)), *(source() for _ in range(SERVERS))]
    first = np.cumsum([0, *(1 + sum(isinstance(step, Task) for step in root.steps) for root in roots)])
    return graph(*roots, phases=(phase(*first[:-1].tolist(), deal=Deal.BLOCK),))


def tail_shares(seen: Seen) -> npt.NDArray[np.float64]:
    """Return [LEVELS] the time average of the share of servers that hold at least 1, 2, ... tasks, from the trace."""
    changes = []
    for t, rank, actor, first, second in seen.records.astype(np.int64).tolist():
        if rank == Rank.PUT:
            changes.append((t, second, 1))
        elif rank == Rank.LOOK and actor != first:
            changes += [(t, first, -1), (t, actor, 1)]
        elif rank == Rank.SEG_END and actor < SERVERS:
            changes.append((t, actor, -1))
    holds = np.zeros(SERVERS, np.int64)
    shares = np.zeros(LEVELS)
    counts = np.zeros(LEVELS + 20)  # servers that hold at least 1, 2, ... tasks
    last = WARM_UP * MEAN_PS
    for t, server, change in sorted(each for each in changes if each[0] < END * MEAN_PS):
        shares += counts[:LEVELS] * max(0, t - last)
        last = max(t, last)
        held = max(holds[server], holds[server] + change)
        holds[server] += change
        counts[held - 1] += change
    shares += counts[:LEVELS] * (END * MEAN_PS - last)
    return shares / (SERVERS * (END - WARM_UP) * MEAN_PS)


def limit(rate: float) -> npt.NDArray[np.float64]:
    shares = [1.0, rate, ((1 + rate) - sqrt((1 + rate) ** 2 - 4 * rate**2)) / 2]
    while len(shares) <= LEVELS:
        shares.append(shares[-1] - (shares[-2] - shares[-1]) * rate / (1 + rate - shares[2]))
    return np.array(shares[1:])


@pytest.mark.parametrize("rate", [0.7, 0.9])
def test_tail_shares_are_those_of_the_limit(rate: float) -> None:
    """With 64 servers for 300 mean service times S_1, S_2 and S_3 are within 3 %; larger S_i are noisier."""
    seen = quickly(plan_of(arrivals(rate, 1), 2 * SERVERS, ONCE, HOW, toy(1, SERVERS, 2)))
    found, expected = tail_shares(seen), limit(rate)
    print(f"lambda = {rate}: found {found.round(4)}, limit {expected.round(4)}")
    assert found[:3] == pytest.approx(expected[:3], rel=0.03)


# ---- the share of attempts that abort -------------------------------------------------------------------------------

TRANSACTIONS = 60_000  # of each worker
MEAN_PS_TRANSACTION_RATES = 1_000_000  # a thousand times the time of an abort


def two_workers(objects: int) -> Workload:
    """Return transactions without pauses that open one object each, after and before exponential times."""
    ops = [Op.BEGIN, Op.RUN, Op.STORE, Op.RUN, Op.COMMIT]
    runs, words = [0] * (2 * TRANSACTIONS), [0] * (3 * TRANSACTIONS)
    shape = Shape(ops * TRANSACTIONS, runs, runs, words=words)
    draft = Draft(np.full(2, -1), np.zeros(2, np.int64), [shape], kind=np.full(2, Kind.IMPLICIT))
    times = np.random.default_rng(objects).exponential(MEAN_PS_TRANSACTION_RATES, (2, 2 * TRANSACTIONS))
    draft.compute_runs(0, times.astype(np.int64))
    phases, memory = (Phase(roots=(0, 1), deal=Deal.CYCLIC),), SyncObject("memory", Role.OBJECTS, parties=objects)
    return draft.finish(name="two workers", parameters={}, kernels=("work",), phases=phases, words=(memory,))


@pytest.mark.parametrize("objects", [2, 4, 8])
def test_the_share_of_aborts_of_two_workers_is_that_of_the_closed_form(objects: int) -> None:
    result = simulate(plan_of(two_workers(objects), 2, stealing(mapping="contiguous")), SEED)
    assert result.counters["commits"] == 2 * TRANSACTIONS
    assert result.row()["abort_ratio"] == pytest.approx(1 / (2 * objects), rel=0.02)
