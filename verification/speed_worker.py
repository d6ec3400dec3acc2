"""Run plans for `speed.py`: orders on standard input, answers on standard output, both as one JSON object a line.

``{"list": true}`` answers with all timed plans, each with its name, engine and specification. ``{"plan":
SPECIFICATION}`` makes the plan for the following orders, and answers with the number of tasks. ``{"engine": NAME,
"sample_s": S}`` runs the plan as often as fits into S seconds, at least once, and answers with the mean CPU time of a
run in seconds.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple, get_args

from installed import Built, build, engines, symbol

Document = dict[str, Any]

REFERENCE, NATIVE = "reference", "native"
MODES = {"eager": "off", "skipping": "auto"}
WORKERS = {REFERENCE: (2, 24), NATIVE: (2, 24, 128, 1024)}
SIZES = {  # independent tasks, and n of fib
    (REFERENCE, "eager"): (2_000, 13),
    (REFERENCE, "skipping"): (2_000, 13),
    (NATIVE, "eager"): (200_000, 23),
    (NATIVE, "skipping"): (2**22, 30),
}
PLAIN = {"cache": "none", "contention": "none", "smt": "none", "clock": "fixed"}
SPREAD_PAGES = {"like": "randomized", "name": "randomized-interleaved", "placement": "interleave"}
TASK_BYTES = {"calm": 512, "saturated": 65_536}
FEW, MANY = ("xeon-e5-2620-2s", 24), ("xeon-6130-4s", 128)


class Timed(NamedTuple):
    """A plan that is timed on an engine."""

    name: str
    engine: str
    spec: Document


def timed_plans() -> Iterator[Timed]:
    """Yield all plans, on the engines that are built."""
    built = engines()
    for engine in built:
        yield from rates(engine)
        yield from families(engine)
    if NATIVE in built:
        yield from effects()
        yield from large_plans()


def spec_of(
    workload: Document, workers: int = FEW[1], runtime: str = "bare", skip: str = "off", **others: Any
) -> Document:
    """Return a specification with uniform stealing. By default, only steals couple the workers."""
    usual = {"machine": FEW[0] if workers <= FEW[1] else "synthetic-16x64", "strategy": "randomized", "seed": 1}
    model = {**others.pop("model", PLAIN), "skip": skip}
    return {**usual, "workload": workload, "workers": workers, "runtime": runtime, "model": model, **others}


def rates(engine: str) -> Iterator[Timed]:
    """Yield independent tasks and the calls of fib, for each mode and number of workers."""
    for (mode, skip), workers in product(MODES.items(), WORKERS[engine]):
        tasks, n = SIZES[engine, mode]
        independent = {"name": "independent", "tasks": tasks, "low_ns": 500, "high_ns": 1500}
        for workload in (independent, {"name": "fib", "n": n}):
            name = f"{workload['name']}, {mode}, {workers} workers"
            yield Timed(name, engine, spec_of(workload, workers, skip=skip))


def families(engine: str) -> Iterator[Timed]:
    """Yield every family at its modest size, on the runtime that its paper used."""
    for name, family in symbol("FAMILIES", "workload.registry").items():
        runtime = family.benchmark_runtime or family.parameters.default_runtime
        # if skipping ahead were allowed, the engines would do different work
        skip = "off" if runtime == "bare" else "auto"
        yield Timed(f"family {name}", engine, spec_of({"name": name, **family.benchmark}, runtime=runtime, skip=skip))


def effects() -> Iterator[Timed]:
    """Yield every cache and contention model with calm and with saturated memory, and all effects together."""
    kinds = [get_args(symbol(name, "parts.models.effects_model")) for name in ("CacheModel", "ContentionModel")]
    models = {f"{cache} and {how}": {**PLAIN, "cache": cache, "contention": how} for cache, how in product(*kinds)}
    models["all effects"] = {}
    for load, (name, model) in product(TASK_BYTES, models.items()):
        yield _effect(*FEW, load, name, model)
    yield _effect(*MANY, "saturated", "all effects", {})


def _effect(machine: str, workers: int, load: str, name: str, model: Document) -> Timed:
    size = {"tasks": 40_000, "low_ns": 500, "high_ns": 1500, "task_bytes": TASK_BYTES[load]}
    workload = {"name": "random-fork-join", **size}
    spec = spec_of(workload, workers, machine=machine, strategy=SPREAD_PAGES, model=model)
    return Timed(f"{name}, {load}, {workers} workers", NATIVE, spec)


def large_plans() -> Iterator[Timed]:
    """Yield the large plans of the whole commands that `numasim bench` times."""
    matmul = {"name": "matmul", "n": 8192}
    yield Timed("matmul 8192, skipping", NATIVE, spec_of(matmul, skip="auto"))
    yield Timed("matmul 8192, event by event", NATIVE, spec_of(matmul))
    yield Timed("matmul 8192 on runtime own", NATIVE, spec_of(matmul, runtime="own", skip="auto"))
    yield Timed("matmul 8192, all effects", NATIVE, spec_of(matmul, runtime="own", skip="auto", model={}))
    yield Timed("fib 35, skipping", NATIVE, spec_of({"name": "fib", "n": 35}, skip="auto"))
    yield Timed("sort", NATIVE, spec_of({"name": "sort", "n": 33_554_432}, runtime="ompi", skip="auto", model={}))


# ---- orders ---------------------------------------------------------------------------------------------------------


def mean_s(plan: Built, engine: str, sample_s: float) -> float:
    """Return the mean CPU time of runs that take ``sample_s`` together, in seconds."""
    gc.collect()
    runs, start, took_s = 0, time.process_time(), 0.0
    while not runs or took_s < sample_s:
        plan.run(engine)
        runs, took_s = runs + 1, time.process_time() - start
    return took_s / runs


def main() -> None:
    """Answer until there are no more orders."""
    plan: Built | None = None
    answer: Any
    for line in sys.stdin:
        order = json.loads(line)
        if "list" in order:
            answer = [each._asdict() for each in timed_plans()]
        elif "plan" in order:
            plan = build(symbol("resolve", "spec.run_spec", "spec.run")(order["plan"]), order["plan"]["seed"])
            answer = plan.plan.workload.tasks
        else:
            assert plan is not None
            answer = mean_s(plan, order["engine"], order["sample_s"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
