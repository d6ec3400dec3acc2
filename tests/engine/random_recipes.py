"""Random runs made from recipes: plain data that says everything, so that a run can be shown, kept and made again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

from engine_setup import machine_spec, plan_of, shipped_runtime, shipped_strategy
from random_dealing import dealt_program
from random_effects import machine_effects, model_document, with_effects
from random_grammar import Habits, dealing_items, dispatching_by_data, runtime_document, strategy_document
from random_graphs import Document, graph_document, happens, workload_of
from random_placement import placement_document
from random_terms import Options, one, some
from unlike_machines import unlike

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
from numasim.workload.generate import generate
from numasim.workload.graph import Workload
from numasim.workload.registry import workload_spec

MOST_WORKERS = 8
MANY_THREADS = 64  # sets of so many queues fit a word; machines beyond are used in full
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


@dataclass(frozen=True, eq=False, repr=False)
class RandomRun(Run):
    """A run, and the recipe of its plan and its seed."""

    recipe: Document

    def __repr__(self) -> str:
        return json.dumps(self.recipe)


def random_run(chance: Random) -> RandomRun:
    """A run of any kind that the grammars can say; some end in a deadlock."""
    while True:
        recipe = random_recipe(chance)
        try:
            return RandomRun(plan_from(recipe), recipe["seed"], recipe)
        except InputError:
            continue  # such as a producer for whose items no rule has a queue


def numbered_run(seed: int, number: int, fits: Callable[[RandomRun], bool] = lambda run: True) -> RandomRun:
    """Run ``number`` of ``seed``: the first that fits of those that follow from the two."""
    chance = Random(f"numasim {seed} {number}")
    return next(run for run in iter(lambda: random_run(chance), None) if fits(run))


def random_recipe(chance: Random) -> Document:
    """A machine, a program, a strategy, a runtime, a number of workers and a seed."""
    parts = one(chance, PARTS)(chance)
    cached = parts.pop("model", {})  # where helpers need caches, and idle cores
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
    """The plan of a recipe; an InputError where its parts do not fit together."""
    strategy, runtime = recipe["strategy"], recipe["runtime"]
    machine = machine_from(json.dumps(recipe["machine"]))
    return plan_of(
        _on_nodes_of(machine, _workload(recipe["workload"], recipe["folded"])),
        recipe["workers"],
        shipped_strategy(strategy) if isinstance(strategy, str) else StrategySpec.model_validate(strategy),
        shipped_runtime(runtime) if isinstance(runtime, str) else RuntimeSpec.model_validate(runtime),
        machine,
        recipe["skip"],
        effects_of(ModelSpec.model_validate(recipe["model"])),
    )


def _workload(given: Document, folded: bool) -> Workload:
    """A program in the JSON form of graphs, or that of a benchmark's parameters, folded where it can be."""
    return workload_of(given) if "phases" in given else generate(workload_spec(**given), folded=folded)


def _on_nodes_of(machine: Machine, work: Workload) -> Workload:
    """The program with what its items have on nodes that the machine does not have on others."""
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
    """The toy machine of a shape, with other times and unlike nodes where the recipe gives them."""
    given = json.loads(recipe)
    usual = machine_spec(**given["shape"]).model_dump(by_alias=True, exclude_none=True)
    nodes = {**usual["nodes"], **given["times"].get("nodes", {})}
    document = {**usual, **given["times"], "nodes": nodes}
    if given["effects"]:
        document = with_effects(document, given["effects"])
    if "nodes" in given:
        document = unlike(document, given["nodes"], given["unlike_caches"])
    return build(MachineSpec.model_validate(document))


def machine_document(chance: Random, has_effects: bool = False) -> Document:
    """A machine of up to six nodes, a few with many cores; some have latencies of any kind, nearer than local too."""
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
    """Parts of which most let workers meet at steals alone."""
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
    """A shipped strategy and a shipped runtime for a program of any kind."""
    return {
        "workload": chance.choice(PROGRAMS)(chance),
        "strategy": chance.choice(STRATEGIES),
        "runtime": chance.choice(RUNTIMES),
    }


def written_parts(chance: Random) -> Document:
    """A strategy and a runtime from their grammars for a program of any kind."""
    return {
        "workload": chance.choice(PROGRAMS)(chance),
        "strategy": strategy_document(chance),
        "runtime": runtime_document(chance),
    }


def learning_parts(chance: Random) -> Document:
    """A program of loops under a strategy that most often changes between iterations."""
    return {
        "workload": chance.choice((looped_graph, looped_graph, stencil))(chance),
        "strategy": chance.choice(LEARNERS) if happens(chance, 15) else strategy_document(chance, LEARNED),
        "runtime": runtime_document(chance),
    }


def looped_graph(chance: Random) -> Document:
    """A random graph of which some phases stand in a loop."""
    graph = graph_document(chance)
    while not any("loop" in phase for phase in graph["phases"]):
        graph = graph_document(chance)
    return graph


def stencil(chance: Random) -> Document:
    """A small program of LAWS, whose data fits into no cache or into all of them."""
    name = chance.choice(("heat", "heat-ir", "sor", "9p-ir"))
    sizes = {"x": chance.choice((16, 64)), "y": chance.choice((16, 48)), "leaf_rows": chance.choice((2, 8))}
    return {"name": name, **sizes, "sweeps": chance.randint(2, 6), "branching": chance.choice((2, 3))}


def located_parts(chance: Random) -> Document:
    """Tasks with data, dispatched to it."""
    program = chance.choice((graph_document, graph_document, fork_join, layered))(chance)
    while not program.get("regions", program.get("task_bytes")):
        program = graph_document(chance)
    return {"workload": program, "strategy": dispatching_by_data(chance), "runtime": runtime_document(chance)}


def placed_parts(chance: Random) -> Document:
    """A program that moves bytes, if one can be found, under a page placement of any kind."""
    program = next((one for one in (graph_document(chance) for _ in range(9)) if one["regions"]), None)
    strategy = {"name": "placed", "steal": [{"from": "others"}], "placement": placement_document(chance)}
    costs = some(chance, {"fault_ns": (60, (10, 500)), "migrate_ns": (60, (7, 1500))})
    runtime = {"name": "placed", "join": chance.choice(("help", "continuation")), "costs": costs}
    return {"workload": program or layered(chance), "strategy": strategy, "runtime": runtime}


def produced_parts(chance: Random) -> Document:
    """Like items that a producer deals to small queues, which are full most of the time (thesis chapter 3)."""
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
    """Items of ranges that are dealt by where their data lies."""
    strategy, runtime = dealing_items(chance), runtime_document(chance)
    if happens(chance, 70):  # the others often end in a deadlock: many items are dealt at once
        runtime["join"] = chance.choice(("help", "continuation"))
        for queue in (runtime, *strategy["queues"].values()):
            queue.pop("capacity", None)
    return {"workload": dealt_program(chance), "strategy": strategy, "runtime": runtime}


def helped_parts(chance: Random) -> Document:
    """Units of a worklist, of which most workers have helpers that run ahead where there is a cache."""
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
    """Units that look up data, as plain work or as transactions, with some that others add."""
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
    """A binary recursion."""
    times = {name: chance.choice((0, 1, 40, 700)) for name in ("spawn_ns", "leaf_ns", "join_ns")}
    return {"name": "fib", "n": chance.randint(0, 8), **times}


def independent(chance: Random) -> Document:
    """Tasks that are dealt at the start."""
    return {"name": "independent", "tasks": chance.randint(1, 80), **_span(chance)}


def fork_join(chance: Random) -> Document:
    """A random tree of tasks."""
    return {
        "name": "random-fork-join",
        "tasks": chance.randint(1, 40),
        "task_bytes": chance.choice((0, 1000, 70_000)),
        "graph_seed": chance.randrange(1000),
        **_span(chance),
    }


def layered(chance: Random) -> Document:
    """Random layers of tasks that depend on those before."""
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


HELPING: Options = {
    "work": (50, (0.25, 1)),
    "start_ns": (40, (0, 300)),
    "restart_ns": (40, (0, 70)),
}

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
