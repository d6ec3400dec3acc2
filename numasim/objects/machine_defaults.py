"""The fields of a machine of a topology, each with its source: given, those of another machine, or assumed."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from numasim.errors import InputError, nearest_name
from numasim.machine.topology import Machine
from numasim.objects.part_object import GIVEN
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.nodes_model import NodesSpec
from numasim.parts.unit_factors import GIGA, PS_PER_NS

Fields = dict[str, Any]
OF_NODES = ("cores", "threads_per_core", "memory", "imc_bandwidth_gbs")
FROM_LIKE = ("nodes", "caches", "coherence", "clock", "smt", "probe", "page", "line")
ASSUMED = "assumed: typical of server processors; measure it"
USUAL: Fields = {  # of a processor with eight cores and two or three channels of memory
    "nodes": {"cores": 8, "memory": "32GiB", "imc_bandwidth_gbs": 40},
    "caches": {
        "l1": "32KiB",
        "l2": "1MiB",
        "llc": "16MiB",
        "llc_scope": "socket",
        "llc_hit_ns": 20,
        "llc_remote_hit_ns": 110,
    },
    "local_latency_ns": 90,
    "hop_latency_ns": 50,
    "link_bandwidth_gbs": 15,
    "coherence": {"same_core_ns": 5, "same_socket_ns": 50, "cross_socket_ns": 110},
    "clock": {"base_ghz": Decimal("2.5")},
    "page": "4KiB",
    "line": "64B",
}
USUAL_SMT: Fields = {"busy_ppm": 650_000, "poll_ppm": 850_000}  # as on the machine of the thesis


@dataclass(frozen=True)
class Example:
    """A machine whose nodes and distances another one takes over: its name, fields and arrays."""

    name: str
    fields: Fields
    spec: MachineSpec
    built: Machine


def topology_fields(name: str, nodes: int, links: Fields, like: Example | None, given: Fields) -> Fields:
    """All fields of a machine of ``nodes`` sockets with these ``links``.

    ``given`` are those that the user gives, those of nodes on their own; InputError for nodes of ``like`` that are
    unlike each other, where they are needed.
    """
    given = nodes_together(given)
    below = dict(USUAL) if like is None else _of_machine(like)
    sources = dict.fromkeys(below, ASSUMED if like is None else f"as in {like.name}")
    above = {key: value for key, value in given.items() if key not in ("sources", "links")}
    merged = {key: _merged(below.get(key), above.get(key)) for key in dict.fromkeys((*below, *above))}
    for key, value in above.items():
        paths = [f"{key}.{inner}" for inner in value] if isinstance(value, dict) else [key]
        sources |= dict.fromkeys(paths, GIVEN)
    if merged["nodes"] and _threads(merged["nodes"]) > 1 and "smt" not in merged:
        merged["smt"], sources["smt"] = USUAL_SMT, ASSUMED
    sources |= {"sockets": GIVEN, "links": GIVEN, **given.get("sources", {})}
    sources.pop("name", None)
    fields = {"name": name, "sockets": nodes, **merged}
    return {**fields, "links": _merged(links, given.get("links")), "sources": sources}


def nodes_together(given: Fields) -> Fields:
    """``given`` with the fields that all nodes share under ``nodes``.

    InputError where ``nodes`` is given, too, and for a name that is nearest to one of theirs.
    """
    known = [*MachineSpec.model_fields, *OF_NODES]
    for name in given:
        if name.isidentifier() and name not in known and nearest_name(name, known) in OF_NODES:
            raise InputError(
                f"there is no field {name!r} here",
                path=("machine",),
                expected=f"{', '.join(OF_NODES)} of the nodes, or a field of a machine's file",
                value=name,
                known=known,
            )
    of_nodes = {key: given[key] for key in OF_NODES if key in given}
    if not of_nodes:
        return given
    if "nodes" in given:
        raise InputError(
            f"{', '.join(of_nodes)} and nodes are given", path=("machine", "nodes"), expected="one of both"
        )
    return {**{key: value for key, value in given.items() if key not in OF_NODES}, "nodes": of_nodes}


def _merged(below: Any, above: Any) -> Any:
    if isinstance(below, dict) and isinstance(above, dict):
        return {**below, **above}
    return below if above is None else above


def _threads(nodes: Any) -> int:
    return int(nodes.get("threads_per_core", 1)) if isinstance(nodes, dict) else 1


def _of_machine(like: Example) -> Fields:
    """What a machine of another topology takes over from ``like``: a node, and how far it is to others."""
    plain = like.fields
    if not isinstance(like.spec.nodes, NodesSpec):
        raise InputError(
            f"the nodes of {like.name!r} are unlike each other",
            path=("machine", "like"),
            expected="a machine whose nodes are alike",
        )
    fields = {key: plain[key] for key in FROM_LIKE if key in plain}
    fields["nodes"] = {key: value for key, value in plain["nodes"].items() if key != "per_socket"}
    coherence = fields["coherence"]
    fields["coherence"] = {"cross_socket_ns": coherence["same_socket_ns"], **coherence}
    return fields | _distances(like)


def _distances(like: Example) -> Fields:
    """Latencies and the bandwidth of links: as written, else those of the nearest nodes."""
    spec, links = like.spec, like.built.links
    latency_ps = like.built.latency_ps
    local_ps = int(latency_ps.diagonal().min())
    beside = np.diff(links.route_ptr).reshape(latency_ps.shape) == 1
    nearest_ps = int(latency_ps[beside].min()) if beside.any() else None
    found: Fields = {"local_latency_ns": spec.local_latency_ns or _ns(local_ps)}
    hop_ns = spec.hop_latency_ns
    if spec.remote_base_latency_ns is not None and spec.latency_ns is None:
        found["remote_base_latency_ns"] = spec.remote_base_latency_ns
        hop_ns = hop_ns or (_ns(int(links.latency_ps.min())) if len(links.latency_ps) else None)
    elif hop_ns is None and nearest_ps is not None:
        hop_ns = _ns(max(0, nearest_ps - local_ps))
    found["hop_latency_ns"] = USUAL["hop_latency_ns"] if hop_ns is None else hop_ns
    rate = Decimal(int(np.min(links.bytes_per_s))) / GIGA if len(links.bytes_per_s) else None
    found["link_bandwidth_gbs"] = rate or USUAL["link_bandwidth_gbs"]
    return found


def _ns(time_ps: int) -> Decimal:
    return Decimal(time_ps) / PS_PER_NS
