"""A machine as an object of Python: shipped, read, imported, or made of a topology."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.html import Html, listed
from numasim.machine.build_machine import build
from numasim.machine.description import describe, shape
from numasim.machine.plausibility import check
from numasim.machine.topology import Machine as Topology
from numasim.objects.machine_defaults import Example, nodes_together, topology_fields
from numasim.objects.part_object import NOWHERE, PartObject, changed_name
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.yaml.nodes import from_python
from numasim.spec.part_reader import PartReader

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Machine(PartObject[MachineSpec]):
    """A NUMA machine: sockets, nodes with cores and memory, caches, links, latencies, clocks.

    It is given as ``machine=`` to `numasim.run` and `numasim.sweep`, alone or among the values of an axis. Fields of
    its nodes (``cores``, ``threads_per_core``, ``memory``, ``imc_bandwidth_gbs``) may be given without ``nodes``.
    """

    part = "machine"

    @classmethod
    def _in_their_places(cls, fields: dict[str, Any]) -> dict[str, Any]:
        return nodes_together(fields)

    @classmethod
    def from_hwloc(cls, path: str | Path, name: str | None = None) -> Self:
        """The machine of an XML file that hwloc (``lstopo machine.xml``) wrote; InputError for anything else.

        Values that the file does not have are assumed and marked as such in ``sources``: replace what you have measured
        by `with_`.
        """
        from numasim.machine.importing import import_machine

        draft = import_machine(Path(path), name=name)
        return cls._of(from_python({**draft.values, "sources": draft.sources}, NOWHERE))

    @classmethod
    def ring(cls, nodes: int, *, like: Machine | str | Path | None = None, **fields: Any) -> Self:
        """``nodes`` sockets of one node each, every one linked with two others.

        ``fields`` are ``cores``, ``threads_per_core``, ``memory`` (``"16GiB"``) and ``imc_bandwidth_gbs`` of each node,
        ``link_bandwidth_gbs``, ``local_latency_ns``, ``hop_latency_ns``, ``name``, and all fields of a machine's YAML
        file. What is not given is that of a node of ``like`` (a machine, shipped name or path), else assumed; `sources`
        says where each value comes from. InputError for fields that are wrong.
        """
        return cls._on_topology(f"ring-{nodes}", nodes, {"topology": "ring"}, like, fields)

    @classmethod
    def fully_connected(cls, nodes: int, *, like: Machine | str | Path | None = None, **fields: Any) -> Self:
        """``nodes`` sockets of one node each, every one linked with every other; the rest as for `ring`."""
        return cls._on_topology(f"fully-connected-{nodes}", nodes, {"topology": "fully-connected"}, like, fields)

    @classmethod
    def twisted_ladder(cls, nodes: int = 8, *, like: Machine | str | Path | None = None, **fields: Any) -> Self:
        """``nodes`` sockets (8, 12, 16, ...) as a twisted ladder, as on Opterons; else as for `ring`."""
        return cls._on_topology(f"twisted-ladder-{nodes}", nodes, {"topology": "twisted-ladder"}, like, fields)

    @classmethod
    def mesh(cls, rows: int, columns: int, *, like: Machine | str | Path | None = None, **fields: Any) -> Self:
        """Sockets of one node each on a grid, linked with their up to four neighbours; the rest as for `ring`."""
        links = {"topology": "mesh", "rows": rows, "columns": columns}
        return cls._on_topology(f"mesh-{rows}x{columns}", rows * columns, links, like, fields)

    @classmethod
    def _on_topology(cls, name: str, nodes: int, links: dict[str, Any], like: Any, fields: dict[str, Any]) -> Self:
        model = like if like is None or isinstance(like, Machine) else cls._named(like)
        if not isinstance(nodes, int) or nodes < 1:
            raise InputError(f"got {nodes!r} nodes", path=("machine", "nodes"), expected="at least one")
        base = name if model is None else f"{name}-{model.name}"
        changes = {key: value for key, value in fields.items() if key != "sources"}
        example = None if model is None else Example(model.name, model.specified(), model.spec, model.built)
        return cls(**topology_fields(changed_name(base, changes), nodes, links, example, fields))

    @classmethod
    def _named(cls, name: str | Path) -> Self:
        return cls._of(PartReader().expand(cls.part, from_python(str(name), NOWHERE)))

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
        """Number of hardware threads of the whole machine, which is the largest number of workers."""
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
        """Where the values come from, by dotted field; a source is also that of the fields below its own."""
        return dict(self.spec.sources)

    def check(self) -> list[str]:
        """What is implausible about the machine, a sentence each; empty where nothing is."""
        return check(self.built)

    def describe(self) -> str:
        """The machine in some lines of text."""
        return describe(self.built)

    def draw(self) -> Figure:
        """A matplotlib figure of sockets, nodes, caches, memory and links; save it with ``savefig``."""
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
