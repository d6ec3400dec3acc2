"""Random strategies that deal the items of ranges by where their data lies, with victims of all kinds (model 4.10)."""

from __future__ import annotations

from random import Random
from typing import get_args

from random_graphs import MOST_NODES, Document, graph_document, happens
from random_terms import Options, one, some

from numasim.parts.models.placement_model import DistributionName

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
    **dict.fromkeys(("entries_returned", "values_returned"), (30, (0, 0.5, 1))),
}


def distribution(chance: Random) -> str | Document:
    """A distribution by its name, or with parameters."""
    name = chance.choice(NAMES)
    return name if happens(chance, 15) else {"deal": name, **some(chance, DEALING)}


def victims(chance: Random, families: Document) -> list[Document]:
    """Levels as those of Phoenix++, behind the own queues where workers share some."""
    levels = [{**level, "queue": [*families]} for level in one(chance, VICTIMS)]
    return [{"from": "own", "queue": [*families]}, *levels] if "pool" in families else levels


def columns(chance: Random) -> Document:
    """A container of few rows, reduced in one phase or in rounds."""
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
    """A program with ranges, most of whose items have bytes on nodes."""
    if happens(chance, 25):
        return columns(chance)
    graph = graph_document(chance, dealt=True)
    while not graph["ranges"]:
        graph = graph_document(chance, dealt=True)
    return graph
