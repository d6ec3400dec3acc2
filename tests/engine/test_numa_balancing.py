"""Automatic NUMA balancing (model 2.11) by hand on every engine, and what holds for any program."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from balanced_programs import CASES, FAULT_NS, MIGRATE_NS, PAGE, SCAN, STEP_NS, TWO_NODES, Balanced, touched_in_turn
from engine_setup import NS, SEED, observe, plan_of, runtime, stealing, toy_with
from hypothesis import given
from hypothesis import strategies as st
from random_accesses import accesses
from task_graphs import Access, Run, body, graph, items, phase

from numasim.engine.simulate import ENGINES, simulate
from numasim.errors import InputError
from numasim.parts.base import canonical_json
from numasim.parts.models.placement_model import PlacementSpec, ScanSpec
from numasim.plan.effects import Effects
from numasim.plan.plan import Plan
from numasim.plan.skippable import obstacle
from numasim.workload.graph import Deal, Pattern, Region

on_every_engine = pytest.mark.parametrize("engine", ENGINES)
TWICE = CASES[0]
AMPLE = Effects(contention="fluid")  # two workers that take turns ask for less than there is


@on_every_engine
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("effects", [None, AMPLE], ids=["uncoupled", "coupled"])
def test_by_hand(engine: str, case: Balanced, effects: Effects | None) -> None:
    seen = observe(case.plan(effects) if effects else case.plan(), engine)
    assert seen.result.node_bytes.tolist() == [[PAGE * pages for pages in row] for row in case.read]
    assert seen.of_worker("overhead_ps") == [NS * each for each in case.overhead_ns]
    assert (seen["page_faults"], seen["pages_migrated"]) == (case.placed, case.migrated)
    at_home = case.migrated + case.placed
    assert seen.result.node_pages.tolist() == [case.pages - at_home, at_home]
    assert seen["makespan_ps"] == NS * case.makespan_ns


@on_every_engine
def test_a_hinting_fault_takes_what_a_page_fault_takes_unless_it_is_given(engine: str) -> None:
    seen = observe(replace(TWICE, scan={"fault_ns": None}).plan(), engine)
    assert seen.of_worker("overhead_ps") == [0, NS * (3 * FAULT_NS + MIGRATE_NS)]


@on_every_engine
def test_pages_that_would_migrate_to_a_full_node_stay(engine: str) -> None:
    """Two pages a node: `data` fills node 0, and `more` has gone to node 1."""
    full = toy_with({"sockets": 2, "cores": 1}, nodes={"memory": 2 * PAGE})
    regions = (Region("data", 2 * PAGE, True), Region("more", 2 * PAGE, True))
    placement = {"policy": "numa-balancing", "scan": SCAN, "granule": 1, "overflow": "next"}
    work = touched_in_turn((1, 1, 1, 1), Access(0, 0, 2 * PAGE), regions)
    seen = observe(plan_of(work, 2, stealing(placement=placement), runtime(), full), engine)
    assert (seen["pages_migrated"], seen.result.node_pages.tolist()) == (0, [2, 2])
    assert seen.of_worker("overhead_ps") == [0, 3 * 2 * 100 * NS]


@on_every_engine
def test_repeats_of_a_phase_do_not_begin_anew(engine: str) -> None:
    """The same touches as in the first case, as four repeats of one phase."""
    step = body(Run(STEP_NS * NS, (Access(0, 0, PAGE),)))
    work = graph(body(), step, phases=(phase(0, 1, deal=Deal.CYCLIC, repeat=4),), regions=(Region("data", PAGE, True),))
    placement = {"policy": "numa-balancing", "scan": SCAN, "granule": 1}
    seen = observe(plan_of(work, 2, stealing(placement=placement), runtime(), TWO_NODES), engine)
    assert seen.result.node_bytes.tolist() == [[PAGE * pages for pages in row] for row in TWICE.read]


@on_every_engine
def test_hinting_faults_use_the_address_space(engine: str) -> None:
    """The 16 pages of case `granules` take 16 faults in touch 1, at 10^5 faults per second.

    It computes for 100 us and pays 1.6 us: it asks for 16 faults in 101.6 us, 157480 per second, and gets the share
    10^5 / 157480, in units of 2^-48; so it takes about 160 us.
    """
    granules = replace(next(case for case in CASES if case.name == "granules"), touchers=(1, 1))
    seen = observe(granules.plan(AMPLE, faults_per_s=10**5), engine)
    nominal_ps = (STEP_NS + 16 * 100) * NS
    share = (10**5 << 48) // (16 * 10**12 // nominal_ps)
    assert seen["makespan_ps"] == STEP_NS * NS - (-(nominal_ps << 48) // share)
    assert seen.of_worker("overhead_ps") == [0, 16 * 100 * NS]


def test_what_is_scanned_is_not_skipped() -> None:
    plan = TWICE.plan()
    assert not plan.skippable
    assert obstacle(plan) is not None


# ---- any program ---------------------------------------------------------------------------------------------------

PAGES = 40
ACCESSES = st.lists(accesses(PAGE, 1, Pattern.RANDOM), min_size=1, max_size=3)


def pages_of(access: Access) -> set[int]:
    """The pages that an access touches."""
    starts = [access.offset + row * access.stride for row in range(access.rows)]
    return {page for start in starts for page in range(start // PAGE, (start + access.row_bytes - 1) // PAGE + 1)}


def private(touched: list[Access], granule: int, window_pages: int) -> Plan:
    """Worker 1 makes these accesses four times; in between, all windows are scanned once or more."""
    windows = -(-PAGES // window_pages)
    scan = {"delay_ns": 0, "period_ns": STEP_NS // windows, "size": window_pages * PAGE}
    work = graph(
        body(),
        body(Run(STEP_NS * NS, tuple(touched))),
        phases=(phase(0, 1, deal=Deal.CYCLIC, repeat=4),),
        regions=(Region("data", PAGES * PAGE, True),),
    )
    placement = {"policy": "numa-balancing", "scan": scan, "granule": granule}
    how = runtime(costs={"probe_remote_ns": 3000})  # few probes of the worker that has nothing to do
    return plan_of(work, 2, stealing(placement=placement), how, TWO_NODES)


@given(ACCESSES, st.sampled_from([1, 3, 16]), st.integers(1, PAGES))
def test_memory_that_one_remote_node_uses_alone_ends_there(
    touched: list[Access], granule: int, window_pages: int
) -> None:
    """Each touched granule takes hinting faults from the second time on, so that the third time it migrates."""
    granules = {page // granule for access in touched for page in pages_of(access)}
    pages = sum(min(granule, PAGES - each * granule) for each in granules)
    for engine in ENGINES:
        result = simulate(private(touched, granule, window_pages), SEED, engine, check=True)  # no byte is lost
        assert result.node_pages.tolist() == [PAGES - pages, pages]
        assert result.counters["pages_migrated"] == pages


# ---- what can be written down --------------------------------------------------------------------------------------


def test_numbers_are_those_of_linux_unless_they_are_given() -> None:
    spec = PlacementSpec(policy="numa-balancing")
    assert spec.rule == ScanSpec().rule == PlacementSpec(policy="numa-balancing", scan=ScanSpec()).rule
    assert (spec.rule.scan_delay_ps, spec.rule.scan_period_ps) == (10**12, 10**12)  # a second
    assert (spec.rule.scan_bytes, spec.rule.migrate_after) == (256 * 2**20, 2)


def test_the_identity_is_that_of_the_scans_and_without_them_names_none() -> None:
    first_touch = (
        '{"changes":[],"grain":null,"granule":"64KiB","node":null,"nodes":null,"overflow":"none",'
        '"policy":"first-touch","tasks":null,"touch_on_read":true}'
    )
    assert canonical_json(PlacementSpec(policy="first-touch").model_dump()) == first_touch

    def contents(**scan: Any) -> str:
        change = {"phase": 0, "policy": "numa-balancing", **scan}
        return stealing(placement={"policy": "numa-balancing", **scan, "changes": [change]}).contents_json

    spelt_out = {"delay_ns": 10**9, "period_ns": 1e9, "size": "256MiB", "migrate_after": 2}
    assert contents() == contents(scan={}) == contents(scan=spelt_out)
    assert contents() != contents(scan={"period_ns": 1})


def test_pages_of_ranges_cannot_migrate() -> None:
    work = items(4, 0, accesses=(Access(0, 0, PAGE),), steps=((1, 0, 0),), regions=(Region("data", PAGE, True),))
    with pytest.raises(InputError, match="region 'data', whose pages would migrate under numa-balancing; expected"):
        plan_of(work, 2, stealing(placement="numa-balancing"), machine=TWO_NODES)
