"""Random page placements: policies of any name, and how they are applied and change."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import get_args

from random_graphs import Document, happens
from random_terms import NANOSECONDS, Options, some

from numasim.parts.models import placement_model as placement

HOME_SETS = ([0], [0, 0], [0, 1], [1, 0, 0])
SCAN: Options = {
    "delay_ns": (80, (0, 0, 20, 700, 20_000)),
    "period_ns": (90, (0.001, 7, 333, 2500, 20_000)),
    "size": (80, (1, 64, 5000, "16KiB", "1MiB")),
    "fault_ns": (40, NANOSECONDS),
    "migrate_after": (50, (1, 2, 3)),
}
PLACED: Mapping[str, Options] = {  # the keys of policies; those of 100 percent are needed
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
    """Changes at one or two phases, most often to policies that let pages migrate."""
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
    """A policy of any name and how it is applied."""
    policy = a_policy(chance)
    document = {**policy, **some(chance, PLACEMENT)}
    if policy["policy"] == "hash-home":
        document.pop("changes", None)
        document.pop("overflow", None)
    return document
