"""Small machines, shipped strategies, and snapshots of queues for the tests of strategies."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from numasim import draws
from numasim.machine.topology import Caches, Clock, Coherence, Links, Machine, Smt, WorkerMap
from numasim.parts import catalog
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.yaml.nodes import NO_PLACE, from_python
from numasim.spec.part_reader import PartReader
from numasim.spec.single_part import read_runtime
from numasim.strategy.compile_strategy import compile_strategy
from numasim.strategy.steal_plan import StealPlan

STRATEGIES = catalog.names("strategies")
NONE = np.zeros(0, np.int64)
expanded = cache(lambda name: PartReader().expand("strategy", from_python(name, NO_PLACE)).plain())
runtime = cache(read_runtime)


def strategy(name: str, **changes: Any) -> StrategySpec:
    """Return a shipped strategy in which ``changes`` replace fields."""
    return StrategySpec.model_validate({**expanded(name), **changes})


def stealing(*levels: dict[str, Any], **others: Any) -> StrategySpec:
    return StrategySpec.model_validate({"name": "test", "steal": list(levels), **others})


def toy_machine(nodes: int = 2, nodes_a_socket: int = 1, latency_ps: Any = None) -> Machine:
    """Return a machine with the fields that strategies and placement use: nodes, sockets, latencies, pages."""
    node = np.arange(nodes)
    far = 10_000 + 5_000 * np.abs(node[:, None] - node) if latency_ps is None else np.asarray(latency_ps)
    return Machine(
        name="toy",
        page_bytes=16,
        line_bytes=4,
        socket_of_node=node // nodes_a_socket,
        node_of_core=node,
        llc_of_core=node,
        speed_of_core=np.full(nodes, 10**6),
        core_of_thread=node,
        sibling_of_thread=np.zeros(nodes, np.int64),
        memory_bytes=np.full(nodes, 2**20),
        imc_bytes_per_s=np.full(nodes, 10**9),
        latency_ps=far,
        links=Links(NONE, NONE, NONE, NONE, NONE, NONE),
        caches=Caches(0, 0, 0, 0, 0),
        coherence=Coherence(0, 1, (2,)),
        clock=Clock(10**9, NONE, NONE),
        smt=Smt(10**6, 10**6),
        probe_ps=None,
    )


def on_nodes(nodes: list[int], cores: list[int] | None = None, nodes_a_socket: int = 1) -> WorkerMap:
    """Return workers: worker i is on node ``nodes[i]``, a cache domain, and core ``cores[i]`` (default: its own)."""
    node = np.array(nodes, np.int64)
    core = np.arange(len(nodes)) if cores is None else np.array(cores, np.int64)
    return WorkerMap(thread=np.arange(len(nodes)), core=core, llc=node, node=node, socket=node // nodes_a_socket)


def compiled(spec: StrategySpec, nodes: list[int], how: RuntimeSpec | None = None) -> StealPlan:
    return compile_strategy(spec, how or RuntimeSpec(), toy_machine(max(nodes) + 1), on_nodes(nodes))


@dataclass
class Snapshot:
    """What a strategy sees of queues: lengths, and bits that say whether a queue meets a condition; tests set both."""

    length: list[int]
    watch: list[list[int]] = field(default_factory=list)
    iteration: int = 0
    switches: int = 0
    live: list[int] = field(default_factory=list)
    awaited: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, plan: StealPlan, length: list[int] | int = 0) -> Snapshot:
        size = len(plan.queues)
        lengths = [length] * size if isinstance(length, int) else length
        return cls(lengths, [[0] * size for _ in plan.watch], live=[0] * plan.workers, awaited=[0] * plan.workers)


def draw(seed: int, worker: int, k: int, n: int, kind: int = 1) -> int:
    """Return draw number k of a worker's stream, in [0, n), from the definition."""
    return draws.below(draws.draw(draws.base(seed, kind, worker), k), n)
