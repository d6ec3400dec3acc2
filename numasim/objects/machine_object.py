"""A machine as an object of Python: shipped, read, imported, or made of a topology."""

from __future__ import annotations

from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError, nearest_name
from numasim.html import Html, listed
from numasim.machine.build_machine import build
from numasim.machine.description import describe, shape
from numasim.machine.plausibility import check
from numasim.machine.topology import Machine as Topology
from numasim.machine.typical_values import GHZ, LINE_BYTES, LINE_NS, LLC_HITS_NS, LOCAL_NS, PAGE, SMT
from numasim.objects.part_object import GIVEN, PartObject, changed_name
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.nodes_model import NodesSpec
from numasim.parts.unit_factors import GIGA, PS_PER_NS
from numasim.parts.yaml.nodes import NO_PLACE, from_python
from numasim.spec.part_reader import PartReader

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Machine(PartObject[MachineSpec]):
    """A NUMA machine: sockets, nodes with cores and memory, caches, links, latencies, clocks.

    A machine is given as ``machine=`` to `numasim.run` and `numasim.sweep`, alone or among the values of an axis.
    Fields of nodes (``cores``, ``threads_per_core``, ``memory``, ``imc_bandwidth_gbs``) may be given without ``nodes``.
    """

    part = "machine"

    @classmethod
    def _in_their_places(cls, fields: dict[str, Any]) -> dict[str, Any]:
        return nodes_together(fields)

    @classmethod
    def from_hwloc(cls, path: str | Path, name: str | None = None) -> Self:
        """Return the machine of an XML file of hwloc (``lstopo machine.xml``); raise InputError for other files.

        Values that the file does not have are assumed and marked as assumed in ``sources``; `with_` replaces values.
        """
        from numasim.machine.measured_machine import import_machine

        draft = import_machine(Path(path), name=name)
        return cls._of(from_python({**draft.values, "sources": draft.sources}, NO_PLACE))

    @classmethod
    def ring(cls, nodes: int, *, like: Machine | str | Path | None = None, **fields: Any) -> Self:
        """Return a machine of ``nodes`` sockets of one node each, on a ring of links.

        ``fields`` are ``cores``, ``threads_per_core``, ``memory`` (``"16GiB"``) and ``imc_bandwidth_gbs`` of each node,
        ``link_bandwidth_gbs``, ``local_latency_ns``, ``hop_latency_ns``, ``name``, and all fields of a machine's YAML
        file. Other values come from a node of ``like`` (a machine, shipped name or path), else are assumed; `sources`
        has the source of each value. Raise InputError for wrong fields.
        """
        return cls._on_topology(f"ring-{nodes}", nodes, {"topology": "ring"}, like, fields)

    @classmethod
    def fully_connected(cls, nodes: int, *, like: Machine | str | Path | None = None, **fields: Any) -> Self:
        """Return a machine of ``nodes`` sockets of one node each, all linked; see `ring` for ``fields``."""
        return cls._on_topology(f"fully-connected-{nodes}", nodes, {"topology": "fully-connected"}, like, fields)

    @classmethod
    def twisted_ladder(cls, nodes: int = 8, *, like: Machine | str | Path | None = None, **fields: Any) -> Self:
        """Return ``nodes`` sockets (8, 12, 16, ...) as a twisted ladder, as on Opterons; else as for `ring`."""
        return cls._on_topology(f"twisted-ladder-{nodes}", nodes, {"topology": "twisted-ladder"}, like, fields)

    @classmethod
    def mesh(cls, rows: int, columns: int, *, like: Machine | str | Path | None = None, **fields: Any) -> Self:
        """Return a machine of sockets of one node each on a grid, linked with neighbours; see `ring` for ``fields``."""
        links = {"topology": "mesh", "rows": rows, "columns": columns}
        return cls._on_topology(f"mesh-{rows}x{columns}", rows * columns, links, like, fields)

    @classmethod
    def _on_topology(cls, name: str, nodes: int, links: dict[str, Any], like: Any, fields: dict[str, Any]) -> Self:
        model = like if like is None or isinstance(like, Machine) else cls._named(like)
        if not isinstance(nodes, int) or nodes < 1:
            raise InputError(f"got {nodes!r} nodes", path=("machine", "nodes"), expected="at least one")
        base = name if model is None else f"{name}-{model.name}"
        changes = {key: value for key, value in fields.items() if key != "sources"}
        return cls(**topology_fields(changed_name(base, changes), nodes, links, model, fields))

    @classmethod
    def _named(cls, name: str | Path) -> Self:
        return cls._of(PartReader().expand(cls.part, from_python(str(name), NO_PLACE)))

    @cached_property
    def built(self) -> Topology:
        """The machine as the arrays that engines read."""
        return build(self.spec)

    @property
    def nodes(self) -> int:
        """Number of NUMA nodes."""
        return self.spec.node_count

    @property
    def sockets(self) -> int:
        """Number of sockets."""
        return self.spec.sockets

    @property
    def cores(self) -> int:
        """Number of cores of the whole machine."""
        return self.spec.cores

    @property
    def threads(self) -> int:
        """Number of hardware threads of the whole machine, the largest number of workers."""
        return self.spec.threads

    @property
    def memory_bytes(self) -> IntArray:
        """[nodes] the memory of each node in bytes."""
        return self.built.memory_bytes

    @property
    def latency_ns(self) -> FloatArray:
        """[nodes, nodes] the latency of a load in ns: a row for the reading core's node, a column for the memory's."""
        return self.built.latency_ps / 1000

    @property
    def hops(self) -> IntArray:
        """[nodes, nodes] the number of links on the route from the row's node to the column's."""
        return np.diff(self.built.links.route_ptr).reshape(self.nodes, self.nodes)

    @property
    def sources(self) -> dict[str, str]:
        """The sources of values by dotted field; a source also applies to the fields below."""
        return dict(self.spec.sources)

    def check(self) -> list[str]:
        """Return a sentence on each implausible value of the machine."""
        return check(self.built)

    def describe(self) -> str:
        """Return the machine in some lines of text."""
        return describe(self.built)

    def draw(self) -> Figure:
        """Return a matplotlib figure of sockets, nodes, caches, memory and links; save it with ``savefig``."""
        from numasim.machine.drawing import draw

        return draw(self.built)

    def _summary(self) -> str:
        return shape(self.built)

    def _views(self) -> list[Html]:
        from numasim.report.figures.plots import drawn

        svg = drawn(self.draw(), "svg").decode()
        picture = Html(svg[svg.index("<svg") :])
        warnings = self.check()
        return [picture, listed(warnings)] if warnings else [picture]


# ---- The fields of a machine of a topology, each with its source: given, from another machine, or assumed --------

Fields = dict[str, Any]
OF_NODES = ("cores", "threads_per_core", "memory", "imc_bandwidth_gbs")
FROM_LIKE = ("nodes", "caches", "coherence", "clock", "smt", "probe", "page", "line")
ASSUMED = "assumed: typical of server processors; measure it"
USUAL: Fields = {  # of a processor with eight cores and two or three channels of memory
    "nodes": {"cores": 8, "memory": "32GiB", "imc_bandwidth_gbs": 40},
    "caches": {"l1": "32KiB", "l2": "1MiB", "llc": "16MiB", "llc_scope": "socket", **LLC_HITS_NS},
    "local_latency_ns": LOCAL_NS,
    "hop_latency_ns": 50,
    "link_bandwidth_gbs": 15,
    "coherence": LINE_NS,
    "clock": {"base_ghz": GHZ},
    "page": PAGE,
    "line": f"{LINE_BYTES}B",
}


def topology_fields(name: str, nodes: int, links: Fields, like: Machine | None, given: Fields) -> Fields:
    """Return all fields of a machine of ``nodes`` sockets with these ``links``.

    ``given`` are the fields of the user, with fields of nodes at the top. Raise InputError if the nodes of ``like`` are
    unlike each other, or if its times of cache lines are needed, but are a matrix of its own cores.
    """
    given = nodes_together(given)
    below = dict(USUAL) if like is None else _of_machine(like)
    own_lines = given.get("coherence")
    if isinstance(own_lines, dict) and "cores_ns" in own_lines:
        below.pop("coherence", None)
    elif like is not None and "coherence" not in below and own_lines is None:
        problem = f"coherence of {like.name!r} is a matrix of its own cores"
        raise InputError(problem, path=("machine", "like"), expected="coherence with the times of this machine as well")
    sources = dict.fromkeys(below, ASSUMED if like is None else f"as in {like.name}")
    above = {key: value for key, value in given.items() if key not in ("sources", "links")}
    merged = {key: _merged(below.get(key), above.get(key)) for key in dict.fromkeys((*below, *above))}
    for key, value in above.items():
        paths = [f"{key}.{inner}" for inner in value] if isinstance(value, dict) else [key]
        sources |= dict.fromkeys(paths, GIVEN)
    threads = int(merged["nodes"].get("threads_per_core", 1)) if isinstance(merged["nodes"], dict) else 1
    if threads > 1 and "smt" not in merged:
        merged["smt"], sources["smt"] = SMT, ASSUMED
    sources |= {"sockets": GIVEN, "links": GIVEN, **given.get("sources", {})}
    sources.pop("name", None)
    fields = {"name": name, "sockets": nodes, **merged}
    return {**fields, "links": _merged(links, given.get("links")), "sources": sources}


def nodes_together(given: Fields) -> Fields:
    """Return ``given`` with the fields of nodes moved below the key ``nodes``.

    Raise InputError if ``nodes`` is also given, and for a misspelt field of nodes.
    """
    known = [*MachineSpec.model_fields, *OF_NODES]
    for name in given:
        if name.isidentifier() and name not in known and nearest_name(name, known) in OF_NODES:
            problem = f"there is no field {name!r} here"
            expected = f"{', '.join(OF_NODES)} of the nodes, or a field of a machine's file"
            raise InputError(problem, path=("machine",), expected=expected, value=name, known=known)
    of_nodes = {key: given[key] for key in OF_NODES if key in given}
    if not of_nodes:
        return given
    if "nodes" in given:
        problem = f"{', '.join(of_nodes)} and nodes are given"
        raise InputError(problem, path=("machine", "nodes"), expected="one of both")
    return {**{key: value for key, value in given.items() if key not in OF_NODES}, "nodes": of_nodes}


def _merged(below: Any, above: Any) -> Any:
    if isinstance(below, dict) and isinstance(above, dict):
        return {**below, **above}
    return below if above is None else above


def _of_machine(like: Machine) -> Fields:
    """Return the fields that a machine of another topology takes from ``like``: of a node, and distances."""
    plain = like.specified()
    if not isinstance(like.spec.nodes, NodesSpec):
        problem = f"the nodes of {like.name!r} are unlike each other"
        raise InputError(problem, path=("machine", "like"), expected="a machine whose nodes are alike")
    fields = {key: plain[key] for key in FROM_LIKE if key in plain}
    fields["nodes"] = {key: value for key, value in plain["nodes"].items() if key != "per_socket"}
    coherence = fields["coherence"]
    if "cores_ns" in coherence:
        del fields["coherence"]
    else:
        across = coherence.get("cross_socket_ns", coherence["same_socket_ns"])
        nearest = across[0] if isinstance(across, list | tuple) else across
        fields["coherence"] = {**coherence, "cross_socket_ns": nearest}
    return fields | _distances(like)


def _distances(like: Machine) -> Fields:
    """Return the latencies and the bandwidth of links: as in the file of ``like``, else between its nearest nodes."""
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
