"""The caches of a machine in YAML, and which cores share one last-level cache (model 2.1).

Cores are numbered node by node. On a machine without last-level caches, each core is a cache domain.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import count
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from numasim.errors import InputError
from numasim.parts.base import (
    Bytes,
    CheckedModel,
    GigabytesPerSecond,
    LeanModel,
    Nanoseconds,
    PositiveCount,
    YesNo,
    as_list,
    number_list,
)
from numasim.parts.choices import Choices
from numasim.parts.models import meanings
from numasim.parts.models.nodes_model import NodeShape


class CachesSpec(LeanModel, CheckedModel):
    """Cache sizes, and which cores share one last-level cache (LLC).

    The sharing is given by ``llc_scope``, as a number of neighbouring cores, or as a list of cores for each cache.
    """

    kinds_of_key: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **{way: (way,) for way in ("llc_scope", "cores_per_llc", "llc_cores")},
        "llc_sizes": ("llc_cores",),
    }
    left_out: ClassVar[Collection[str]] = ("cores_per_llc", "llc_cores", "llc_sizes", "forward")

    l1: Bytes = Field(
        0,
        description="Size of a core's first-level data cache; not simulated, since compute times have its effect.",
    )
    l2: Bytes = Field(
        0,
        description="Size of one core's second-level cache: repeated passes of a segment over what fits cost nothing.",
    )
    llc: Bytes = Field(
        0, description="Size of a last-level cache; of unlike caches, the largest size. Default: no last-level cache."
    )
    llc_scope: Annotated[Literal["socket", "node", "core", "none"], Choices(meanings.CACHES_LLC_SCOPE)] = Field(
        "none", description="Which cores share one last-level cache."
    )
    cores_per_llc: PositiveCount | None = Field(
        None, description="Number of neighbouring cores of a node that share a last-level cache, in place of llc_scope."
    )
    llc_cores: tuple[str, ...] | None = Field(
        None, description="The cores of each last-level cache, such as ['0-3,8', '4-7,9'], if nothing shorter tells."
    )
    llc_sizes: tuple[Bytes, ...] | None = Field(
        None, description="Size of each cache in llc_cores, where they are unlike. Default: llc."
    )
    llc_hit_ns: Nanoseconds = Field(
        Decimal(0), description="Latency of a load that the last-level cache of the own cache domain serves."
    )
    llc_remote_hit_ns: Nanoseconds = Field(
        Decimal(0), description="Latency of a load that the last-level cache of another cache domain serves."
    )
    llc_bandwidth_gbs: GigabytesPerSecond | None = Field(
        None, description="Bandwidth of one last-level cache, which the cores of its domain share. Default: no limit."
    )
    forward: YesNo = Field(
        False,
        description="Whether last-level caches also hand on clean lines, not only lines that they alone have (MESIF).",
    )

    def _problems(self) -> Iterator[str]:
        ways = (self.llc_scope != "none") + (self.cores_per_llc is not None) + (self.llc_cores is not None)
        if ways != (1 if self.llc else 0):
            yield (
                "llc and its cores go together: a size with one of llc_scope (socket, node or core), cores_per_llc or "
                "llc_cores; none of them without a size"
            )
        sizes = self.llc_sizes
        if sizes is not None and (len(sizes) != len(self.llc_cores or ()) or not min(sizes) or max(sizes) != self.llc):
            yield "llc_sizes has a size above 0 for each cache in llc_cores; the largest one is llc"


def cache_domains(caches: CachesSpec, nodes: Sequence[NodeShape]) -> list[int]:
    """Return the cache domain of every core. Raises InputError unless ``caches`` gives each core one domain."""
    if caches.llc_cores is not None:
        return _listed(caches.llc_cores, sum(node.cores for node in nodes))
    if caches.cores_per_llc is not None:
        return _in_rows(caches.cores_per_llc, nodes)
    if caches.llc_scope in ("none", "core"):
        return list(range(sum(node.cores for node in nodes)))
    units = [node.socket if caches.llc_scope == "socket" else at for at, node in enumerate(nodes)]
    unit_of_core = [unit for unit, node in zip(units, nodes, strict=True) for _ in range(node.cores)]
    dense = {unit: number for number, unit in enumerate(sorted(set(unit_of_core)))}
    return [dense[unit] for unit in unit_of_core]


def _in_rows(cores: int, nodes: Sequence[NodeShape]) -> list[int]:
    domains: list[int] = []
    fresh = count()
    for number, node in enumerate(nodes):
        if node.cores % cores:
            problem = f"node {number} has {node.cores} cores, of which not every {cores} share a last-level cache"
            expected = "a divisor of the cores of every node, or llc_cores with the cores of each cache"
            raise InputError(problem, path=("caches", "cores_per_llc"), expected=expected)
        domains += [domain for _ in range(node.cores // cores) for domain in [next(fresh)] * cores]
    return domains


EVERY_CORE = "every core in one of the lists"


def _listed(caches: Sequence[str], cores: int) -> list[int]:
    domain: dict[int, int] = {}
    for number, text in enumerate(caches):
        path = ("caches", "llc_cores", number)
        try:
            listed = number_list(text)
        except ValueError:
            raise InputError(f"{text!r} is no list of cores", path=path, expected="such as 0-3,8") from None
        if not listed or max(listed) >= cores:
            problem = f"there is no core {max(listed)}" if listed else "no core is listed"
            raise InputError(problem, path=path, expected=f"some of the cores 0 to {cores - 1}")
        if twice := sorted(listed & domain.keys()):
            raise InputError(f"core {twice[0]} has two last-level caches", path=path, expected=EVERY_CORE)
        domain.update(dict.fromkeys(listed, number))
    if missing := sorted(set(range(cores)) - domain.keys()):
        problem = f"cores {as_list(missing)} have no last-level cache"
        raise InputError(problem, path=("caches", "llc_cores"), expected=EVERY_CORE)
    return [domain[core] for core in range(cores)]
