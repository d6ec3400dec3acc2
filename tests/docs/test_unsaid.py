"""The page of strategies that numasim cannot express: numasim refuses them, and runs the nearest strategies."""

from __future__ import annotations

from typing import Any

import pytest

import numasim as ns
from numasim.errors import InputError

SMALL = {"machine": "xeon-e5-2620-2s", "workload": {"name": "fib", "n": 8}, "strategy": "randomized", "workers": 4}
RANDOM = {"like": "randomized"}
OTHERS = {"from": "others"}
DEQUE = {"deque": {"per": "worker"}}
BOXES = {**DEQUE, "box": {"per": "worker", "lock": True}}
FAMILY_OF_ALL = {"from": "own", "queue": "all"}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"workers": 1000}, "24 hardware threads"),
        ({"workload": {"name": "matmul", "n": 64}, "strategy": {**RANDOM, "placement": "next-touch"}}, "would migrate"),
        ({"strategy": {**RANDOM, "placement": {"policy": "hash-home", "overflow": "next"}}}, "no page a single home"),
        (
            {
                "strategy": {
                    "queues": BOXES,
                    "steal": [{"from": "own", "queue": "box"}, OTHERS],
                    "dispatch": [{"to": "any", "queue": "box", "copy": True}, {"to": "own"}],
                }
            },
            "may have no lock",
        ),
    ],
)
def test_what_the_page_calls_refused_is_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        ns.run({**SMALL, **fields})


@pytest.mark.parametrize(
    "strategy",
    [
        {"amount": {"share": 4}},
        {"amount": {"count": 4}},
        {"refill": 2},
        {"placement": {"policy": "interleave", "grain": "4KiB"}},
        {"steal": [{**OTHERS, "tries": 100}]},
        {"steal": [{**OTHERS, "pick": "rotate", "tries": "all"}]},
        {"steal": [{"from": "last"}, OTHERS]},
        {"steal": [{**OTHERS, "if": {"length": 1}}]},
        {"steal": [{**OTHERS, "leave": 1}]},
        {"steal": [{**OTHERS, "pick": "longest", "sample": 2}]},
        {"steal": [{"from": "own-node"}, {"from": "other-nodes", "by": "node", "who": "head"}]},
        {"queues": {"deque": {"per": "worker", "lock": True}}, "steal": [OTHERS]},
        {  # urgent tasks first
            "tiers": {"depth": 2},
            "queues": {**DEQUE, "all": {"per": "machine"}},
            "steal": [FAMILY_OF_ALL, OTHERS],
            "dispatch": [{"to": "any", "queue": "all", "tier": ["free", "root"]}, {"to": "own"}],
        },
        {  # a task whose queue is full goes into another queue
            "queues": {"deque": {"per": "worker", "capacity": 4}, "all": {"per": "machine"}},
            "steal": [FAMILY_OF_ALL, OTHERS],
            "dispatch": [{"to": "own"}, {"to": "any", "queue": "all"}],
        },
    ],
)
def test_what_the_page_calls_nearest_runs(strategy: dict[str, Any]) -> None:
    assert ns.run({**SMALL, "strategy": {**RANDOM, **strategy}}).row()["tasks"] > 0
