"""Random runs made from recipes. A recipe is plain data that determines a run, so that the run can be shown, kept and
made again.

The machines have small caches, slow memory controllers and shared cores, so that the model's effects (contention, ...)
change results; some machines have nodes that differ from each other.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from random import Random
from typing import Any, Literal, get_args, get_origin

from engine_setup import machine_spec, plan_of, shipped_runtime, shipped_strategy
from random_grammar import (
    Habits,
    dealing_items,
    dealt_program,
    dispatching_by_data,
    placement_document,
    runtime_document,
    strategy_document,
)
from random_graphs import Document, Options, graph_document, happens, one, some, workload_of

from numasim.errors import InputError
from numasim.machine.build_machine import build
from numasim.machine.topology import Machine
from numasim.parts import catalog
from numasim.parts.models.effects_model import ModelSpec
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.plan.effects import effects_of
from numasim.plan.plan import Plan, Run
from numasim.workload.graph import Workload
from numasim.workload.registry import generate, workload_spec

FRACTIONS = (0, 0.1, 0.5, 1)
LOADS = {"nodes": {"0": 0.005}, "links": [{"from": 0, "to": 1, "gbs": 0.005}]}  # GB/s; below all drawn bandwidths
NUMBERS: dict[str, tuple[Any, ...]] = {
    "background": ({}, LOADS),
    "local_share": (0, 0.1, 0.5, 0.9),
    "mlp": (0.1, 1, 2, 7.3),
    "task_noise": (0, 0.05, 0.5),
    "worker_spread": (0, 0.1),
}
SPEEDS_ALONE = {"cache": "none", "contention": "none", "queueing": "none", "smt": "compute", "clock": "turbo"}
GIGABYTES_PER_S = (0.01, 0.2, 0.2, 1, 10)


def model_document(chance: Random) -> Document:
    """Draw values for some keys of ``model``; often for none."""
    if happens(chance, 45):
        return {}
    if happens(chance, 15):
        return dict(SPEEDS_ALONE)
    model = {name: chance.choice(values) for name, values in effect_values().items() if happens(chance, 40)}
    if model.get("contention") == "none":
        model.pop("background", None)  # a load of other programs is refused without contention
    return model


def effect_values() -> dict[str, tuple[Any, ...]]:
    """Return, by key of ``model``, all values if they are names, else some numbers."""
    fields = ModelSpec.model_fields.items()
    return {name: _values(name, field.annotation) for name, field in fields if name != "skip"}


def _values(name: str, annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return NUMBERS.get(name, FRACTIONS)


def machine_effects(chance: Random, cores: int) -> Document:
    """Draw caches, bandwidths and speeds of a machine with so many cores on a socket."""
    return {
        "caches": _caches(chance),
        "bandwidth_gbs": {what: chance.choice(GIGABYTES_PER_S) for what in ("imc", "link")},
        "smt": {what: chance.choice((50_000, 333_333, 650_000, 1_000_000)) for what in ("busy_ppm", "poll_ppm")},
        "clock": {"base_ghz": 2, "turbo": _turbo(chance, cores)},
        "snoop": {f"{what}_bytes": chance.choice((1, 4, 8, 64)) for what in ("request", "answer")}
        if happens(chance, 30)
        else None,
    }


def _caches(chance: Random) -> Document:
    caches: Document = {"l2": chance.choice((0, 600, 20_000))}
    if happens(chance, 80):
        caches |= {
            "llc": chance.choice((1000, 20_000, 140_000, 1 << 20)),
            "llc_scope": chance.choice(("socket", "node", "core")),
            "llc_hit_ns": chance.choice((0, 15, 33.333)),
            "llc_remote_hit_ns": chance.choice((0, 60)),
        }
    if "llc" in caches and happens(chance, 40):
        caches["llc_bandwidth_gbs"] = chance.choice(GIGABYTES_PER_S)
    if "llc" in caches and caches["l2"] == 600:  # decided without a draw, so that later draws stay the same
        caches["forward"] = "yes"
    return caches


def _turbo(chance: Random, cores: int) -> list[Document]:
    steps = sorted(chance.sample(range(1, cores + 1), chance.randint(0, min(cores, 3))))
    return [{"active": active, "ghz": 3.5 - active / cores} for active in steps]


def with_effects(usual: Document, effects: Document) -> Document:
    """Return a machine's document with the caches, bandwidths and speeds of `machine_effects`."""
    bandwidth = effects["bandwidth_gbs"]
    return {
        **usual,
        "nodes": {**usual["nodes"], "imc_bandwidth_gbs": bandwidth["imc"]},
        "links": [{**link, "bandwidth_gbs": bandwidth["link"]} for link in usual["links"]],
        **{name: effects[name] for name in ("caches", "smt", "clock", "snoop")},
    }


# ---- random machines whose nodes differ from each other -------------------------------------------------------------

PAGES = ("4KiB", "16KiB", "64KiB", "1GiB")


def with_unlike_nodes(machine: Document, chance: Random) -> Document:
    """Draw other nodes for a random machine's recipe: equally many on each socket, at least one of them with cores."""
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
    """Return a machine's document with ``nodes``; two cores share a cache, and every second cache may be a third as
    large.

    Turbo steps that fit no socket are removed.
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


# ---- random runs made from recipes ----------------------------------------------------------------------------------

MOST_WORKERS = 8
MANY_THREADS = 64  # on machines with more hardware threads all have workers: sets of queues then exceed 64 bits
STRATEGIES = catalog.names("strategies")
LEARNERS = ("laws", "laws-nc", "cats", "slaw", "hws", "cab", "tbb-numa", "leapfrog")
LEARNED = Habits(tunes=80, tells_apart=75, copies=30, leaps=25)
RUNTIMES = catalog.names("runtimes")
LATENCIES_NS = (100, 1, 70, 333.333)
SPANS_NS = ((0, 0), (0, 1), (100, 900), (500, 500), (700, 50_000))
PLAIN_LEVEL: Options = {
    "pick": (60, ("random", "in-order", "after-me", "rotate", "round-robin", "after-last")),
    "tries": (30, (1, 2, "all")),
    "by": (30, ("node", "core", "distance")),
}


class RandomRun(Run, eq=False):
    """A run, and the recipe of its plan and its seed."""

    recipe: Document

    def __repr__(self) -> str:
        return json.dumps(self.recipe)


def random_run(chance: Random) -> RandomRun:
    """Draw a run of any kind that the grammars allow; some runs end in a deadlock."""
    while True:
        recipe = random_recipe(chance)
        try:
            return RandomRun(plan_from(recipe), recipe["seed"], recipe)
        except InputError:
            continue  # for example no rule has a queue for the items of a producer


def numbered_run(seed: int, number: int, fits: Callable[[RandomRun], bool] = lambda run: True) -> RandomRun:
    """Return the random run that ``seed`` and ``number`` determine: the first drawn run that ``fits``."""
    chance = Random(f"numasim {seed} {number}")
    return next(run for run in iter(lambda: random_run(chance), None) if fits(run))


def random_recipe(chance: Random) -> Document:
    """Draw a machine, a program, a strategy, a runtime, a number of workers and a seed."""
    parts = one(chance, PARTS)(chance)
    cached = parts.pop("model", {})  # the keys of ``model`` that the parts need, such as caches for helper threads
    machine = machine_document(chance, has_effects=bool(cached))
    threads = machine_from(json.dumps(machine)).threads
    most = min(MOST_WORKERS, max(1, threads // 2) if cached else threads)
    return {
        "machine": machine,
        **parts,
        "workers": threads if threads > MANY_THREADS else chance.randint(1, most),
        "seed": chance.getrandbits(64),
        "model": model_document(chance) | cached,
        "skip": happens(chance, 75),
        "folded": happens(chance, 50),
    }


def plan_from(recipe: Document) -> Plan:
    """Return the plan of a recipe; raise InputError if the parts of the recipe do not fit together."""
    strategy, runtime = recipe["strategy"], recipe["runtime"]
    machine = machine_from(json.dumps(recipe["machine"]))
    spec = shipped_strategy(strategy) if isinstance(strategy, str) else StrategySpec.model_validate(strategy)
    named = [node for policy in spec.whole_placement.policies for node in policy.named_nodes]
    if any(node >= machine.nodes or not machine.memory_bytes[node] for node in named):
        raise InputError("a policy names a node without memory")
    return plan_of(
        _on_nodes_of(machine, _workload(recipe["workload"], recipe["folded"])),
        recipe["workers"],
        spec,
        shipped_runtime(runtime) if isinstance(runtime, str) else RuntimeSpec.model_validate(runtime),
        machine,
        recipe["skip"],
        effects_of(ModelSpec.model_validate(recipe["model"])),
    )


def _workload(given: Document, folded: bool) -> Workload:
    """Return a program from the JSON form of graphs, or from a family's parameters; with ``folded``, a program of a
    family has one row for all equal subtrees, if the family's generator can do so.
    """
    return workload_of(given) if "phases" in given else generate(workload_spec(**given), folded=folded)


def _on_nodes_of(machine: Machine, work: Workload) -> Workload:
    """Return the program with bytes on missing nodes moved to existing nodes."""
    if not any(family.node_accesses for family in work.ranges):
        return work
    ranges = (
        replace(
            family,
            node_accesses=tuple(
                replace(access, nodes=tuple(node % machine.nodes for node in access.nodes))
                for access in family.node_accesses
            ),
        )
        for family in work.ranges
    )
    return replace(work, ranges=tuple(ranges))


@lru_cache(maxsize=256)
def machine_from(recipe: str) -> Machine:
    """Return the toy machine of a shape, with other times and unlike nodes if the recipe has them."""
    given = json.loads(recipe)
    usual = machine_spec(**given["shape"]).model_dump(by_alias=True, exclude_none=True)
    nodes = {**usual["nodes"], **given["times"].get("nodes", {})}
    document = {**usual, **given["times"], "nodes": nodes}
    if given["effects"]:
        document = with_effects(document, given["effects"])
    if "nodes" in given:
        document = unlike(document, given["nodes"], given["unlike_caches"])
    if "latency_ns" in given["times"]:  # decided without a draw, so that all other draws stay the same
        document["coherence"] = _lines(MachineSpec.model_validate(document), as_matrix="probe" in given["times"])
    return build(MachineSpec.model_validate(document))


def _lines(spec: MachineSpec, as_matrix: bool) -> Document:
    """Return transfer times of cache lines: one for each level of distance, or a matrix that is not symmetric."""
    if as_matrix:
        cores = range(spec.cores)
        return {"cores_ns": [[5 if a == b else 10 + (7 * a + 3 * b) % 50 for b in cores] for a in cores]}
    levels = {"same_core_ns": 5, "same_llc_ns": 12, "same_node_ns": 17, "same_socket_ns": 20}
    return {**levels, "cross_socket_ns": [40, 70][: max(1, spec.sockets - 1)]}


def machine_document(chance: Random, has_effects: bool = False) -> Document:
    """Draw a machine of up to six nodes, a few with many cores; some have arbitrary latencies, nearer
    than local too.
    """
    largest = {"sockets": 3, "cores": 3, "threads": 2, "nodes": 2}
    shape = {name: chance.randint(1, most) for name, most in largest.items()}
    if happens(chance, 2):
        shape = {**largest, "cores": 6}
    nodes = shape["sockets"] * shape["nodes"]
    times: Document = {}
    if happens(chance, 30):
        times["latency_ns"] = [chance.choices(LATENCIES_NS, k=nodes) for _ in range(nodes)]
    if happens(chance, 30):
        times["probe"] = {name: chance.choice((0, 0.5, 20, 300)) for name in ("same_node_ns", "other_node_ns")}
    if happens(chance, 15):
        times["page"] = chance.choice((64, 65536))
    if happens(chance, 50):
        times["nodes"] = {"memory": chance.choice(("16KiB", "64KiB", "256KiB"))}
    effects = machine_effects(chance, shape["cores"] * shape["nodes"]) if happens(chance, 60) or has_effects else {}
    return {"shape": shape, "times": times, "effects": effects}


# ---- programs, strategies and runtimes -----------------------------------------------------------------------------


def plain_parts(chance: Random) -> Document:
    """Draw a program, a strategy and a runtime with which workers mostly influence each other by steals alone."""
    runtime: Document = {"name": "plain"}
    if happens(chance, 30):
        runtime["costs"] = {"take_ns": chance.choice((0, 60)), "probe_ns": chance.choice((0, 50))}
    levels = [_plain_level(chance) for _ in range(chance.choice((1, 1, 2, 3)))]
    program = chance.choice((fib, independent))
    return {"workload": program(chance), "strategy": {"name": "plain", "steal": levels}, "runtime": runtime}


def _plain_level(chance: Random) -> Document:
    source = chance.choice(
        ("others", "others", "own-node", "other-nodes", "own-core", {"vicinity": 2}, "last", "thief")
    )
    return {"from": source, **(some(chance, PLAIN_LEVEL) if source != "last" else {})}


def shipped_parts(chance: Random) -> Document:
    """Draw a shipped strategy and a shipped runtime for a program of any kind."""
    return {
        "workload": chance.choice(PROGRAMS)(chance),
        "strategy": chance.choice(STRATEGIES),
        "runtime": chance.choice(RUNTIMES),
    }


def written_parts(chance: Random) -> Document:
    """Draw a strategy and a runtime from their grammars for a program of any kind."""
    return {
        "workload": chance.choice(PROGRAMS)(chance),
        "strategy": strategy_document(chance),
        "runtime": runtime_document(chance),
    }


def learning_parts(chance: Random) -> Document:
    """Draw a program of loops under a strategy that most often changes between iterations."""
    return {
        "workload": chance.choice((looped_graph, looped_graph, stencil))(chance),
        "strategy": chance.choice(LEARNERS) if happens(chance, 15) else strategy_document(chance, LEARNED),
        "runtime": runtime_document(chance),
    }


def looped_graph(chance: Random) -> Document:
    """Draw a random graph with a loop."""
    graph = graph_document(chance)
    while not any("loop" in phase for phase in graph["phases"]):
        graph = graph_document(chance)
    return graph


def stencil(chance: Random) -> Document:
    """Draw a small program of LAWS, whose data fits into no cache or into all of them."""
    name = chance.choice(("heat", "heat-ir", "sor", "9p-ir"))
    sizes = {"x": chance.choice((16, 64)), "y": chance.choice((16, 48)), "leaf_rows": chance.choice((2, 8))}
    return {"name": name, **sizes, "sweeps": chance.randint(2, 6), "branching": chance.choice((2, 3))}


def located_parts(chance: Random) -> Document:
    """Draw tasks with data, dispatched to the data."""
    program = chance.choice((graph_document, graph_document, fork_join, layered))(chance)
    while not program.get("regions", program.get("task_bytes")):
        program = graph_document(chance)
    return {"workload": program, "strategy": dispatching_by_data(chance), "runtime": runtime_document(chance)}


def placed_parts(chance: Random) -> Document:
    """Draw a program under a page placement of any kind; of up to nine programs the first that moves bytes is used."""
    program = next((one for one in (graph_document(chance) for _ in range(9)) if one["regions"]), None)
    strategy = {"name": "placed", "steal": [{"from": "others"}], "placement": placement_document(chance)}
    costs = some(chance, {"fault_ns": (60, (10, 500)), "migrate_ns": (60, (7, 1500))})
    runtime = {"name": "placed", "join": chance.choice(("help", "continuation")), "costs": costs}
    return {"workload": program or layered(chance), "strategy": strategy, "runtime": runtime}


def produced_parts(chance: Random) -> Document:
    """Draw equal items that a producer deals to small queues, which are full most of the time (thesis chapter 3)."""
    time_ns = chance.choice((0, 100, 1000, 1000, 5000))
    program = {"name": "independent", "tasks": chance.randint(1, 900), "low_ns": time_ns, "high_ns": time_ns}
    runtime = {
        "name": "produced",
        "join": chance.choice(("help", "continuation")),
        "capacity": chance.randint(1, 9),
        "on_full": "next",
        "producer": chance.choice(("extra", "extra", "extra", "master")),
        "backoff": {"first_ns": chance.choice((0, 70, 900))},
        "costs": {name: chance.choice((0, 10, 60)) for name in ("push_ns", "pop_ns", "take_ns")},
    }
    return {"workload": program, "strategy": chance.choice(STRATEGIES), "runtime": runtime}


def dealt_parts(chance: Random) -> Document:
    """Draw items of ranges that a strategy deals by the nodes of their data."""
    strategy, runtime = dealing_items(chance), runtime_document(chance)
    if happens(chance, 70):  # other runs often end in a deadlock, because many items are dealt at once
        runtime["join"] = chance.choice(("help", "continuation"))
        for queue in (runtime, *strategy["queues"].values()):
            queue.pop("capacity", None)
    return {"workload": dealt_program(chance), "strategy": strategy, "runtime": runtime}


def helped_parts(chance: Random) -> Document:
    """Draw units of a worklist; if the machine has a cache, most workers have helper threads that prefetch."""
    helpers = {"lifespan": chance.choice((0, 300, 4000, "1MiB")), **some(chance, HELPING)}
    queue = {"per": "machine", "own": chance.choice(("fifo", "lifo")), "lock": chance.choice(("yes", "no"))}
    strategy: Document = {
        "name": "helped",
        "queues": {"all": queue},
        "dispatch": [{"to": "own", "queue": "all"}],
        "steal": [{"from": "own", "queue": "all"}],
        "mapping": chance.choice(("scatter", "numa-spread")),
        "helpers": helpers,
    }
    program = units_of_work(chance)
    costs = some(chance, dict.fromkeys(("push_ns", "take_ns", "move_ns", "fault_ns"), (40, (0, 60))))
    runtime = {"name": "helped", "backoff": {"first_ns": chance.choice((70, 900)), "factor": 2}, "costs": costs}
    model = {"cache": chance.choice(("share", "lru"))} if happens(chance, 90) else {}
    return {"workload": program, "strategy": strategy, "runtime": runtime, "model": model}


def units_of_work(chance: Random) -> Document:
    """Draw units of work that look up data, plainly or in transactions; some units add others to the worklist."""
    program: Document = {
        "name": chance.choice(("worklist", "transactions")),
        "units": chance.randint(1, 40),
        "low_ns": chance.choice((0, 10, 400)),
        "high_ns": chance.choice((400, 5000)),
        "records": chance.randint(1, 300),
        "record_bytes": chance.choice((64, 700, 4000)),
        "lookups": chance.randint(0, 6),
        "added": chance.choice((0, 0.4)),
        "added_bytes": chance.choice((0, 100, 9000)),
        "iterations": chance.choice((1, 2)),
        "alone_ns": chance.choice((0, 50)),
        "graph_seed": chance.randrange(1000),
    }
    if program["name"] == "transactions":
        counts = {name: chance.randint(0, 3) for name in ("loads", "stores")}
        program |= {"objects": chance.randint(1, 30), "outside": chance.choice((0, 0.5)), "undo_ns": 20, **counts}
    return program


def fib(chance: Random) -> Document:
    """Draw a binary recursion."""
    times = {name: chance.choice((0, 1, 40, 700)) for name in ("spawn_ns", "leaf_ns", "join_ns")}
    return {"name": "fib", "n": chance.randint(0, 8), **times}


def independent(chance: Random) -> Document:
    """Draw tasks that are dealt at the start."""
    return {"name": "independent", "tasks": chance.randint(1, 80), **_span(chance)}


def fork_join(chance: Random) -> Document:
    """Draw a random tree of tasks."""
    return {
        "name": "random-fork-join",
        "tasks": chance.randint(1, 40),
        "task_bytes": chance.choice((0, 1000, 70_000)),
        "graph_seed": chance.randrange(1000),
        **_span(chance),
    }


def layered(chance: Random) -> Document:
    """Draw random layers of tasks that depend on tasks of the layer before."""
    return {
        "name": "random-layered",
        "layers": chance.randint(1, 5),
        "width": chance.randint(1, 6),
        "degree": chance.randint(1, 3),
        "task_bytes": chance.choice((0, 9000)),
        "graph_seed": chance.randrange(1000),
        **_span(chance),
    }


def _span(chance: Random) -> Document:
    low, high = chance.choice(SPANS_NS)
    return {"low_ns": low, "high_ns": high}


HELPING: Options = {"work": (50, (0.25, 1)), "start_ns": (40, (0, 300)), "restart_ns": (40, (0, 70))}

Maker = Callable[[Random], Document]
PROGRAMS: tuple[Maker, ...] = (graph_document, graph_document, graph_document, fib, independent, fork_join, layered)
PARTS: tuple[Maker, ...] = (
    plain_parts,
    shipped_parts,
    produced_parts,
    located_parts,
    placed_parts,
    written_parts,
    written_parts,
    learning_parts,
    learning_parts,
    helped_parts,
    dealt_parts,
)
