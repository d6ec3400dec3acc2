"""Distributions, which deal items (tasks) to units (workers) by the nodes of the items' data, by hand and by their
definitions (model 4.10).
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from numasim.parts.models.placement_model import DistributionSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.strategy.dealing import BY_NAME, Dealt, KnownItems, deal, with_serial_parts
from numasim.workload.graph import Deal, Kind, Loop, Phase
from numasim.workload.registry import generate, workload_spec

LATENCY = np.array([[1, 2], [2, 1]])


def known(sizes: list[list[int]], node: list[int]) -> KnownItems:
    """Return items with ``sizes`` bytes on two nodes, to be dealt to units (workers); unit i is on node ``node[i]``."""
    found, groups = np.array(sizes, np.int64), np.unique(node)
    return KnownItems(found, np.array(node), groups, found @ LATENCY[groups].T)


def dealt(name: str, items: KnownItems, **keys: str) -> Dealt:
    """Return the result of the distribution ``name``."""
    fields = {key: Decimal(text) for key, text in keys.items()}
    return deal(items, DistributionSpec.model_validate({"deal": name, **fields}))


# Of rows 0 to 3, two lie on node 1 alone, one is shared, one is mostly on node 0; units 0 and 2 are on node 0.
ROWS = known([[0, 10], [0, 10], [5, 5], [12, 3]], [0, 1, 0, 1])


def test_four_rows_and_four_units() -> None:
    assert dealt("interleave", ROWS).units.tolist() == [0, 1, 2, 3]
    assert dealt("locality", ROWS).units.tolist() == [1, 1, 0, 0]  # row 2 costs 15 on both nodes: the lowest unit
    # 45 bytes are 11.25 a unit, and 12.375 with the tenth that may be exceeded. Row 3, of 15 bytes, fits nowhere and
    # goes to the least loaded unit. Then row 0 goes to unit 1, row 1 to unit 3, and row 2 to unit 2, which has room.
    assert dealt("balanced", ROWS).units.tolist() == [1, 3, 2, 0]
    assert dealt("mixed-locality-balanced", ROWS).units.tolist() == [1, 1, 0, 0]
    assert dealt("mixed-locality-balanced", ROWS, exclusivity="0.9").units.tolist() == [1, 1, 2, 0]
    assert dealt("mixed-locality-interleave", ROWS, exclusivity="0.9").units.tolist() == [1, 1, 2, 3]


def test_how_many_pairs_are_looked_at() -> None:
    pairs = {name: dealt(name, ROWS).pairs for name in BY_NAME}
    twice = 2 * 4 * 4
    assert pairs == {
        **{"random": 0, "interleave": 0, "locality": twice, "balanced": twice},
        **{"mixed-locality-balanced": twice, "mixed-locality-interleave": 4 * 4},
    }


def plainly_balanced(items: KnownItems, spec: DistributionSpec) -> list[int]:
    """Return the distribution by its definition, unit by unit."""
    size = items.bytes.sum(axis=1).tolist()
    cost = {group: at for at, group in enumerate(items.groups.tolist())}
    load, found = [0] * items.units, [-1] * items.items
    for item in sorted(range(items.items), key=lambda each: (-size[each], each)):
        row = items.cost[item].tolist()
        order = sorted(range(items.units), key=lambda unit: (row[cost[int(items.node[unit])]], unit))
        room = [unit for unit in order if (load[unit] + size[item]) * items.units <= sum(size) * (1 + spec.overload)]
        found[item] = room[0] if room else min(order, key=lambda unit: load[unit])
        load[found[item]] += size[item]
    return found


SIZES = st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), min_size=1, max_size=12)
NODES = st.lists(st.integers(0, 1), min_size=1, max_size=5)


@given(SIZES, NODES, st.sampled_from(["0", "0.1", "0.5", "2"]))
@settings(max_examples=150)
def test_distributions_are_what_they_say(sizes: list[list[int]], node: list[int], overload: str) -> None:
    items = known(sizes, node)
    spec = DistributionSpec.model_validate({"deal": "balanced", "overload": Decimal(overload)})
    per_unit = items.cost[:, np.searchsorted(items.groups, node)]
    cheapest = per_unit.argmin(axis=1)
    assert dealt("locality", items).units.tolist() == cheapest.tolist()
    found = dealt("balanced", items, overload=overload).units
    assert found.tolist() == plainly_balanced(items, spec)
    total = items.bytes.sum(axis=1)
    own = items.bytes[np.arange(len(sizes)), np.array(node)[cheapest]] * 2 >= total
    mixed = dealt("mixed-locality-interleave", items).units
    assert mixed.tolist() == np.where(own, cheapest, np.arange(len(sizes)) % len(node)).tolist()
    assert (dealt("mixed-locality-balanced", items).units[own] == cheapest[own]).all()


def test_labels_are_a_word_or_a_mapping() -> None:
    rules = {"steal": [], "dispatch": [{"to": "label"}, {"to": "own"}]}
    word = StrategySpec.model_validate({**rules, "labels": "locality"})
    mapping = StrategySpec.model_validate({**rules, "labels": {"deal": "locality", "pair_ns": 7}})
    assert word.distribution == DistributionSpec.model_validate({"deal": "locality"})
    assert mapping.distribution == DistributionSpec.model_validate({"deal": "locality", "pair_ns": 7})
    assert StrategySpec.model_validate({**rules, "labels": "slices"}).distribution is None


def test_a_serial_part_stands_before_its_phase() -> None:
    work = generate(workload_spec("reduce", emits=8, rows=4))
    found = with_serial_parts(work, {0: 5000}, "distribution")
    assert [(phase.name, phase.serial, phase.roots) for phase in found.phases] == [
        ("distribution", True, (0,)),
        ("reduce", False, ()),
    ]
    assert (found.kind.tolist(), found.segment_compute_ps.tolist()) == ([Kind.IMPLICIT], [5000])
    assert found.tasks == work.tasks


def test_phases_that_repeat_and_loops_keep_their_order() -> None:
    work = generate(workload_spec("reduce", emits=8, rows=4))
    often = Phase(range_family=0, deal=Deal.CYCLIC, repeat=3)
    found = with_serial_parts(replace(work, phases=(often, often), loops=(Loop(0, 2, 5),)), {1: 9}, "part")
    assert [phase.repeat for phase in found.phases] == [3, 1, 1]
    assert found.loops == (Loop(0, 3, 5), Loop(1, 3, 3))
    assert found.tasks == 2 * 3 * 5 * 4
