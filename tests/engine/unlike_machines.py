"""Random machines whose nodes are unlike each other: without cores, without memory, with cores of several kinds."""

from __future__ import annotations

from random import Random
from typing import Any

from random_graphs import Document, happens

PAGES = ("4KiB", "16KiB", "64KiB", "1GiB")


def with_unlike_nodes(machine: Document, chance: Random) -> Document:
    """A random machine's recipe with other nodes: as many on each socket, of which each has cores on some."""
    shape = machine["shape"]
    bandwidth = machine["effects"].get("bandwidth_gbs", {"imc": 10})["imc"]
    nodes: list[Document] = []
    for socket in range(shape["sockets"]):
        with_cores = chance.randrange(shape["nodes"])
        for number in range(shape["nodes"]):
            kinds = _kinds(chance) if number == with_cores or happens(chance, 60) else []
            has_memory = not kinds or happens(chance, 70)
            memory = {"memory": chance.choice(PAGES), "imc_bandwidth_gbs": bandwidth} if has_memory else {}
            nodes.append({"socket": socket, **({"cores": kinds} if kinds else {}), **memory})
    if not any("memory" in node for node in nodes):
        nodes[0] |= {"memory": "1GiB", "imc_bandwidth_gbs": bandwidth}
    return {**machine, "nodes": nodes, "unlike_caches": happens(chance, 50)}


def _kinds(chance: Random) -> list[Document]:
    speeds = chance.sample((1_000_000, 600_000, 333_333, 1000), chance.randint(1, 2))
    return [
        {"count": chance.randint(1, 2), "threads_per_core": chance.randint(1, 2), "speed_ppm": speed}
        for speed in speeds
    ]


def unlike(document: Document, nodes: list[Document], unlike_caches: bool = False) -> dict[str, Any]:
    """A machine's document with ``nodes``; two cores share a cache, of which every second one may be a third as large.

    Turbo steps that fit no socket go.
    """
    cores = [_count(node.get("cores", 0)) for node in nodes]
    on_socket = [sum(c for c, n in zip(cores, nodes, strict=True) if n["socket"] == node["socket"]) for node in nodes]
    steps = [step for step in document["clock"].get("turbo", ()) if step["active"] <= max(on_socket)]
    caches = document["caches"]
    if caches.get("llc"):
        pairs = [",".join(map(str, range(core, min(core + 2, sum(cores))))) for core in range(0, sum(cores), 2)]
        caches = {**{k: v for k, v in caches.items() if k != "llc_scope"}, "llc_cores": pairs}
        if unlike_caches:
            caches["llc_sizes"] = [caches["llc"] // (3 if at % 2 else 1) for at in range(len(pairs))]
    return {**document, "nodes": nodes, "caches": caches, "clock": {**document["clock"], "turbo": steps}}


def _count(cores: int | list[Document]) -> int:
    return cores if isinstance(cores, int) else sum(kind["count"] for kind in cores)
