"""Write a list of plans as specifications, one JSON object a line: cells and random plans. A cell is a workload family
under a shipped strategy on a shipped machine.

    python verification/plan_list.py --sources . --plans 6000 --seed 1

Every version of numasim reads specifications, so two versions can run the same list. A line has ``group``, ``name`` and
``spec``, the mapping that `numasim.run` takes. ``graph`` is the task graph, if the specification names a file of a
graph. ``modules`` is the folder of the modules that a strategy names. ``watched`` says that the run is traced as well.
Of 20 successive plans 14 are cells. Until all cells are used, the first N plans of a longer list are the list of N
plans.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from importlib import import_module
from itertools import count, product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from installed import Built, build, engines, symbol

Document = dict[str, Any]

SMALL: dict[str, Document] = {  # parameters that give a family some dozens of tasks
    "matmul": {"n": 5},
    "strassen": {"n": 128},
    "sort": {"n": 512, "quicksort_cutoff": 128, "merge_cutoff": 128},
    "sparselu-single": {"blocks": 3, "block_size": 8},
    "sparselu-for": {"blocks": 3, "block_size": 8},
    "fib": {"n": 6},
    "nqueens": {"n": 4},
    "fft": {"n": 64},
    "uts": {"root_children": 10, "children": 2, "probability": 0.3},
    "independent": {"tasks": 30, "low_ns": 100, "high_ns": 2000},
    "random-fork-join": {"tasks": 25, "low_ns": 100, "high_ns": 2000, "task_bytes": 5000},
    "spinlock": {"threads": 2, "acquisitions": 9, "critical_ns": 40, "think_ns": 30},
    "syncbench": {"construct": "reduction", "threads": 2, "repetitions": 3},
    "random-layered": {"layers": 3, "width": 6, "low_ns": 100, "high_ns": 2000, "task_bytes": 5000},
}
RUNTIMES = {"matmul": "own"}  # all other families run on their own default runtime
TEAMS = (2, 5, 16)
UNCOUPLED: Document = {"cache": "none", "contention": "none", "smt": "none", "clock": "fixed"}
CELL_MODELS: tuple[Document, ...] = ({**UNCOUPLED, "skip": "off"}, UNCOUPLED, {})
CELLS_OF_20 = 14
MOST_RECORDS = 20_000  # limit of a random plan's trace: in some plans tasks are stolen to and fro for ever
MOST_EVENTS = 20_000
MOST_CPU_S = 1  # limit of processor time; a run usually takes milliseconds
WATCHED_EVERY = 7
BROKEN = 2  # exit status of a plan that does not work
ANY_SPEC: Document = {
    "machine": "xeon-e5-2620-2s",
    "workload": {"name": "fib", "n": 1},
    "strategy": "randomized",
    "workers": 1,
}
GRAPH_FILE = "graph.json"


class EndlessError(Exception):
    """Raised if a plan has more records than a comparison has time for."""


@dataclass(frozen=True)
class Names:
    """The names of shipped machines and strategies, in alphabetical order."""

    machines: tuple[str, ...]
    strategies: tuple[str, ...]

    @classmethod
    def of(cls, sources: Path) -> Names:
        """Return the names of the files in ``configs``."""
        return cls(
            *(tuple(sorted(p.stem for p in (sources / "configs" / k).glob("*.yaml"))) for k in cls.__annotations__)
        )


# ---- cells: families, strategies and machines -----------------------------------------------------------------------


def cells(names: Names) -> list[Document]:
    """Return every family under every strategy on every machine. Any beginning of the list covers all families,
    strategies and machines evenly.
    """
    every = list(product(range(len(names.machines)), range(len(names.strategies)), range(len(SMALL))))
    Random("cells").shuffle(every)
    return [_cell(names, *place) for place in every]


def _cell(names: Names, machine: int, strategy: int, family: int) -> Document:
    workload = list(SMALL)[family]
    spec = {
        "machine": names.machines[machine],
        "workload": {"name": workload, **SMALL[workload]},
        "strategy": names.strategies[strategy],
        "workers": TEAMS[(family + strategy) % len(TEAMS)],
        "seed": family,
        "model": CELL_MODELS[(family + machine + strategy) % len(CELL_MODELS)],
    }
    if workload in RUNTIMES:
        spec["runtime"] = RUNTIMES[workload]
    return {"group": "cells", "name": f"{workload} x {spec['strategy']} x {spec['machine']}", "spec": spec}


# ---- random plans ---------------------------------------------------------------------------------------------------


def random_plans(sources: Path, seed: int) -> Iterator[Document]:
    """Yield plans from the generators of the tests. In every other plan only steals couple the workers.

    Plans whose parts do not fit together, and plans that take too long, are left out.
    """
    generators = next((sources / "tests").rglob("random_recipes.py")).parent
    sys.path.append(str(generators))
    random_recipe = import_module("random_recipes").random_recipe
    # imports the modules once, before processes are forked
    build(symbol("resolve", "spec.run")(ANY_SPEC), 0).run(engines()[-1])
    for number in count():
        recipe = random_recipe(Random(f"numasim {seed} {number}"))
        coupled = number % 2 == 0
        plan = {
            "group": "random" if coupled else "random, uncoupled",
            "name": f"plan {number} of seed {seed}",
            "modules": str(generators.resolve()),
            **_specified(recipe if coupled else _uncoupled(recipe)),
        }
        if _is_useful(plan):
            yield plan


def _uncoupled(recipe: Document) -> Document:
    return {**recipe, "model": UNCOUPLED, "machine": {**recipe["machine"], "effects": {}}}


def _specified(recipe: Document) -> Document:
    """Return a recipe as a specification, together with the task graph that the specification names."""
    graph = _graph(recipe["workload"], recipe["folded"])
    spec = {
        "machine": _machine_document(recipe["machine"]),
        "workload": {"file": GRAPH_FILE} if graph else recipe["workload"],
        **{key: recipe[key] for key in ("strategy", "runtime", "workers", "seed")},
        "model": {**recipe["model"], "skip": "auto" if recipe["skip"] else "off"},
    }
    return {"spec": spec, "graph": graph} if graph else {"spec": spec}


def _graph(workload: Document, folded: bool) -> Document | None:
    """Return the task graph, in JSON, of a program that is a graph or needs a row for every task; else None."""
    if "phases" in workload:
        return workload
    if folded:
        return None
    generate = symbol("generate", "workload.generate")
    made = generate(symbol("workload_spec", "spec.workload")(**workload), folded=False)
    return None if made.ranges else symbol("to_file", "workload.json_form.graph_models", "workload.json_models")(made)


def _machine_document(given: Document) -> Document:
    """Return the toy machine of the tests with the shape, times and effects of a recipe."""
    usual = import_module("engine_setup").machine_spec(**given["shape"]).model_dump(by_alias=True, exclude_none=True)
    nodes = {**usual["nodes"], **given["times"].get("nodes", {})}
    document = {**usual, **given["times"], "nodes": nodes}
    if not given["effects"]:
        return document
    return import_module("random_recipes").with_effects(document, given["effects"])  # type: ignore[no-any-return]


def _is_useful(plan: Document) -> bool:
    """Return whether the parts fit together, and the run, or its deadlock, ends soon.

    The run is made in a process of its own. The process is ended if no record is seen for too long, since some plans
    poll for ever.
    """
    with TemporaryDirectory() as folder:
        try:
            spec = symbol("resolve", "spec.run")(placed(json.loads(written(plan)), Path(folder)))
            built = build(spec, symbol("repeat_seed", "draws")(spec.seed, 0))
        except symbol("InputError", "errors"):
            return False
    child = os.fork()
    if not child:
        status = BROKEN
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))
            status = int(not _ends(built))
        finally:
            os._exit(status)
    status = os.waitpid(child, 0)[1]
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == BROKEN:
        raise RuntimeError(f"{plan['name']} cannot be run: {written(plan)}")
    return status == 0


def _ends(built: Built) -> bool:
    """Return whether the run ends, with a result or in a deadlock, within the limits of records and events."""
    records = 0

    def listener(batch: Any) -> None:
        nonlocal records
        records += len(batch)
        if records > MOST_RECORDS:
            raise EndlessError

    try:
        return bool(built.run(engines()[-1], listener=listener).counters["events"] <= MOST_EVENTS)
    except EndlessError:
        return False
    except symbol("DeadlockError", "engine.deadlock"):
        return True


def placed(plan: Document, folder: Path) -> Document:
    """Return the specification of ``plan``. A graph of the plan is written into ``folder``."""
    if "graph" not in plan:
        return dict(plan["spec"])
    path = folder / GRAPH_FILE
    path.write_text(json.dumps(plan["graph"]), encoding="utf-8")
    return {**plan["spec"], "workload": {"file": str(path)}}


# ---- the list -------------------------------------------------------------------------------------------------------


def plans(sources: Path, number: int, seed: int) -> Iterator[Document]:
    """Yield the first ``number`` plans."""
    from_cells, at_random = iter(cells(Names.of(sources))), random_plans(sources, seed)
    for at in range(number):
        plan = next(from_cells, None) if at % 20 < CELLS_OF_20 else None
        plan = plan or next(at_random)
        yield {**plan, "watched": True} if at % WATCHED_EVERY == 0 else plan


def written(plan: Document) -> str:
    """Return a plan as one line of JSON."""
    return json.dumps(plan, sort_keys=True, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> int | float:
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    raise TypeError(f"{value!r} is no JSON")


def main() -> None:
    """Print the list."""
    parser = argparse.ArgumentParser(description="Write plans as specifications, one a line.")
    parser.add_argument("--sources", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--plans", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for plan in plans(given.sources, given.plans, given.seed):
        print(written(plan))


if __name__ == "__main__":
    main()
