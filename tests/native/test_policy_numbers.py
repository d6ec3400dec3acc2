"""Thresholds, back-off, overflow and ranges in C against the Python of the reference engine, to 64 bits.

The tests compile the core and call it through ctypes, because valid specifications lead to smaller numbers only. The
tests of engines compare all other decisions of the core, event by event.
"""

from __future__ import annotations

import ctypes
import os
import shutil
from collections import deque
from ctypes import POINTER, c_bool, c_int, c_int64, c_uint32, c_uint64
from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import pytest
from compiling import compile_library, core_sources
from hypothesis import example, given
from hypothesis import strategies as st

from numasim.engine.reference.backoff import Waits
from numasim.engine.reference.dispatcher import Dispatcher
from numasim.engine.reference.task_queues import Measured, computed_thresholds, first_thresholds
from numasim.engine.reference.work_source import dealt_items, dealt_to
from numasim.schema.enumerations import Full
from numasim.strategy.steal_plan import Thresholds
from numasim.workload.graph import Deal

GREATEST = 2**63 - 1
RULES = ("literal", "avail", "fraction")
small = st.integers(0, 100)
numbers = st.one_of(small, st.integers(0, GREATEST), st.sampled_from([2**31, 2**62, GREATEST]))
positive = numbers.map(lambda n: max(1, n))
given_or_not = st.one_of(st.none(), positive)
capacities = st.one_of(st.integers(1, 100), st.just(2**62))


# ---- the functions of the core -------------------------------------------------------------------------------------


def struct(kind: Any, names: str, *others: tuple[str, Any]) -> Any:
    """Return a type of C structs with fields ``names`` of one kind, then the ``others``."""
    fields = [*((name, kind) for name in names.split()), *others]
    return type("Struct", (ctypes.Structure,), {"_fields_": fields})


RulesStruct = struct(c_int64, "max_tasks min_tasks fraction_ppm", ("rule", c_int))
ThresholdsStruct = struct(c_int64, "high low")
MeasuredStruct = struct(c_int64, "capacity pushes span_ps executed busy_ps peak_sum queues")
BackoffStruct = struct(c_int64, "first_ps factor max_ps poll_ps scan_ps")
ItemsStruct = struct(c_uint64, "first", ("step", c_uint32), ("count", c_uint32))
RULES_OF, ITEMS = POINTER(RulesStruct), POINTER(ItemsStruct)
SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "ns_thresholds_first": (ThresholdsStruct, [RULES_OF, c_int64]),
    "ns_thresholds_computed": (ThresholdsStruct, [RULES_OF, c_int64, c_int64, POINTER(MeasuredStruct)]),
    "ns_backoff_wait_ps": (c_int64, [POINTER(BackoffStruct), c_int64, c_bool]),
    "ns_overflows": (c_bool, [c_bool, c_int64, c_int64, c_int64]),
    "ns_dealt_to": (c_uint32, [c_int, c_uint64, c_uint64, c_uint32]),
    "ns_dealt_items": (ItemsStruct, [c_int, c_uint32, c_uint32, c_uint64, c_uint64]),
    "ns_items_take_front": (c_uint64, [ITEMS]),
    "ns_items_take_back": (c_uint64, [ITEMS]),
}


@cache
def library() -> ctypes.CDLL:
    """Return the core as a shared library; skip the test if there is no compiler."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        pytest.skip("no C compiler: set CC, or install one as cc")
    loaded = ctypes.CDLL(str(compile_library(compiler, "libcore", core_sources())))
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


# ---- thresholds ----------------------------------------------------------------------------------------------------


@st.composite
def threshold_rules(draw: st.DrawFn) -> Thresholds:
    name, most = draw(st.sampled_from(RULES)), st.integers(0, 10**6)
    return Thresholds(draw(given_or_not), draw(given_or_not), name, draw(most), "fixed")


def struct_of(rule: Thresholds) -> Any:
    high, low = (-1 if n is None else n for n in (rule.max_tasks, rule.min_tasks))
    return RulesStruct(high, low, rule.fraction_ppm, RULES.index(rule.rule))


def pair_of(found: Any) -> tuple[int, int]:
    return found.high, found.low


def held(n: int) -> int:
    """Return ``n``, at most the largest signed 64-bit number; no queue is longer than that number."""
    return min(n, GREATEST)


@given(threshold_rules(), capacities)
@example(Thresholds(None, GREATEST, "avail", 0, "fixed"), 1)
def test_thresholds_before_anything_is_measured(rule: Thresholds, capacity: int) -> None:
    (high,), (low,) = first_thresholds(rule, [capacity])
    assert pair_of(library().ns_thresholds_first(struct_of(rule), capacity)) == (held(high), low)


@given(
    threshold_rules(),
    numbers,
    numbers,
    st.builds(Measured, capacities, numbers, numbers, numbers, numbers, numbers, positive),
)
@example(Thresholds(None, None, "avail", 0, "fixed"), 1, 2**62, Measured(1, 0, 0, 2**62, 1, 0, 1))
@example(Thresholds(None, GREATEST, "fraction", 10**6, "fixed"), 1, 1, Measured(1, 0, 0, 0, 0, GREATEST, 1))
@example(Thresholds(None, None, "literal", 0, "fixed"), GREATEST, 1, Measured(2**62, GREATEST, 1, 0, 0, 0, 1))
def test_computed_thresholds(rule: Thresholds, push_ps: int, pop_ps: int, seen: Measured) -> None:
    expected = tuple(held(n) for n in computed_thresholds(rule, push_ps, pop_ps, seen))
    measured = MeasuredStruct(*vars(seen).values())
    assert pair_of(library().ns_thresholds_computed(struct_of(rule), push_ps, pop_ps, measured)) == expected


# ---- back-off ------------------------------------------------------------------------------------------------------


@given(
    first=numbers,
    factor=st.one_of(st.integers(1, 1024), st.sampled_from([2**31, 2**62])),
    most=st.one_of(st.none(), numbers),
    poll=numbers,
    scan=numbers,
    fails=st.one_of(st.integers(1, 200), st.sampled_from([2**62, GREATEST])),
    probed=st.booleans(),
)
@example(first=1, factor=2, most=None, poll=0, scan=0, fails=60, probed=True)
@example(first=1, factor=2, most=None, poll=0, scan=0, fails=61, probed=True)
@example(first=1, factor=2, most=GREATEST, poll=0, scan=0, fails=63, probed=True)
@example(first=1, factor=2, most=GREATEST, poll=0, scan=0, fails=64, probed=True)
def test_wait(first: int, factor: int, most: int | None, poll: int, scan: int, fails: int, probed: bool) -> None:
    expected = Waits(first, factor, most, poll, scan, laps=False).wait_ps(fails, probed)
    waits = BackoffStruct(first, factor, -1 if most is None else most, poll, scan)
    assert library().ns_backoff_wait_ps(waits, fails, probed) == expected


@given(
    st.lists(st.one_of(small, st.integers(0, 2**62)), min_size=1, max_size=20),
    st.one_of(st.integers(1, 100), st.integers(1, 2**62)),
    st.integers(0, 10**6),
)
@example([10, 7, 6, 7, 10], 10, 700_000)
def test_overflow(fills: list[int], capacity: int, resume_ppm: int) -> None:
    queues = SimpleNamespace(length=[0], capacity=[capacity])
    tables = SimpleNamespace(full=[Full.INLINE])
    dispatcher = SimpleNamespace(
        _overflows=True,
        _progress=SimpleNamespace(others=0),
        _inline_above=0,
        _tables=tables,
        _queues=queues,
        _overflowed=[False],
        _resume_ppm=resume_ppm,
    )
    overflowed = False
    for length in fills:
        queues.length[0] = length
        expected = Dispatcher.must_inline(cast(Any, dispatcher), cast(Any, SimpleNamespace(own=0)))
        overflowed = library().ns_overflows(overflowed, length, capacity, resume_ppm)
        assert overflowed == expected


# ---- ranges --------------------------------------------------------------------------------------------------------


counts = st.one_of(st.integers(1, 300), st.integers(1, 2**32 - 1))
teams = st.one_of(st.integers(1, 40), st.integers(1, 2**32 - 1))


@given(st.sampled_from(Deal), counts, teams, st.integers(0, 2**40), st.data())
def test_deals(deal: Deal, count: int, workers: int, first: int, data: st.DataObject) -> None:
    index, worker = data.draw(st.integers(0, count - 1)), data.draw(st.integers(0, workers - 1))
    receiver = dealt_to(deal, index, count, workers)
    assert first + index in dealt_items(deal, receiver, workers, first, count)
    assert library().ns_dealt_to(deal, index, count, workers) == receiver
    many = count * 2**32 - 1
    assert library().ns_dealt_to(deal, many - 1 - index, many, workers) == dealt_to(
        deal, many - 1 - index, many, workers
    )
    expected = dealt_items(deal, worker, workers, first, count)
    found = library().ns_dealt_items(deal, worker, workers, first, count)
    assert found.count == len(expected)
    assert not expected or (found.first, found.step) == (expected.start, expected.step)


@given(st.integers(0, 2**60), st.integers(1, 2**32 - 1), st.lists(st.booleans(), max_size=30))
def test_items_are_taken_from_both_ends(first: int, step: int, ends: list[bool]) -> None:
    left = deque(range(first, first + step * len(ends), step))
    items_left = ItemsStruct(first, step, len(ends))
    for back in ends:
        take = library().ns_items_take_back if back else library().ns_items_take_front
        assert take(items_left) == (left.pop() if back else left.popleft())
    assert items_left.count == 0
