"""Eq. 6.1 to 6.3 of the thesis, and the event model where it has to come to the same."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from engine_setup import plan_of, runtime, simulated, stealing, toy
from task_graphs import Use, body, graph, phase

from numasim.machine.build_machine import build
from numasim.machine.topology import Machine
from numasim.spec.run_spec import resolve
from numasim.workload.graph import Deal, Op, Workload
from numasim.workload.sync_parameters import Role, SyncObject

READS = 7


# The thesis takes a wait loop of n reads of the word, each from the memory of its home, and one compare-and-swap. The
# event model gives the same time if lines are not cached (``words: memory``) and no other worker wants the lock.


def numa_ratio(machine: Machine) -> Fraction:
    """R_NUMA, eq. 6.1: the mean latency of remote memory over that of local memory; 1 on one node."""
    own = np.eye(machine.nodes, dtype=bool)
    remote, local = machine.latency_ps[~own], machine.latency_ps[own]
    if not len(remote):
        return Fraction(1)
    return Fraction(int(remote.sum()), len(remote)) / Fraction(int(local.sum()), len(local))


def lock_ps(machine: Machine, node: int, home: int, reads: int, swap_ps: int = 0) -> int:
    """T_lock, eq. 6.2 (``home`` is ``node``) and 6.3: the time of ``reads`` reads from ``node`` and of the swap."""
    return reads * int(machine.latency_ps[node, home]) + swap_ps


def remote_excess_ps(machine: Machine, reads: int) -> Fraction:
    """How much longer the reads of a remote word take on average: (R_NUMA - 1) times those of a local one."""
    local = Fraction(int(np.trace(machine.latency_ps)), machine.nodes)
    return (numa_ratio(machine) - 1) * reads * local


def thesis_machine() -> Machine:
    given = {"machine": "xeon-e5-2620-2s", "workload": {"name": "fib", "n": 1}, "strategy": "ring", "workers": 1}
    return build(resolve(given).machine)


def test_the_ratio_of_the_thesis() -> None:
    assert numa_ratio(thesis_machine()) == Fraction(2475, 1523)
    assert round(float(numa_ratio(thesis_machine())), 3) == 1.625


def test_one_node_has_no_remote_memory() -> None:
    assert numa_ratio(toy()) == 1
    assert remote_excess_ps(toy(), READS) == 0


def test_the_excess_is_that_of_the_mean_lock_times() -> None:
    machine = thesis_machine()
    local = Fraction(sum(lock_ps(machine, node, node, READS, 5) for node in (0, 1)), 2)
    remote = Fraction(sum(lock_ps(machine, node, 1 - node, READS, 5) for node in (0, 1)), 2)
    assert remote - local == remote_excess_ps(machine, READS)


def reading(owner: int) -> Workload:
    """Worker 1 reads a word ``READS`` times that is kept for ``owner``; nobody else does."""
    bodies = [body(), body(*[Use(Op.ATOMIC)] * READS)]
    words = (SyncObject("word", Role.ATOMIC, owner),)
    return graph(*bodies, phases=(phase(0, 1, deal=Deal.CYCLIC),), words=words)


@pytest.mark.parametrize(("home", "owner"), [("owner", 1), ("owner", 0), ("master", 1)])
def test_words_in_memory_take_as_long_as_the_equations_say(home: str, owner: int) -> None:
    machine = thesis_machine()
    strategy = stealing(locks={"words": "memory", "home": home})  # worker 1 is on node 1
    result = simulated(plan_of(reading(owner), 2, strategy, runtime(poll_ns=50), machine))
    node = 1 if home == "owner" and owner == 1 else 0
    assert result.counters["lock_wait_ps"] == lock_ps(machine, 1, node, READS)
