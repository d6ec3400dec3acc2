"""Specifications of strategies and runtimes: wrong ones are refused with a sentence that names the remedy."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from strategy_setup import STRATEGIES, runtime, strategy

from numasim.machine.mapping import MAPPINGS
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.strategy.placement.compile_placement import POLICIES

OTHERS = [{"from": "others"}]
GATED = [{"from": "others", "gated": "yes"}]
LIVE = {"live": {"per": "socket", "most": 1}, "tiers": {"depth": 1}}
LATE = [{"to": "own", "unless": "late"}, {"to": "own"}]
UNITS = {
    "queues": {"deque": {"per": "worker"}, "pool": {"per": "socket"}, "shelf": {"per": "node"}},
    "steal": [{"from": "own", "queue": ["pool", "shelf"]}],
    "labels": "slices",
}
TWO_UNITS = [{"to": "label", "queue": "pool"}, {"to": "label", "queue": "shelf"}, {"to": "own"}]


def problem(document: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as caught:
        StrategySpec.model_validate(document)
    return str(caught.value.errors()[0]["msg"])


@pytest.mark.parametrize(
    ("level", "sentence"),
    [
        ({"from": "others", "lock": "rack"}, "worker"),
        ({"from": "others", "gated": "maybe"}, "yes or no"),
        ({"from": "others", "when": "a", "unless": "b"}, "when and unless do not go together"),
        ({"from": "other"}, "'others'"),
        ({"from": 3}, "a set of queues is a name"),
        ({"from": {"vicinity": 0}}, "greater than or equal to 1"),
        ({"from": "last", "pick": "random"}, "pick would have no effect"),
        ({"from": "last", "by": "node", "tries": 2}, "by, tries would have no effect"),
        ({"from": "parent", "self": "yes"}, "self: yes goes with others"),
        ({"from": "others", "self": "maybe"}, "yes or no is needed here"),
        ({"from": "others", "sample": 2}, "sample goes with pick: longest or shortest"),
        ({"from": "others", "visit": "random"}, "by: node"),
        ({"from": "others", "iterations": [3, 1]}, "which is never"),
        ({"from": "others", "if": {"length": 2, "below": 3}}, "exactly one of length and below"),
        ({"from": "others", "if": {"length": 0}}, "greater than or equal to 1"),
        ({"from": "others", "if": 4}, "a condition is announced"),
        ({"from": "others", "amount": {"count": 1, "share": 2}}, "exactly one of count and share"),
        ({"from": "others", "amount": 7}, "an amount is one, half, all"),
        ({"from": "others", "tries": "most"}, "'all'"),
        ({"from": "others", "tries": 0}, "greater than or equal to 1"),
        ({"from": "others", "chance": {"first": 0.5, "most": 0.25}}, "may not exceed most"),
        ({"from": "others", "chance": 1.5}, "less than or equal to 1"),
        ({"from": "others", "queue": "dequeue"}, "did you mean 'deque'?"),
    ],
)
def test_bad_levels(level: dict[str, Any], sentence: str) -> None:
    assert sentence in problem({"steal": [level]})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"live": {"per": "socket", "most": 1}, "steal": GATED},
            "live counts subtrees of tier root, but tiers is none",
        ),
        ({"live": {"per": "sockets", "most": 1}}, "'socket'"),
        ({"live": {"per": "socket", "most": 0}}, "greater than or equal to 1"),
        ({"live": {"per": "socket", "most": 1}, "tiers": {"depth": 1}}, "no steal level has gated: yes"),
        ({"live": "never"}, "'none'"),
        ({"steal": GATED}, "a steal level is gated, but live says no limit: add live such as {per: socket, most: 1}"),
        ({**LIVE, "steal": [{"from": "others", "own_first": "yes"}, *GATED]}, "own_first goes with gated: yes"),
        ({**LIVE, "steal": [{**GATED[0], "own_first": "yes"}]}, "but no dispatch rule says to: label"),
        ({"tiers": "slices"}, "tiers: slices are those of labelled tasks, but labels is none"),
        ({"tiers": "tune"}, "tiers: tune leaves them to a controller, but tune names none"),
        ({"labels": "tune"}, "labels: tune leaves them to a controller, but tune names none"),
        ({"tune": {"what": "packing"}}, "so tiers has to leave them to it: add tiers: tune"),
        ({"tiers": "slice"}, "'slices', 'tune' or 'none'"),
        ({"tiers": {"depth": -1}}, "greater than or equal to 0"),
        ({"labels": "slices"}, "no dispatch rule says to: label"),
        ({"dispatch": [{"to": "label"}, {"to": "own"}]}, "a dispatch rule says to: label, but labels is none"),
        ({"dispatch": TWO_UNITS, **UNITS}, "the queues of the rules to: label are per socket and node"),
        (
            {"dispatch": [{"to": "own", "tier": "root"}, {"to": "own"}]},
            "dispatch[0] asks for tier root, but every task",
        ),
        (
            {"dispatch": [{"to": "own", "tier": "free"}, {"to": "own"}], "tiers": {"depth": 0}},
            "every task is local or root: with such tiers it never holds",
        ),
        ({"dispatch": [{"to": "own", "tier": "local"}], "tiers": {"depth": 0}}, "the last dispatch rule may neither"),
        ({"dispatch": [{"to": "own", "when": "late"}]}, "the last dispatch rule may neither"),
        ({"dispatch": [{"to": "own", "iterations": [0, 3]}]}, "the last dispatch rule may neither"),
        ({"dispatch": [{"to": "own", "iterations": [3, 1]}, {"to": "own"}]}, "which is never"),
        ({"spawn": {"local": "work-first"}}, "spawn goes by tiers, but tiers is none"),
        ({"spawn": {"local": "work-frst"}, "tiers": {"depth": 1}}, "'work-first'"),
        ({"steal": [{"from": "others", "when": f"switch-{at}"} for at in range(64)], "dispatch": LATE}, "65 switches"),
        ({"locks": {"kind": "futex"}}, "mutex"),
        ({"locks": {"kind": "mcs", "batch": 2}}, "batch goes with kind: cohort, not with kind: mcs"),
        ({"locks": {"kind": "cohort", "fairness": "fair"}}, "fairness goes with kind: tas or ttas"),
        ({"locks": {"spin_ns": 5, "kind": "tas"}}, "spin_ns goes with kind: mutex"),
        ({"join": "leapfrog"}, "join: leapfrog steals by levels from: thief alone, but there is none"),
        ({"spawn": {"adaptive": {"stack": 0}}}, "greater than or equal to 1"),
        ({"spawn": {"adaptive": {}, "local": "work-first"}}, "give adaptive alone"),
        ({"dispatch": [{"to": "own", "tier": "leaf"}]}, "'free', 'root' or 'local'"),
        ({"dispatch": [{"to": "own", "copy": "yes"}]}, "copy: yes leaves an entry beside that of a later rule"),
        (
            {
                "queues": {"deque": {"per": "worker", "lock": "yes"}},
                "dispatch": [{"to": "own", "copy": "yes"}, {"to": "any"}],
            },
            "which may have no lock, but deque has one",
        ),
        ({"dispatch": [{"to": "data"}]}, "the last dispatch rule may neither look at data nor have a guard"),
        ({"dispatch": [{"to": "any", "bytes": 1}]}, "add a rule such as {to: any, pick: shortest}"),
        ({"dispatch": [{"to": "any", "source": "yes"}]}, "add a rule such as {to: any, pick: shortest}"),
        ({"dispatch": [{"to": "any", "rank": "most"}]}, "rank would have no effect"),
        ({"dispatch": [{"to": "own", "bytes": 1, "weigh": "objects"}]}, "weigh would have no effect"),
        ({"dispatch": [{"to": "own", "count": "reads", "rank": "any"}]}, "count, rank would have no effect"),
        ({"dispatch": [{"to": "data", "rank": "any", "share": 0.5}]}, "share refers to a single node"),
        ({"dispatch": [{"to": "data", "rank": "nearest"}]}, "'cheapest'"),
        ({"dispatch": [{"to": "data", "bytes": "1MB"}]}, "a size is a whole number of bytes"),
        ({"dispatch": [{"to": "date"}]}, "'data'"),
        ({"dispatch": [{"to": "any", "if": {"below": "min"}}]}, "the last dispatch rule may have no condition"),
        ({"dispatch": [{"to": "any", "sample": 2}]}, "sample goes with pick: shortest"),
        ({"queues": {"deque": {"per": "worker", "lock": "mutex"}}}, "yes or no"),
        ({"queues": {"pool": {"per": "node"}}, "amount": "half"}, "needs a queue per worker"),
        (
            {"queues": {"a": {"per": "worker"}, "b": {"per": "node"}}},
            "no level takes from queue 'b': add a steal level",
        ),
        ({"queues": {"pool": {"per": "node"}}, "refill": 1}, "refill looks at the worker's own queue"),
        ({"thresholds": "none", "steal": [{"from": "others", "if": "announced"}]}, "but thresholds is none"),
        ({"thresholds": "none", "refill": "min"}, "but thresholds is none"),
        ({"thresholds": {"announce": "thief"}}, "'owner'"),
        (
            {
                "queues": {"deque": {"per": "worker"}, "pool": {"per": "node"}},
                "thresholds": {"announce": "owner"},
                "steal": [{"from": "others", "queue": ["deque", "pool"], "if": "announced"}],
            },
            "nobody announces queue 'pool': take announce: always, or a length in the condition on it",
        ),
        ({"placement": "bind"}, "policy: bind needs one node"),
        ({"placement": {"policy": "block", "nodes": [0]}}, "nodes goes with policy: interleave or by-region or random"),
        ({"placement": "first-touch-init"}, "policy: first-touch-init needs a number of tasks, as in"),
        ({"placement": {"policy": "random", "grain": 64}}, "grain goes with policy: interleave or hash-home, not"),
        ({"placement": {"policy": "hash-home", "overflow": "next"}}, "hash-home gives no page a single home"),
        (
            {"placement": {"policy": "block", "changes": [{"phase": 1, "policy": "hash-home"}]}},
            "hash-home gives no page a single home",
        ),
        ({"placement": {"policy": "block", "changes": [{"phase": 1, "policy": "bind"}]}}, "bind needs one node"),
        ({"placement": {"policy": "block", "changes": [{"phase": -1, "policy": "block"}]}}, "greater than or equal"),
        ({"placement": {"policy": "block", "granule": 0}}, "greater than or equal to 1"),
        ({"placement": "next-tuch"}, "'next-touch'"),
        ({"placement": {"policy": "first-touch", "scan": {}}}, "scan goes with policy: numa-balancing, not with"),
        ({"placement": {"policy": "numa-balancing", "nodes": [0]}}, "nodes goes with policy: interleave or by-region"),
        ({"placement": {"policy": "numa-balancing", "scan": {"delay_ns": -1}}}, "greater than or equal to 0"),
        ({"placement": {"policy": "numa-balancing", "scan": {"size": 0}}}, "greater than or equal to 1"),
        ({"placement": {"policy": "numa-balancing", "scan": {"size": "2048TiB"}}}, "less than or equal to"),
        ({"placement": {"policy": "numa-balancing", "scan": {"migrate_after": 256}}}, "less than or equal to 255"),
        ({"mapping": "contigous"}, "'contiguous'"),
    ],
)
def test_bad_strategies(changes: dict[str, Any], sentence: str) -> None:
    assert sentence in problem({"steal": OTHERS, **changes})


def test_shipped_strategies_leave_back_off_and_the_rule_for_s_to_the_runtime() -> None:
    specs = [strategy(name) for name in STRATEGIES]
    assert all(spec.backoff is None for spec in specs)
    assert all(spec.thresholds != "none" and spec.thresholds.rule is None for spec in specs)


def test_the_names_of_mappings_and_policies_are_those_of_the_registries() -> None:
    properties = StrategySpec.model_json_schema(by_alias=True)
    assert set(properties["properties"]["mapping"]["enum"]) == set(MAPPINGS)
    assert set(properties["$defs"]["PlacementSpec"]["properties"]["policy"]["enum"]) == set(POLICIES)


def test_what_a_runtime_leaves_out_is_as_in_bare() -> None:
    assert RuntimeSpec(name="bare") == runtime("bare")


def test_bare_costs_nothing_but_probes() -> None:
    costs = runtime("bare").costs.model_dump(exclude={"probe_ns", "probe_remote_ns"})
    assert costs.pop("line") == "no"
    assert not any(costs.values())
    assert runtime("bare").capacity_tasks == 0


def test_bad_runtimes() -> None:
    for document, sentence in [
        ({"capacity": 0}, "greater than or equal to 1"),
        ({"capacity": "lots"}, "'none'"),
        ({"on_full": "wait"}, "'grow'"),
        ({"costs": {"line": "perhaps"}}, "'no', 'yes' or 'latency'"),
        ({"backoff": {"first_ns": "never"}}, "'task'"),
        ({"s_rule": {"fraction": 2}}, "less than or equal to 1"),
    ]:
        with pytest.raises(ValidationError, match=sentence):
            RuntimeSpec.model_validate(document)
