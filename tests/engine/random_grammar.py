"""Random page placements, strategies and runtimes, written in the words of their grammars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from random import Random
from typing import Any, get_args

import numpy as np
from random_graphs import (
    FRACTIONS,
    MOST_NODES,
    NANOSECONDS,
    SIGNED,
    TINY,
    Document,
    Options,
    either,
    graph_document,
    happens,
    mapping,
    one,
    some,
)

from numasim.parts.models import placement_model as placement
from numasim.parts.models import runtime_model as runtime
from numasim.parts.models import strategy_terms as terms
from numasim.parts.models.placement_model import DistributionName
from numasim.parts.models.search_model import SELF_TAKES
from numasim.schema.enumerations import ChainRule, RecheckRule, WakeRule, WhomRule
from numasim.strategy.control.controller import Controls, Measures, Program

HOME_SETS = ([0], [0, 0], [0, 1], [1, 0, 0])
SCAN: Options = {
    "delay_ns": (80, (0, 0, 20, 700, 20_000)),
    "period_ns": (90, (0.001, 7, 333, 2500, 20_000)),
    "size": (80, (1, 64, 5000, "16KiB", "1MiB")),
    "fault_ns": (40, NANOSECONDS),
    "migrate_after": (50, (1, 2, 3)),
}
PLACED: Mapping[str, Options] = {  # the keys of policies; a key with 100 percent is required
    **{name: {} for name in get_args(placement.PolicyName)},
    "interleave": {"nodes": (50, HOME_SETS), "grain": (30, (1, "64KiB", "128KiB"))},
    "by-region": {"nodes": (50, HOME_SETS)},
    "random": {"nodes": (50, HOME_SETS)},
    "hash-home": {"nodes": (50, HOME_SETS), "grain": (50, (1, 100, "64KiB"))},
    "bind": {"node": (100, (0, 1))},
    "first-touch-init": {"tasks": (100, (1, 2, 3, 50))},
    "numa-balancing": {"scan": (90, lambda chance: some(chance, SCAN))},
}


def a_policy(chance: Random) -> Document:
    name = chance.choice(list(PLACED))
    return {"policy": name, **some(chance, PLACED[name])}


def _moving_policy(chance: Random) -> Document:
    name = chance.choice(("next-touch", "next-touch", "numa-balancing"))
    return {"policy": name, **some(chance, PLACED[name])}


def policy_changes(chance: Random) -> list[Document]:
    """Draw changes at one or two phases, most often to policies that let pages migrate."""
    found = {}
    for phase in chance.choice(((0,), (0,), (1,), (0, 1))):
        policy = _moving_policy(chance) if happens(chance, 60) else a_policy(chance)
        if policy["policy"] != "hash-home":
            found[phase] = {"phase": phase, **policy}
    return [*found.values()]


PLACEMENT: Options = {
    "granule": (60, (1, 1, 3, "200B", "20KiB")),
    "touch_on_read": (30, ("no", "yes")),
    "overflow": (60, ("next", "next", "none")),
    "changes": (40, policy_changes),
}


def placement_document(chance: Random) -> Document:
    """Draw a policy of any name and its parameters."""
    policy = a_policy(chance)
    document = {**policy, **some(chance, PLACEMENT)}
    if policy["policy"] == "hash-home":
        document.pop("changes", None)
        document.pop("overflow", None)
    return document


# ---- random strategies that deal the items of ranges by the nodes of the items' data --------------------------------

NAMES = get_args(DistributionName)
DEALING: Options = {
    "overload": (60, (0, 0.1, 0.5, 3)),
    "exclusivity": (60, (0, 0.3, 0.5, 1)),
    "pair_ns": (95, (0, 0.001, 1, 7, 50)),
    "seed": (60, (0, 1, 2**64 - 1)),
}
OWN_NODE = {"from": "own-node", "pick": "rotate", "tries": "all"}
VICTIMS: tuple[list[Document], ...] = (
    [],
    [{"from": "others", "pick": "after-me", "tries": "all"}],
    [{"from": "others", "tries": "all"}],
    [OWN_NODE],
    [OWN_NODE, {"from": "other-nodes", "by": "node", "pick": "rotate", "tries": "all"}],
)
FILLERS: Options = {
    "key_filler": (80, ("equal-prob", "disjoint-subranges")),
    "emit_filler": (60, ("equal", "one-numa-heavy")),
    "combiner": (50, ("associative", "buffer")),
    "pattern": (50, ("sequential", "strided", "random", "chase")),
    **dict.fromkeys(("emit_ns", "key_ns", "copy_ns"), (90, (0, 1, 10))),
    "vector_values": (50, (1, 2, 100)),
    "values_returned": (30, (0, 0.5, 1)),
}


def distribution(chance: Random) -> str | Document:
    """Draw a distribution by its name, or with parameters."""
    name = chance.choice(NAMES)
    return name if happens(chance, 15) else {"deal": name, **some(chance, DEALING)}


def victims(chance: Random, families: Document) -> list[Document]:
    """Draw steal levels as in Phoenix++; a level for the own queues comes first if workers share queues."""
    levels = [{**level, "queue": [*families]} for level in one(chance, VICTIMS)]
    return [{"from": "own", "queue": [*families]}, *levels] if "pool" in families else levels


def columns(chance: Random) -> Document:
    """Draw a container of few rows, reduced in one phase or in rounds."""
    name = chance.choice(("reduce", "reduce", "map-reduce", "horizontal-tournament", "vertical-tournament"))
    threads = chance.randint(1, 5)
    return {
        "name": name,
        "emits": chance.randint(1, 90),
        "rows": chance.randint(1, 30),
        "value_bytes": chance.choice((1, 64, 700)),
        "threads": threads,
        "nodes": [chance.randrange(MOST_NODES) for _ in range(threads)],
        **some(chance, FILLERS),
    }


def dealt_program(chance: Random) -> Document:
    """Draw a program with ranges whose items mostly have bytes on nodes."""
    if happens(chance, 25):
        return columns(chance)
    graph = graph_document(chance, dealt=True)
    while not graph["ranges"]:
        graph = graph_document(chance, dealt=True)
    return graph


# ---- random strategies and runtimes ---------------------------------------------------------------------------------

ENDS = ("lifo", "fifo")
UNITS = ("node", "core", "llc", "socket", "machine")
FULL = get_args(runtime.FullRule)
SPILLS = ("spill-oldest", "spill-newest")
MARKS = (1, 1, 2, 3, "min", "max")
CONDITIONS = either(("announced",), mapping(length=MARKS), mapping(below=MARKS))
AMOUNTS = either(
    ("one", "half", "all", {"share": "workers"}),
    mapping(count=TINY),
    mapping(share=TINY),
    mapping(share=TINY, most=TINY),
    mapping(share=TINY, round=("up", "above")),
)
RULES = either(get_args(runtime.ThresholdRule), mapping(fraction=FRACTIONS))
SOURCES = either(
    ("others", "others", "own", "parent", "last", "thief"),
    (*get_args(terms.InsideName), *get_args(terms.OutsideName)),
    mapping(vicinity=TINY),
)
TARGETS = ("own", "any", "any", "lightest", "data", "data", "data", *get_args(terms.InsideName))
LEARNING: Options = {
    "most": (50, (0.5, 1)),
    **dict.fromkeys(("hit", "miss", "elsewhere-hit", "elsewhere-miss"), (60, SIGNED)),
}
LOCKS: Options = {
    "kind": (100, get_args(terms.LockName)),
    "batch": (60, (1, 2, 5)),
    "fairness": (60, ("near", "fair")),
    "spin_ns": (60, NANOSECONDS),
    "home": (60, ("owner", "master")),
    "words": (30, ("cached", "memory")),
    "barrier": (80, get_args(terms.BarrierName)),
    "probe": (40, ("look-first", "lock-first")),
}


def locks_document(chance: Random) -> Document:
    """Draw locks and barriers of some kind, with the keys that the kind allows."""
    given = some(chance, LOCKS)
    kinds = terms.LockSpec.kinds_of_key
    return {key: value for key, value in given.items() if key not in kinds or given["kind"] in kinds[key]}


BACKOFF: Options = {
    "first_ns": (70, either(("task",), NANOSECONDS)),
    "factor": (40, TINY),
    "max_ns": (40, either(("none",), NANOSECONDS)),
    "after": (40, ("round", "probe")),
    "empty": (30, ("skip", "count")),
}
THRESHOLDS: Options = {
    "max": (40, ("auto", 3, 4, 5)),
    "min": (40, ("auto", 1, 2)),
    "rule": (40, RULES),
    "when": (50, ("first-drain", "phase", "fixed")),
    "announce": (60, get_args(terms.Announcement)),
}
QUEUE: Options = {
    "own": (40, ENDS),
    "steal": (40, ENDS),
    "capacity": (30, TINY),
    "full": (30, FULL),
    "lock": (15, ("no", "yes")),
    "lines": (25, (1, 2)),
}
LEVEL: Options = {
    "by": (30, ("node", "core", "llc", "socket", "distance")),
    "pick": (60, get_args(terms.StealPick)),
    "tries": (30, (1, 2, 3, "all")),
    "if": (25, CONDITIONS),
    "amount": (30, AMOUNTS),
    "leave": (15, (0, 1, 2)),
    "lock": (12, get_args(terms.UnitName)),
    "who": (8, ("head",)),
    "iterations": (10, ([0, 0], [0, 1], [1, "last"])),
    "chance": (
        12,
        either(
            (0.5, 0.25, 0.7, 0, 1), lambda chance: {"first": chance.choice((0, 0.1, 0.5)), **some(chance, LEARNING)}
        ),
    ),
}
AMONG_SEVERAL = ("by", "pick", "tries")
LAST: Options = {
    **{key: options for key, options in LEVEL.items() if key not in AMONG_SEVERAL},
    "chance": (40, LEVEL["chance"][1]),
    "forget": (50, ("yes",)),
}
GUARDS: Options = {
    "bytes": (20, (1, 600, "16KiB")),
    "share": (15, (1, 0.5, 0.25, 0.7)),
    **dict.fromkeys(("uneven", "here", "source"), (12, ("yes",))),
}
RANKING: Options = {
    "rank": (60, ("most", "cheapest", "any", "any")),
    "count": (40, ("both", "reads", "writes")),
    "weigh": (40, ("bytes", "objects")),
}
ADAPTIVE: Options = {
    "stack": (70, (1, 2, 3, 5)),
    "every": (80, (1, 2, 3, 7)),
    "steals": (50, (1, 2)),
    "first": (60, ("help-first", "work-first")),
}
SWITCHED: Options = {"when": (8, ("a", "b")), "unless": (8, ("a", "b"))}
RULE: Options = {
    "pick": (60, get_args(terms.DispatchPick)),
    "if": (40, CONDITIONS),
    "iterations": (8, ([0, 0], [0, 1], [1, "last"])),
}
TIERS = ("free", "root", "local")
SPAWN_BY_TIER = mapping(**dict.fromkeys(TIERS, ("help-first", "work-first")))
STRATEGY: Options = {
    "spawn": (40, either(("help-first", "work-first"), lambda chance: {"adaptive": some(chance, ADAPTIVE)})),
    "thresholds": (30, lambda chance: some(chance, THRESHOLDS)),
    "backoff": (20, lambda chance: some(chance, BACKOFF)),
    "placement": (60, either(("first-touch", "interleave"), placement_document)),
    "mapping": (40, get_args(terms.MappingName)),
    "locks": (70, locks_document),
}
COSTS: Options = {
    **{name: (45, NANOSECONDS) for name in runtime.CostSpec.model_fields if name.endswith("_ns")},
    "faults_per_s": (40, (0, 1000, 1_000_000, 50_000_000)),
    "fault_alpha": (40, FRACTIONS),
    "unmap_batch": (40, (0, 1, 2, 100)),
    "yield_ns": (10, NANOSECONDS),  # workers that yield are never skipped ahead
    "line": (50, ("no", "yes", "yes", "latency")),
}
SLEEP: Options = {"recheck": (70, get_args(RecheckRule)), "first_ns": (25, (1, 700, 5000)), "misses": (10, ("yes",))}
WAKE: Options = {
    "at": (75, get_args(WakeRule)),
    "whom": (60, get_args(WhomRule)),
    "chain": (60, (0, 1, 2, 3)),
    "chain_by": (60, get_args(ChainRule)),
    "counted": (40, ("no", "yes")),
    "cancel": (40, ("no", "yes")),
    "missed": (30, ("yes",)),
}
CAPS = either(("any",), mapping(count=TINY), mapping(share=(1, 2, 3)), mapping(busy_share=(1, 2)))


def _idle_phase(chance: Random) -> Document:
    """Draw a phase of an idle worker: how many fruitless rounds, or how long, and the wait after each round."""
    lasts = {"rounds": chance.randint(1, 6)} if happens(chance, 70) else {"for_ns": chance.choice((0, 1, 2000))}
    wait = {chance.choice(("pause_ns", "yield_ns", "nap_ns")): chance.choice(NANOSECONDS)}
    return {**lasts, **wait, **({"crowded": "yes"} if happens(chance, 25) else {})}


def idle_document(chance: Random) -> Document:
    """Draw rules for idle workers; most of the drawn rules let workers sleep."""
    document: Document = {"phases": [_idle_phase(chance) for _ in range(chance.choice((0, 0, 1, 2, 3)))]}
    if happens(chance, 85):
        sleep, wake = some(chance, SLEEP), some(chance, WAKE)
        if "first_ns" in sleep and happens(chance, 60):
            sleep |= {"factor": chance.choice((1, 2)), "max_ns": sleep["first_ns"] * chance.choice((1, 9))}
        if sleep.get("recheck") == "none" and "first_ns" not in sleep:
            sleep["misses"] = "yes"
        quiet = wake.get("at", "no-searcher") in ("no-searcher", "empty-queue")
        if quiet and (not wake.get("chain", 1) or wake.get("chain_by") == "woken"):
            sleep["misses"] = "yes"
        document |= {"sleep": sleep, "wake": wake, "searchers": one(chance, CAPS)}
    elif not document["phases"]:
        document["between_ns"] = chance.choice((0, 1, 3000))
    if happens(chance, 25):
        document["between_ns"] = chance.choice((0, 1, 3000))
    return document


RUNTIME: Options = {
    "join": (85, get_args(runtime.JoinKind)),
    "capacity": (40, TINY),
    "on_full": (40, FULL),
    "resume": (20, FRACTIONS),
    "inline_above": (15, (1, 2, 5)),
    "producer": (40, get_args(runtime.ProducerKind)),
    "release": (40, get_args(runtime.ReleaseRule)),
    "queue_order": (30, get_args(runtime.QueueOrder)),
    "poll_ns": (30, NANOSECONDS),
    "s_rule": (30, RULES),
    "backoff": (40, lambda chance: some(chance, BACKOFF)),
    "costs": (60, lambda chance: some(chance, COSTS)),
    "idle": (35, idle_document),
}
CONTROLLER = "random_grammar:choose"
TUNE: Options = {"profile_ns": (40, NANOSECONDS), "profiled": (40, ([0, "last"], [1, 2], [0, 1]))}
SETS_OF_SWITCHES = ([[], ["a"]], [["a"], []], [["a"]], [[], ["a"], []])
PACKING: Options = {
    "start": (80, either(("sosc", "slices"), mapping(depth=(0, 1, 2, 3)))),
    "moves": (60, (["children"], ["parents", "children"], ["children", "parents"], [])),
    "within": (60, ("tree", "slice")),
    "keep": (30, either(("faster",), mapping(faster_by_per_mille=(1, 5, 300)))),
    "cpu_bound": (
        50,
        either(
            ("none",),
            mapping(misses_per_million=(0, 1, 1000, 10**6)),
            mapping(misses_per_million=(1, 1000), instructions_per_us=(1, 100, 4000)),
        ),
    ),
}


def _shipped_controller(chance: Random, document: Document) -> Document:
    """Draw a shipped controller; for a controller that tries switches, add a rule or level with a switch."""
    if happens(chance, 60):
        document["tiers"] = "tune"
        return {"what": "packing", **some(chance, TUNE), **some(chance, PACKING)}
    level = chance.choice(document["steal"][:-1] or document["steal"])
    for key in SWITCHED:
        level.pop(key, None)
    level[chance.choice(("when", "unless"))] = "a"
    return {"what": "fastest", "of": chance.choice(SETS_OF_SWITCHES), **some(chance, TUNE)}


def _controller(chance: Random, placement: str | Document) -> Document:
    """Draw a controller that chooses at random, also among page policies if these may change."""
    tune = {"python": CONTROLLER, **some(chance, TUNE)}
    may_change = isinstance(placement, str) or (placement["policy"] != "hash-home" and "changes" not in placement)
    if may_change and happens(chance, 60):
        drawn = {name: a_policy(chance) for name in ("here", "there", "elsewhere")}
        tune["placements"] = {name: policy for name, policy in drawn.items() if policy["policy"] != "hash-home"}
    return tune


def runtime_document(chance: Random) -> Document:
    """Draw a runtime with few or many costs."""
    return {"name": "random", **some(chance, RUNTIME)}


@dataclass(frozen=True)
class Habits:
    """How many per cent of drawn strategies have a controller, tiers, copies, slots or queues that spill, levels that
    leave out sleeping workers, and leapfrogging joins.
    """

    tunes: int = 15
    tells_apart: int = 35
    copies: int = 25
    moves: int = 12
    leaps: int = 12
    sleeps: int = 8


USUAL = Habits()


def strategy_document(chance: Random, habits: Habits = USUAL) -> Document:
    """Draw a strategy of one or two families of queues (a queue per worker, node, ...); its levels reach all queues."""
    families = _families(chance)
    owned = "deque" in families
    levels = [_level(chance, families) for _ in range(chance.choice((1, 1, 2, 2, 3, 4)))]
    document = {
        "name": "random",
        "queues": families,
        "steal": [*levels, *_catch_all(chance, families)],
        **some(chance, STRATEGY),
    }
    if not owned or len(families) > 1 or happens(chance, 25):
        document["dispatch"] = _rules(chance, families)
    if happens(chance, 10) and not any("chance" in level for level in levels):
        document["passes"] = passes = chance.choice((2, 3))
        levels[0]["from_pass"] = chance.randint(1, passes)
    if [*families] != ["deque"]:
        document.get("thresholds", {}).pop("announce", None)  # an owner can announce only a queue per worker
    if owned and happens(chance, 20):
        document["amount"] = one(chance, AMOUNTS)
    if owned and happens(chance, 15):
        _add_refill(chance, document)
    if happens(chance, habits.tunes):
        document["tune"] = _controller(chance, document.get("placement", "first-touch"))
    if happens(chance, habits.tells_apart):
        _tell_apart(chance, document)
    if "tune" in document and happens(chance, 30):
        document["tune"] = _shipped_controller(chance, document)
    if owned and happens(chance, habits.leaps):
        document |= {"join": "leapfrog", "steal": [{"from": "thief"}, *document["steal"]]}
        for level in document["steal"][1:]:
            if level["from"] != "thief" and happens(chance, 40):
                level["leap_after"] = chance.choice(TINY)
    if owned and happens(chance, habits.sleeps):
        _look_at_the_awake(chance, document)
    if owned and happens(chance, habits.moves):
        _let_tasks_move(chance, document)
    elif happens(chance, habits.copies):
        _leave_copies(document)
    polled = chance.choice(document["steal"])
    if happens(chance, 12) and not {"chance", "from_pass", "gated"} & {*polled}:
        document["steal"] = [{**polled, "every": chance.randint(1, 4)}, *document["steal"]]
    return document


def _let_tasks_move(chance: Random, document: Document) -> None:
    """Give workers slots, or let half of a full queue spill into a queue of another family."""
    families = document["queues"]
    rules = document.get("dispatch") or [{"to": "own", "queue": ["deque"]}]
    if "pool" in families and "labels" not in document and happens(chance, 50):
        families["deque"] |= {"full": chance.choice(SPILLS), "capacity": chance.randint(1, 5)}
        families["pool"].pop("capacity", None)
        rules = [{"to": "own", "queue": ["deque"]}, {"to": "any", "queue": ["pool"]}]
    if happens(chance, 60):
        families["slot"] = {"per": "worker", "full": "displace", **some(chance, {"in_a_row": (60, TINY)})}
        rules = [{"to": "own", "queue": ["slot"]}, *rules]
        document.get("thresholds", {}).pop("announce", None)
        if happens(chance, 50):
            document["steal"].append({"from": "others", "queue": ["slot"], "pick": "rotate", "tries": "all"})
    document["dispatch"] = rules


def _look_at_the_awake(chance: Random, document: Document) -> None:
    """Let workers sleep, and let levels for the workers' own queues leave out the queues of those that sleep."""
    while "sleep" not in (idle := idle_document(chance)):
        pass
    document["idle"] = idle
    for level in document["steal"]:
        if [*document["queues"]] == ["deque"] or level.get("queue") == ["deque"]:
            level["if"] = "awake"


def _leave_copies(document: Document) -> None:
    """Let all dispatch rules but the last leave copies of the tasks, if no queue has a lock."""
    if not any(family.get("lock") == "yes" for family in document["queues"].values()):
        for rule in document.get("dispatch", ())[:-1]:
            rule["copy"] = "yes"


def _tell_apart(chance: Random, document: Document) -> None:
    """Give tasks tiers, at times labels, and let rules, spawn orders and levels depend on tiers and labels."""
    families = document["queues"]
    rules = document["dispatch"] = document.get("dispatch") or [{"to": "any", "pick": "in-order"}]
    document["tiers"] = {"depth": chance.choice((0, 1, 1, 2, 2, 3))}
    if happens(chance, 60):
        by_label = {"to": "label", "queue": [chance.choice([*families])], **some(chance, RULE), **_switched(chance)}
        rules.insert(chance.randrange(len(rules)), by_label)
        document["labels"] = distribution(chance) if happens(chance, 30) else "slices"
        document["tiers"] = chance.choice((document["tiers"], "slices"))
    if "tune" in document and happens(chance, 50):
        document["tiers"] = "tune"
        if "labels" in document:
            document["labels"] = chance.choice((document["labels"], "tune"))
    some_tiers = [["root", "local"], ["root"], ["free", "root"], "local", ["local", "free"]]
    if document["tiers"] == {"depth": 0}:
        some_tiers.pop(2)
    for rule in rules[:-1]:
        if happens(chance, 60):
            rule["tier"] = chance.choice(some_tiers)
    if happens(chance, 50):
        document["spawn"] = SPAWN_BY_TIER(chance)
    if happens(chance, 60):
        document["live"] = {"per": chance.choice((*UNITS, "worker")), "most": chance.choice((1, 1, 2, 5))}
        chance.choice(document["steal"])["gated"] = "yes"
        document["steal"][0]["gated"] = "yes"
        if "labels" in document and happens(chance, 50):
            (family,) = next(rule["queue"] for rule in rules if rule["to"] == "label")
            document["live"]["per"] = families[family]["per"]
            document["steal"][0]["own_first"] = "yes"


def dispatching_by_data(chance: Random) -> Document:
    """Draw a strategy whose first dispatch rule, `to: data`, chooses the queue by the nodes of the new task's data."""
    document = strategy_document(chance, replace(USUAL, moves=0))
    families = document["queues"]
    first = {**_rule(chance, families), "to": "data", **some(chance, RANKING)}
    told_apart = "tiers" in document and "dispatch" in document
    others = document["dispatch"] if told_apart else _rules(chance, families)
    rules = [{**first, "rank": "most"} if "share" in first else first, *others]
    return {**document, "dispatch": rules}


def dealing_items(chance: Random) -> Document:
    """Draw a strategy that deals the items of ranges to workers, nodes or other units, or to all as one unit."""
    families = _families(chance)
    by_label = {"to": "label", "queue": [chance.choice(["deque"] * 3 * ("deque" in families) + [*families])]}
    if happens(chance, 40):  # otherwise every item goes to the worker or node of its label
        by_label |= {**some(chance, RULE), **_switched(chance)}
    written = happens(chance, 40)
    levels = [_level(chance, families) for _ in range(chance.choice((1, 2, 3)))] if written else []
    document = {
        "name": "dealing",
        "queues": families,
        "labels": distribution(chance),
        "dispatch": [by_label, *_rules(chance, families)],
        "steal": [*levels, *_catch_all(chance, families)] if written else victims(chance, families),
        **some(chance, STRATEGY),
    }
    if [*families] != ["deque"]:
        document.get("thresholds", {}).pop("announce", None)
    if happens(chance, 25):
        document["tune"] = _controller(chance, document.get("placement", "first-touch"))
    if happens(chance, 15):
        _leave_copies(document)
    return document


def _families(chance: Random) -> Document:
    """Draw families of queues: one queue for each worker, one for each node or other unit, or both families."""
    kind = chance.choice(("own", "own", "own", "both", "shared"))
    families = {}
    if kind != "shared":
        families["deque"] = {"per": "worker", **some(chance, QUEUE)}
    if kind != "own":
        families["pool"] = {"per": chance.choice(UNITS), **some(chance, QUEUE)}
    return families


def _level(chance: Random, families: Document) -> Document:
    source = one(chance, SOURCES)
    level = {"from": source, **some(chance, LAST if source == "last" else LEVEL), **_switched(chance)}
    if "deque" not in families:
        level.pop("amount", None)  # a thief without a queue of its own cannot take more than one task
    if len(families) > 1 and happens(chance, 60):
        level["queue"] = chance.choice((["pool"], ["deque"], ["deque", "pool"], ["pool", "deque"]))
    if source == "last":
        return level
    if "by" in level and happens(chance, 50):
        level["visit"] = chance.choice(("nearest", "random", "weighted"))
    if level.get("pick") in terms.BY_LENGTH and happens(chance, 50):
        level["sample"] = chance.choice(TINY)
    if _may_include_self(source) and happens(chance, 15):
        level["self"] = "yes"
    return level


def _may_include_self(source: Any) -> bool:
    return isinstance(source, dict) or source in SELF_TAKES


def _catch_all(chance: Random, families: Document) -> list[Document]:
    """Draw a last level that finds all remaining tasks; needed if workers share queues."""
    if "pool" not in families and not happens(chance, 40):
        return []
    pick = chance.choice(("random", "in-order"))
    tries = chance.choice((*("all",) * 9, 1))  # with a single try, some tasks are never found
    return [{"from": "others", "self": "yes", "queue": [*families], "pick": pick, "tries": tries}]


def _rules(chance: Random, families: Document) -> list[Document]:
    rules = [_rule(chance, families) for _ in range(chance.choice((1, 2, 3)))]
    if _may_find_none(rules[-1]):
        rules.append({"to": "any", "pick": chance.choice(("shortest", "in-order"))})
    return rules


def _may_find_none(rule: Document) -> bool:
    return rule["to"] == "data" or any(key in rule for key in ("if", "iterations", *SWITCHED, *GUARDS))


def _rule(chance: Random, families: Document) -> Document:
    rule = {"to": chance.choice(TARGETS), **some(chance, RULE), **some(chance, GUARDS), **_switched(chance)}
    rule |= _ranking(chance, rule)
    if rule.get("pick") == "shortest" and happens(chance, 50):
        rule["sample"] = chance.choice(TINY)
    if happens(chance, 50):
        rule["queue"] = [chance.choice([*families])]
    return rule


def _switched(chance: Random) -> Document:
    """Draw a switch for a level or rule, or none."""
    found = some(chance, SWITCHED)
    return dict([found.popitem()]) if found else {}


def _ranking(chance: Random, rule: Document) -> Document:
    """Draw how a dispatch rule that chooses a node ranks the nodes; the rank `any` allows no share of a single node."""
    if rule["to"] != "data" and not {"share", "uneven", "here"} & {*rule}:
        return {}
    ranking = some(chance, RANKING)
    return {**ranking, "rank": "cheapest"} if "share" in rule else ranking


def _add_refill(chance: Random, document: Document) -> None:
    """Add ``refill``, and levels that leave as many tasks: otherwise two thieves would steal a last task for ever."""
    document["refill"] = chance.choice((0, 1, 2, "min"))
    least = 3 if document["refill"] == "min" else document["refill"]
    for level in document["steal"]:
        level["leave"] = max(least, level.get("leave", 0))


# ---- a controller whose choices depend on all its inputs: if an input differs between engines, later choices differ --


def choose(program: Program, state: bytes | None, measures: Measures | None) -> tuple[bytes, Controls]:
    """Return random controls; the state is a digest of all measures so far."""
    digest = blake2b(state or b"begin", digest_size=16)
    if measures is not None:
        for value in measures:
            digest.update(np.ascontiguousarray(value, np.int64).tobytes())
    chance = Random(digest.digest())
    return digest.digest(), any_controls(program, chance)


def any_controls(program: Program, chance: Random) -> Controls:
    """Return random controls; a control that is None keeps its last value."""
    switches = frozenset(name for name in program.switches if chance.random() < 0.5)
    tiers = np.array(chance.choices((1, 2, 4), (1, 2, 3), k=program.tasks), np.uint8)
    labels = np.array([chance.randrange(-1, program.units) for _ in range(program.tasks)], np.int32)
    return Controls(
        tiers=tiers if chance.random() < 0.6 else None,
        labels=labels if chance.random() < 0.6 else None,
        switches=switches if chance.random() < 0.7 else None,
        placement=chance.choice((None, *program.placements)),
    )
