"""Page faults and memory given back to the system, under the lock of the process's address space: times by hand, on all
engines (model 2.5, 3.5). A flush interrupts all other threads.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from engine_setup import NS, assert_agree, event_by_event, observe, plan_of, runtime, toy
from hypothesis import given, settings
from hypothesis import strategies as st
from ragged_plans import each, on, ragged, table

from numasim.api import run
from numasim.machine.topology import Machine
from numasim.plan.effects import NO_EFFECTS, Effects
from numasim.plan.plan import Plan
from numasim.workload.amounts import Amounts
from numasim.workload.graph import Deal, Workload

PAGE = toy().page_bytes
ONE_NODE, TWO_NODES = toy(cores=8), toy(sockets=2, cores=4)
FLUID = Effects(contention="fluid")


def space(work: Workload, workers: int, machine: Machine = ONE_NODE, effects: Effects = FLUID, **costs: float) -> Plan:
    """Return a plan in which only page faults, giving back pages and probes take time."""
    return plan_of(work, workers, how=runtime(costs=costs), machine=machine, effects=effects)


def one_each(workers: int, compute_ps: int = 0, **pages: Amounts) -> Workload:
    """Return a range with one item for every worker."""
    return ragged(workers, compute_ps, deal=Deal.CYCLIC, **pages)


def of_pages(*counts: int) -> Amounts:
    """Return amounts of ``counts`` pages for each item; of the last page a single byte is touched."""
    return each(*(max(0, (count - 1) * PAGE + 1) if count else 0 for count in counts))


@pytest.mark.parametrize("workers", [1, 2, 4, 8])
def test_faults_alone_are_as_fast_as_the_address_space_lets_them(workers: int) -> None:
    work = one_each(workers, fresh=of_pages(*[10] * workers))
    seen = observe(space(work, workers, fault_ns=50, faults_per_s=10**7))
    assert seen["makespan_ps"] == workers * 10 * 100 * NS
    assert seen["overhead_ps"] == workers * 10 * 50 * NS
    assert seen["inflation_contention_ps"] == workers * (workers * 1000 - 500) * NS


@pytest.mark.parametrize("workers", [1, 2, 4, 8])
@pytest.mark.parametrize(("batch", "flushes"), [(0, 1), (4, 3)])
def test_memory_is_given_back_by_one_worker_at_a_time(workers: int, batch: int, flushes: int) -> None:
    # One worker takes a + b (P - 1), for its pages and to interrupt all others; under the lock all take P times this.
    work = one_each(workers, freed=of_pages(*[10] * workers))
    seen = observe(space(work, workers, unmap_ns=100, shootdown_ns=64, unmap_batch=batch))
    alone_ps = (10 * 100 + flushes * 64 * (workers - 1)) * NS
    assert seen["makespan_ps"] == workers * alone_ps
    assert seen.of_worker("overhead_ps") == [alone_ps] * workers
    assert seen["pages_unmapped"] == 10 * workers


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_faults_and_giving_back_take_turns_at_the_lock(workers: int) -> None:
    pages = of_pages(*[10] * workers)
    costs = {"fault_ns": 50, "faults_per_s": 10**7, "unmap_ns": 100, "shootdown_ns": 64}
    seen = observe(space(one_each(workers, fresh=pages, freed=pages), workers, **costs))
    alone_ps = (10 * 50 + 10 * 100 + 64 * (workers - 1)) * NS
    held_ps = (10 * 100 + 10 * 100 + 64 * (workers - 1)) * NS
    assert seen["makespan_ps"] == workers * held_ps
    assert seen.of_worker("overhead_ps") == [alone_ps] * workers
    assert seen.of_worker("inflation_contention_ps") == [workers * held_ps - alone_ps] * workers


def test_an_item_asks_for_what_the_mean_item_holds_the_lock() -> None:
    # one item faults for 500 ns, the other item gives back for 1050 ns. The mean item has 5 pages of either kind and
    # takes 800 ns, in which it needs the lock for 1050 ns, so that both items together demand 21/8 of the lock
    work = one_each(2, fresh=of_pages(10, 0), freed=of_pages(0, 10))
    costs = {"fault_ns": 50, "faults_per_s": 10**7, "unmap_ns": 100, "shootdown_ns": 50}
    seen = observe(space(work, 2, **costs))
    first_ps = 500 * NS * 21 // 8
    last_ps = first_ps + 550 * NS * 21 // 16
    assert sorted(end for _, _, _, end in seen.stretches) == [
        first_ps + 1,
        last_ps + 1,
    ]  # shares are cut, ends rounded up


def test_nodes_slow_down_giving_back_as_they_do_faults() -> None:
    work = one_each(2, freed=of_pages(10, 10))
    near, far = (space(work, 2, m, unmap_ns=100, fault_alpha=0.5) for m in (ONE_NODE, TWO_NODES))
    assert observe(near)["makespan_ps"] == 2000 * NS
    assert observe(far)["makespan_ps"] == pytest.approx(3000 * NS, abs=10)  # shares are cut to 2**-48


def test_what_computes_beside_the_lock_hides_its_holders() -> None:
    # an item holds the lock for a fifth of its time, so that the lock suffices for five workers but not for six
    def makespan_ps(workers: int) -> int:
        work = one_each(workers, compute_ps=400 * NS, freed=of_pages(*[1] * workers))
        return int(observe(space(work, workers, unmap_ns=100))["makespan_ps"])

    assert (makespan_ps(5), makespan_ps(8)) == (500 * NS, 800 * NS)


# ---- memory that is given back where it is -------------------------------------------------------------------------

NEAR_PS, FAR_PS = (int(TWO_NODES.latency_ps[0, home]) for home in (0, 1))


@pytest.mark.parametrize(("deal", "remote"), [("locality", 0), ("interleave", Fraction(1, 2))])
@pytest.mark.parametrize("workers", [8, 32])
def test_dealing_by_locality_saves_what_pages_of_others_take_longer(workers: int, deal: str, remote: Fraction) -> None:
    # Only the lock limits the phase: each of 4,096 values gives back a page (85 or 140 ns a load), each row flushes.
    # Each worker demands the lock for the mean time of the rows that are dealt to its node, not of all rows.
    flush_ps = 10 * NS * (workers - 1)
    work = {"name": "reduce", "emits": 4096, "rows": 512, "value_bytes": 4096, "key_filler": "disjoint-subranges"}
    nothing = {"emit_ns": 0, "key_ns": 0, "copy_ns": 0, "vector_values": 4096}
    found = run(
        machine="xeon-6130-2s",
        workload={**work, **nothing, "values_returned": 1},
        runtime={"like": "phoenix", "costs": {"unmap_ns": 2000, "shootdown_ns": 10}},
        strategy={"name": deal, "like": f"phoenix-{deal}-numa-aware", "labels": {"deal": deal, "pair_ns": 0}},
        workers=workers,
        seed=1,
    )
    page_ps = 2000 * NS * (1 + remote * Fraction(55, 85))
    assert found.counters["pages_unmapped"] == 4096
    assert found.counters["makespan_ps"] == pytest.approx(float(4096 * page_ps + 512 * flush_ps), rel=0.02)


pages = st.one_of(
    st.lists(st.integers(0, 20 * PAGE), min_size=12, max_size=12).map(lambda numbers: each(*numbers)),
    st.lists(
        st.tuples(st.integers(1, 9), st.integers(0, PAGE), st.integers(PAGE, 9 * PAGE)), min_size=1, max_size=3
    ).map(lambda parts: table(*parts)),
)


@settings(max_examples=25)
@given(
    fresh=pages,
    freed=pages,
    faults_per_s=st.sampled_from([0, 10**5, 10**9]),
    shootdown_ns=st.sampled_from([0, 40]),
    batch=st.integers(0, 3),
    effects=st.sampled_from([FLUID, NO_EFFECTS, Effects(contention="snapshot")]),
    where=pages,
    part=st.sampled_from([0, 1, 333_333, 10**6]),
    seed=st.integers(0, 99),
)
def test_pages_are_counted_and_paid_for_whatever_is_skipped(
    fresh: Amounts,
    freed: Amounts,
    faults_per_s: int,
    shootdown_ns: int,
    batch: int,
    effects: Effects,
    where: Amounts,
    part: int,
    seed: int,
) -> None:
    far = on((1, 0), where, shares=(2, 1), returned_ppm=part)
    work = ragged(12, 10**9 * NS, far, deal=Deal.BLOCK, repeat=2, fresh=fresh, freed=freed)
    costs = {"fault_ns": 7, "unmap_ns": 3, "shootdown_ns": shootdown_ns, "unmap_batch": batch}
    plan = space(work, 3, TWO_NODES, effects, faults_per_s=faults_per_s, **costs)
    fast, slow = observe(plan, seed), observe(event_by_event(plan), seed)
    assert_agree(fast, slow)
    items = np.arange(12)
    # an item's first numbers are for its time and for its access
    placed, near = (-(-of.of(items, seed, number) // PAGE) for of, number in ((fresh, 6), (freed, 8)))
    moved = where.of(items, seed, 4)
    upto = moved * 2 // 3
    away, home = (-(-(each_part * part // 10**6) // PAGE) for each_part in (upto, moved - upto))
    unmapped = near + away + home
    flushes = -(-unmapped // batch) if batch else unmapped.clip(max=1)
    assert (slow["page_faults"], slow["pages_unmapped"]) == (2 * placed.sum(), 2 * unmapped.sum())
    shared = 2 * int((7 * placed + 3 * near + 2 * shootdown_ns * flushes).sum())
    executed = [(int(plan.workers.node[worker]), item) for worker, item, _, _ in slow.stretches]
    by_place = sum(3 * int(away[item] * (2 - node) + home[item] * (1 + node)) for node, item in executed)
    assert slow["overhead_ps"] == NS * (shared + by_place)
