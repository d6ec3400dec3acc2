"""Max-min fairness in integers as a function of its own: model 2.9 and 8, item 8.

Rounding is bounded throughout: a share is rounded down once a round, by less than one unit in the last place of 2**48;
sums are exact. Beside it stands a solver in rational arithmetic.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from numasim.engine.reference.memory.max_min_shares import ONE, Demands, max_min_shares

Units = st.integers(1, 10**11)
CONTROLLER, LINK, PORT = 0, 1, 2


def rate(demand: int, share: int) -> Fraction:
    """Units per second that a flow gets, not rounded."""
    return Fraction(demand * share, ONE)


@st.composite
def networks(draw: st.DrawFn) -> tuple[list[int], list[Demands]]:
    """Capacities, and flows that use some of the resources each."""
    capacity = draw(st.lists(Units, min_size=1, max_size=4))
    one = st.dictionaries(st.integers(0, len(capacity) - 1), st.integers(0, 10**11), max_size=len(capacity))
    flows = draw(st.lists(one, max_size=7))
    return capacity, [tuple(sorted(flow.items())) for flow in flows]


# ---- one resource --------------------------------------------------------------------------------------------------


@given(Units, Units, st.integers(1, 100))
def test_equal_flows_get_equal_parts_within_one_unit_in_the_last_place(capacity: int, demand: int, count: int) -> None:
    shares = max_min_shares([capacity], [((CONTROLLER, demand),)] * count)
    exact = min(Fraction(ONE), Fraction(capacity * ONE, demand * count))
    assert len(set(shares)) == 1
    assert max(1, exact - 1) <= shares[0] <= max(1, exact)


def test_four_equal_flows_get_a_quarter_each() -> None:
    assert max_min_shares([10_000], [((CONTROLLER, 10_000),)] * 4) == [ONE // 4] * 4


@given(Units, st.lists(Units, min_size=1, max_size=12))
def test_used_capacity_is_the_capacity_or_the_demand(capacity: int, demands: list[int]) -> None:
    shares = max_min_shares([capacity], [((CONTROLLER, q),) for q in demands])
    used = sum(rate(q, share) for q, share in zip(demands, shares, strict=True))
    lost = Fraction(sum(demands), ONE)  # one unit in the last place of every flow's share
    bound = min(capacity, sum(demands))
    assert bound - lost <= used
    assert used <= bound or set(shares) == {1}  # a share is at least one, however little there is


@given(Units, st.lists(Units, min_size=2, max_size=12), st.data())
def test_who_leaves_a_resource_takes_nothing_from_the_others(
    capacity: int, demands: list[int], data: st.DataObject
) -> None:
    gone = data.draw(st.integers(0, len(demands) - 1))
    flows: list[Demands] = [((CONTROLLER, q),) for q in demands]
    before = max_min_shares([capacity], flows)
    after = max_min_shares([capacity], flows[:gone] + flows[gone + 1 :])
    assert all(b >= a for a, b in zip(before[:gone] + before[gone + 1 :], after, strict=True))


def test_who_leaves_one_of_two_resources_may_cost_others() -> None:
    # the flow over both was held back by the controller; without the other one there it takes more of the link
    capacity = [100, 100]
    both, controller, link = ((CONTROLLER, 100), (LINK, 100)), ((CONTROLLER, 300),), ((LINK, 100),)
    assert max_min_shares(capacity, [both, controller, link]) == [ONE // 4, ONE // 4, ONE * 3 // 4]
    assert max_min_shares(capacity, [both, link]) == [ONE // 2, ONE // 2]


# ---- several resources ---------------------------------------------------------------------------------------------


@given(networks())
@example(([1, 1], [((0, 10**11), (1, 10**11)), ((0, 1),), ((1, 5),)]))  # shares below one unit in the last place
def test_every_flow_held_back_meets_a_full_resource_where_none_has_more(
    network: tuple[list[int], list[Demands]],
) -> None:
    capacity, flows = network
    shares = max_min_shares(capacity, flows)
    assert all(1 <= share <= ONE for share in shares)
    for flow, share in zip(flows, shares, strict=True):
        if share < ONE:
            assert any(q and is_tight(r, share, capacity[r], flows, shares) for r, q in flow)


def is_tight(resource: int, share: int, capacity: int, flows: list[Demands], shares: list[int]) -> bool:
    """Whether the resource is full up to rounding and lets nobody have more than ``share``."""
    users = [(dict(flow)[resource], s) for flow, s in zip(flows, shares, strict=True) if dict(flow).get(resource)]
    used = sum(rate(q, s) for q, s in users)
    lost = Fraction(sum(q for q, _ in users), ONE)
    return used + lost >= capacity and all(s <= share for _, s in users)


@given(networks())
def test_no_resource_carries_more_than_it_can(network: tuple[list[int], list[Demands]]) -> None:
    capacity, flows = network
    shares = max_min_shares(capacity, flows)
    for r, most in enumerate(capacity):
        users = [(dict(flow).get(r, 0), share) for flow, share in zip(flows, shares, strict=True)]
        least = sum(rate(q, 1) for q, share in users if share == 1)
        assert sum(rate(q, share) for q, share in users) <= most + least


@given(networks(), st.randoms(use_true_random=False))
def test_order_of_flows_and_of_demands_does_not_matter(
    network: tuple[list[int], list[Demands]], chance: Random
) -> None:
    capacity, flows = network
    order = list(range(len(flows)))
    chance.shuffle(order)
    mixed = [tuple(chance.sample(flows[i], len(flows[i]))) for i in order]
    shares = max_min_shares(capacity, flows)
    assert max_min_shares(capacity, mixed) == [shares[i] for i in order]


def test_a_flow_over_two_full_resources_is_held_back_by_the_tighter_one() -> None:
    capacity = [90, 40, 10**9]
    flows: list[Demands] = [((CONTROLLER, 100), (LINK, 100), (PORT, 5)), ((CONTROLLER, 100),), ((PORT, 5),)]
    tight, rest, free = max_min_shares(capacity, flows)
    assert tight == ONE * 40 // 100
    assert rest == (90 * ONE - 100 * tight) // 100
    assert free == ONE


@pytest.mark.parametrize("flows", [[], [()], [(), ((CONTROLLER, 0),)]])
def test_who_asks_for_nothing_runs_freely(flows: list[Demands]) -> None:
    assert max_min_shares([1], flows) == [ONE] * len(flows)


# ---- beside an exact solver ----------------------------------------------------------------------------------------


def exact_shares(capacity: list[int], flows: list[Demands]) -> list[Fraction]:
    """[flows] max-min shares in rational arithmetic.

    All shares are raised together until a resource is full or a share is 1; the flows concerned stay there, and the
    others go on (Bertsekas and Gallager, *Data Networks*, 1992, section 6.5.2).
    """
    shares = [Fraction(0)] * len(flows)
    rising = [i for i, flow in enumerate(flows) if any(q for _, q in flow)]
    for i in set(range(len(flows))) - set(rising):
        shares[i] = Fraction(1)
    left = [Fraction(units) for units in capacity]
    while rising:
        asked = [sum(dict(flows[i]).get(r, 0) for i in rising) for r in range(len(capacity))]
        now = shares[rising[0]]
        step = min([1 - now, *(rest / total for rest, total in zip(left, asked, strict=True) if total)])
        for i in rising:
            shares[i] += step
        left = [rest - step * total for rest, total in zip(left, asked, strict=True)]
        full = {r for r, rest in enumerate(left) if not rest}
        rising = [i for i in rising if shares[i] < 1 and not any(q and r in full for r, q in flows[i])]
    return shares


def system_of_flows(chance: Random) -> tuple[list[int], list[Demands]]:
    """Up to forty flows over up to a dozen resources, in the numbers of machines: bytes per second."""
    capacity = [chance.randrange(10**8, 10**12) for _ in range(chance.randrange(1, 13))]
    resources = range(len(capacity))
    flows = []
    for _ in range(chance.randrange(1, 41)):
        used = sorted(chance.sample(resources, chance.randrange(1, len(capacity) + 1)))
        flows.append(tuple((r, chance.randrange(10**6, 10**11)) for r in used))
    return capacity, flows


def test_shares_are_those_of_an_exact_solver_to_one_part_in_a_billion() -> None:
    chance = Random(2)
    held_back = 0
    for _ in range(2000):
        capacity, flows = system_of_flows(chance)
        exact = exact_shares(capacity, flows)
        held_back += sum(share < 1 for share in exact)
        for share, right in zip(max_min_shares(capacity, flows), exact, strict=True):
            assert abs(Fraction(share, ONE) - right) <= right / 10**9
    assert held_back > 10_000
