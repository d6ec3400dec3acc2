"""Strategies that compile to other tables are described in other words.

If a description leaves a field out, two strategies look the same. All pairs of shipped strategies are compared, and all
pairs of random strategies with random changes of one field each, by the descriptions for every worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import fields
from itertools import chain
from random import Random
from typing import Any

import numpy as np
import pytest
from random_grammar import dealing_items, dispatching_by_data, strategy_document

import numasim as ns
from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.machine.mapping import map_workers
from numasim.parts import catalog
from numasim.parts.base import canonical_json
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.plan.show_strategy import explained
from numasim.schema.enumerations import Anchor, Visit
from numasim.strategy.compile_strategy import compile_strategy, effective_runtime
from numasim.strategy.steal_plan import LEVEL, Level, StealPlan, decode_levels
from numasim.strategy.sync_places import place_words

WORKERS = 6  # so few that no list of groups is cut short
UNLIKE_UNITS = ns.Machine(  # of two cores each two threads, two nodes a socket: no two kinds of units are the same
    like="xeon-e5-2620-2s",
    name="small",
    nodes={"per_socket": 2, "cores": 2},
    caches={"llc_scope": "core"},
    links={"topology": "fully-connected", "bandwidth_gbs": 9, "latency_ns": 40},
    latency_ns=None,
    clock={"turbo": []},
    local_latency_ns=70,
).spec
MACHINE = build(UNLIKE_UNITS)
RUNTIME = RuntimeSpec()
STORED = ("name", "level", "row", "seg", "queue", "weight")
SETTINGS = ("placement", "tiers", "labels", "tune", "helpers")


def described(spec: StrategySpec) -> str:
    """Return the description for all workers, without the name."""
    return "\n".join(
        explained(spec, RUNTIME, UNLIKE_UNITS, WORKERS, worker).split("\n", 1)[1] for worker in range(WORKERS)
    )


def tables(spec: StrategySpec) -> str:
    """Return all compiled tables of a strategy, in one text, without values that no run can depend on: the overflow
    rule of a queue without bound, the growth of a wait of nothing, segments without queues, and whether the rows of
    workers are stored once or for each worker.
    """
    workers = map_workers(MACHINE, WORKERS, spec.mapping)
    plan = compile_strategy(spec, RUNTIME, MACHINE, workers)
    queues = plan.queues.copy()
    queues["full"][queues["capacity"] == 0] = 0
    wait = plan.backoff
    found: dict[str, Any] = {
        field.name: getattr(plan, field.name) for field in fields(plan) if field.name not in STORED
    }
    grows = (wait.factor, wait.max_ps) if wait.first_ps != 0 else ()
    found |= {"queues": queues, "backoff": (wait.first_ps, grows, wait.after, wait.empty)}
    found["levels"] = [entry for level in chain(*decode_levels(plan)) for entry in meant(plan, level)]
    words = place_words(spec, plan, MACHINE, workers)
    found |= {f"words.{field.name}": getattr(words, field.name) for field in fields(words)}
    found |= {"thread": workers.thread, "join": effective_runtime(spec, RUNTIME).join}
    lines = [f"{name}: {value.tolist() if isinstance(value, np.ndarray) else value}" for name, value in found.items()]
    settings = {key: value for key, value in spec.model_dump().items() if key in SETTINGS}
    return "\n".join([*lines, canonical_json(settings)])


def meant(plan: StealPlan, level: Level) -> Iterator[str]:
    """Return texts: the record of a level or rule, and the queues of each row of the level or rule."""
    record = plan.level[level.index]
    yield str({name: int(record[name]) for name in LEVEL.names or () if name not in ("row", "segments", "anchor")})
    yield "workers" if level.anchor is Anchor.ALL else level.anchor.name.replace("ME", "workers")
    for at in range(WORKERS if level.anchor in (Anchor.ALL, Anchor.ME) else level.anchors):
        row = level.row(0 if level.anchor is Anchor.ALL else at)
        yield str([[segment for segment in group if segment] for group in row.groups])
        yield str(row.weights if level.visit is Visit.WEIGHTED else ())


def checked(specs: list[StrategySpec]) -> int:
    """Return the number of different tables among ``specs``; assert that each has a description of its own."""
    by_words: dict[str, str] = {}
    for spec in specs:
        made = tables(spec)
        assert by_words.setdefault(described(spec), made) == made
    return len(set(by_words.values()))


def test_the_shipped_strategies_are_told_apart() -> None:
    specs = [ns.Strategy.shipped(name).spec for name in catalog.names("strategies")]
    assert checked(specs) > 40
    worklist = ns.Strategy(like="worklist", locks={"probe": "look-first"})
    assert ns.Strategy.shipped("worklist").explain() != worklist.with_(name="worklist").explain()


@pytest.mark.parametrize("seed", range(5))
def test_random_strategies_and_changes_of_one_field_are_told_apart(seed: int) -> None:
    chance = Random(seed)
    specs = []
    for _ in range(4):
        write = chance.choice((strategy_document, strategy_document, dispatching_by_data, dealing_items))
        document, other = write(chance), write(chance)
        specs += [spec for each in [document, *changed(chance, document, other)] for spec in valid(each)]
    assert checked(specs) > 10


def changed(chance: Random, document: dict[str, Any], other: dict[str, Any]) -> list[dict[str, Any]]:
    """Return copies of ``document``; in each copy one field, at any depth, is as in ``other``."""
    found = []
    for key in sorted({*document, *other} - {"name"}):
        found.append(with_key(document, key, other.get(key)))
    for key in ("steal", "dispatch", "queues"):
        for at, inner in enumerate(document.get(key, ())):
            mine = document[key][inner] if key == "queues" else inner
            theirs = chance.choice([*other.get(key, {}).values()] if key == "queues" else other.get(key) or [mine])
            for field in sorted({*mine, *theirs}):
                copy = deepcopy(document)
                copy[key][inner if key == "queues" else at] = with_key(mine, field, theirs.get(field))
                found.append(copy)
    return found


def with_key(mapping: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    rest = {name: deepcopy(each) for name, each in mapping.items() if name != key}
    return rest if value is None else {**rest, key: deepcopy(value)}


def valid(document: dict[str, Any]) -> list[StrategySpec]:
    """Return the strategy of ``document``; no strategy if the document is refused or does not compile."""
    try:
        spec = StrategySpec.model_validate(document)
        compile_strategy(spec, RUNTIME, MACHINE, map_workers(MACHINE, WORKERS, spec.mapping))
    except (ValueError, InputError):
        return []
    return [spec]
