"""Kinds of locks and barriers in C against the Python of the reference engine, on random waiters and arrivals."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_bool, c_int, c_int32, c_int64, c_uint32, c_void_p
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_library import library

from numasim.engine.reference.sync.barriers import BARRIERS, Arrival, BarrierState
from numasim.engine.reference.sync.cache_lines import NOBODY, Line, LineTimes
from numasim.engine.reference.sync.lock_queues import KINDS, LockRules, Server, Waiter
from numasim.parts.models.strategy_terms import BarrierName, LockName
from numasim.workload.sync_parameters import Role

GREATEST = 2**63 - 1
C_NOBODY = 2**32 - 1
NODES, WORKERS = 3, 7
few = settings(max_examples=50)


class TransfersStruct(Structure):
    _fields_ = [
        ("between_ps", c_void_p),
        ("memory_ps", c_void_p),
        ("node", c_void_p),
        ("workers", c_uint32),
        ("nodes", c_uint32),
        ("cached", c_bool),
    ]


class LineStruct(Structure):
    _fields_ = [("home", c_int32), ("owner", c_uint32), ("local", c_int64), ("remote", c_int64)]


class WaiterStruct(Structure):
    _fields_ = [("since_ps", c_int64), ("actor", c_uint32), ("then", c_uint32)]


class LockRulesStruct(Structure):
    _fields_ = [
        ("fair", c_bool),
        *((name, c_int64) for name in ["batch", "spin", "pause", "futex", "wake", "wake_remote"]),
    ]


class GrantStruct(Structure):
    _fields_ = [("place", c_uint32), ("delay_ps", c_int64)]


class ArrivalStruct(Structure):
    _fields_ = [("time_ps", c_int64), ("leave_ps", c_int64), ("worker", c_uint32), ("node", c_int32)]


class BarrierStruct(Structure):
    _fields_ = [("shared", LineStruct), ("of_worker", POINTER(LineStruct)), ("of_node", POINTER(LineStruct))]


def c_library() -> Any:
    loaded = library()
    loaded.ns_lock_next.restype = GrantStruct
    loaded.ns_lock_next.argtypes = [c_int, *[c_void_p] * 4, c_uint32, c_int64, POINTER(c_int64)]
    loaded.ns_lock_free_ps.restype = c_int64
    loaded.ns_lock_free_ps.argtypes = [c_int, c_void_p, c_void_p, c_uint32]
    loaded.ns_barrier_open.restype = c_int64
    loaded.ns_barrier_open.argtypes = [c_int, c_void_p, c_void_p, c_void_p, c_uint32, c_void_p]
    return loaded


times = st.one_of(st.integers(0, 50), st.integers(0, 2**53))


@dataclass
class Places:
    """Workers on nodes, and the transfers between them, for both sides."""

    node: list[int]
    between: list[list[int]]  # [from][to]
    memory: list[list[int]]  # [node][home]
    cached: bool

    def lines(self) -> LineTimes:
        made = object.__new__(LineTimes)
        made.node, made._cached = [*self.node, self.node[0]], self.cached
        place = [*range(WORKERS), 0]
        made._between_ps = [[self.between[a][b] for b in place] for a in place]
        made._memory_ps = self.memory
        return made

    def struct(self) -> TransfersStruct:
        self._arrays = [np.array(self.between, np.int64).T.copy(), np.array(self.memory, np.int64)]
        self._node = np.array(self.node, np.int32)
        addresses = [array.ctypes.data for array in (*self._arrays, self._node)]
        return TransfersStruct(*addresses, WORKERS, NODES, self.cached)


def square(size: int) -> st.SearchStrategy[list[list[int]]]:
    return st.lists(st.lists(times, min_size=size, max_size=size), min_size=size, max_size=size)


places = st.builds(
    Places,
    st.lists(st.integers(0, NODES - 1), min_size=WORKERS, max_size=WORKERS),
    square(WORKERS),
    square(NODES),
    st.booleans(),
)


@few
@pytest.mark.parametrize("kind", get_args(LockName))
@given(
    where=places,
    owner=st.integers(0, WORKERS),
    waiters=st.lists(st.tuples(times, st.integers(0, WORKERS)), min_size=1, max_size=9),
    fair=st.booleans(),
    costs=st.tuples(st.integers(1, 9), times, times, times, times, times),
    later=times,
    run=st.integers(0, 9),
)
def test_the_next_holder(kind: str, where: Places, owner: int, waiters: list[tuple[int, int]], fair: bool,
                         costs: tuple[int, ...], later: int, run: int) -> None:  # fmt: skip
    batch, spin, pause, futex, wake, wake_remote = costs
    waiters.sort()
    now = waiters[-1][0] + later
    server = Server(0, Line(1, owner), Role.LOCK)
    server.waiters = [Waiter(since, actor, lambda _: None) for since, actor in waiters]
    server.run = min(run, batch)
    transfers = where.lines()
    transfers._wake_ps = (wake, wake_remote)
    rules = SimpleNamespace(
        times=transfers, fair=fair, batch=batch, spin_ps=spin, pause_ps=pause, futex_ps=futex
    )  # fmt: skip
    rules.transfers_ps = lambda server: LockRules.transfers_ps(rules, server)
    rules.winner = lambda transfers: LockRules.winner(rules, transfers)
    c_run = c_int64(server.run)
    line = LineStruct(1, owner, 0, 0)
    given_waiters = (WaiterStruct * len(waiters))(*((since, actor, 0) for since, actor in waiters))
    given_rules = LockRulesStruct(fair, batch, spin, pause, futex, wake, wake_remote)
    found = c_library().ns_lock_next(
        get_args(LockName).index(kind), ctypes.addressof(given_rules), ctypes.addressof(struct := where.struct()),
        ctypes.addressof(line), ctypes.addressof(given_waiters), len(waiters), now, c_run,
    )  # fmt: skip
    assert struct.workers == WORKERS
    expected = KINDS[kind].next(rules, server, now)  # type: ignore[arg-type]
    assert (found.place, found.delay_ps) == (expected.place, min(expected.delay_ps, GREATEST))
    assert c_run.value == server.run


@few
@pytest.mark.parametrize("kind", get_args(LockName))
@given(where=places, home=st.integers(0, NODES - 1), owner=st.integers(-1, WORKERS), actor=st.integers(0, WORKERS))
def test_a_free_lock(kind: str, where: Places, home: int, owner: int, actor: int) -> None:
    line = LineStruct(home, C_NOBODY if owner == NOBODY else owner, 0, 0)
    expected = KINDS[kind].lines_when_free * where.lines().to_ps(Line(home, owner), actor)
    assert expected == c_library().ns_lock_free_ps(
        get_args(LockName).index(kind), ctypes.addressof(struct := where.struct()), ctypes.addressof(line), actor
    )
    assert struct.workers == WORKERS


@few
@pytest.mark.parametrize("kind", get_args(BarrierName))
@given(
    where=places,
    home=st.integers(0, NODES - 1),
    homes=st.lists(st.integers(0, NODES - 1), min_size=NODES, max_size=NODES),
    episodes=st.lists(st.lists(times, min_size=WORKERS, max_size=WORKERS), min_size=1, max_size=3),
    parties=st.integers(1, WORKERS),
)
def test_the_opening_of_a_barrier(kind: str, where: Places, home: int, homes: list[int], episodes: list[list[int]],
                                  parties: int) -> None:  # fmt: skip
    worker_homes = [homes[node] for node in where.node]  # workers of one node keep their words in one place
    state = BarrierState(0, home, worker_homes, parties)
    of_worker = (LineStruct * WORKERS)(*((each, C_NOBODY, 0, 0) for each in worker_homes))
    of_node = (LineStruct * NODES)(*((each, C_NOBODY, 0, 0) for each in homes))
    barrier = BarrierStruct(LineStruct(home, C_NOBODY, 0, 0), of_worker, of_node)
    struct, python, leaders = where.struct(), where.lines(), (ArrivalStruct * parties)()
    for arrivals in episodes:
        state.arrivals = [Arrival(at, worker) for worker, at in enumerate(arrivals[:parties])]
        expected = BARRIERS[kind](python, state)
        nodes = [(a.time_ps, -1, a.worker, where.node[a.worker]) for a in state.arrivals]
        given_arrivals = (ArrivalStruct * parties)(*nodes)
        opened = c_library().ns_barrier_open(
            get_args(BarrierName).index(kind), ctypes.addressof(struct), ctypes.addressof(barrier),
            ctypes.addressof(given_arrivals), parties, ctypes.addressof(leaders),
        )  # fmt: skip
        assert opened == expected.time_ps
        assert {a.worker: a.leave_ps for a in given_arrivals} == expected.leave_ps
    lines = [barrier.shared, *of_worker, *of_node]
    assert sum(line.local for line in lines) == sum(line.local for line in state.lines.values())
    assert sum(line.remote for line in lines) == sum(line.remote for line in state.lines.values())
