"""Writes the plans that `numasim bench` times, as specifications, one JSON object a line: name, engine, spec.

    python verification/benchmark_list.py --sample-s 0.1

Rates are measured at sizes that take the engine of this interpreter about ``--sample-s``, so that one installation
writes the list for both that are compared. Plans of the effects have fewer tasks than in the benchmark.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple, get_args

from installed import build, engines, symbol

Document = dict[str, Any]

REFERENCE, NATIVE = "reference", "native"
MODES = {"eager": "off", "skipping": "auto"}
FIRST_TASKS = 2_000
MOST_TASKS = 2**26
LARGEST_FIB = {"eager": 29, "skipping": 35}  # event by event, a call takes memory
EFFECT_TASKS = 40_000
GROWTH = 32.0  # of a size over the one tried before
EFFECT_MACHINES = (("xeon-e5-2620-2s", 24), ("xeon-6130-4s", 128))


class Timed(NamedTuple):
    """A plan that is timed on an engine."""

    name: str
    engine: str
    spec: Document


def timed_plans(sample_s: float) -> Iterator[Timed]:
    """All of them, on the engines that are built."""
    built = engines()
    for engine in built:
        yield from rates(engine, sample_s)
        yield from families(engine)
    if NATIVE in built:
        yield from effects()
        yield from commands()


# ---- rates: independent tasks and the calls of fib, at sizes that fit -----------------------------------------------


def rates(engine: str, sample_s: float) -> Iterator[Timed]:
    """For each mode, workload and number of workers."""
    effort = symbol("Effort", "report.benchmark.effort", "benchmark.effort")()
    teams = effort.reference_workers if engine == REFERENCE else effort.workers
    for mode, (workload, of_size), workers in product(MODES, SIZED.items(), teams):
        spec = fitted(engine, workers, mode, of_size, sample_s)
        yield Timed(f"{workload}, {mode}, {workers} workers", engine, spec)


def _independent(tasks: int, mode: str) -> Document:
    return {"name": "independent", "tasks": min(tasks, MOST_TASKS), "low_ns": 500, "high_ns": 1500}


def _fib(tasks: int, mode: str) -> Document:
    of_calls = symbol("fib_of", "benchmark.simulation_rates", "report.benchmark.rates", "benchmark.rates")
    return {"name": "fib", "n": min(of_calls(tasks), LARGEST_FIB[mode])}


SIZED: dict[str, Callable[[int, str], Document]] = {"independent": _independent, "fib": _fib}


def fitted(engine: str, workers: int, mode: str, of_size: Callable[[int, str], Document], sample_s: float) -> Document:
    """The specification of the size that takes ``engine`` about ``sample_s``, or of the largest size."""
    tasks, spec = FIRST_TASKS, _spec(of_size(FIRST_TASKS, mode), workers, "bare", MODES[mode])
    while (took_s := _quickest_s(spec, engine)) < sample_s / 2:
        tasks = int(tasks * min(GROWTH, sample_s / took_s))
        larger = _spec(of_size(tasks, mode), workers, "bare", MODES[mode])
        if larger == spec:
            break
        spec = larger
    return spec


def _quickest_s(spec: Document, engine: str) -> float:
    plan = build(symbol("resolve", "spec.run")(spec), spec["seed"])
    return min(cpu_s(lambda: plan.run(engine)) for _ in range(2))


def cpu_s(action: Callable[[], object]) -> float:
    """CPU time that ``action`` takes in this process."""
    start = time.process_time()
    action()
    return time.process_time() - start


# ---- workload families, effects, whole commands ---------------------------------------------------------------------


def families(engine: str) -> Iterator[Timed]:
    """Every family at its modest size."""
    where = ("benchmark.simulation_rates", "report.benchmark.families", "benchmark.families")
    runtime_of, skip_of = symbol("runtime_of", *where), symbol("skip_of", *where)
    for family, size in symbol("Effort", "report.benchmark.effort", "benchmark.effort")().families.items():
        spec = _spec({"name": family, **size}, EFFECT_MACHINES[0][1], runtime_of(family), skip_of(family))
        yield Timed(f"family {family}", engine, spec)


def effects() -> Iterator[Timed]:
    """Every cache and contention model while memory is calm and while it is saturated, and all effects together."""
    plain = symbol("PLAIN", "report.benchmark.effort", "benchmark.effort")
    kinds = [get_args(symbol(name, "spec.model")) for name in ("CacheModel", "ContentionModel")]
    models = {f"{cache} and {how}": {**plain, "cache": cache, "contention": how} for cache, how in product(*kinds)}
    few, many = EFFECT_MACHINES
    for load in symbol(
        "TASK_BYTES", "benchmark.simulation_rates", "benchmark.effect_rates", "report.benchmark.effects"
    ):
        for name, model in {**models, "all effects": {}}.items():
            yield _effect(*few, load, name, model)
    yield _effect(*many, "saturated", "all effects", {})


def _effect(machine: str, workers: int, load: str, name: str, model: Document) -> Timed:
    task_bytes = symbol(
        "TASK_BYTES", "benchmark.simulation_rates", "benchmark.effect_rates", "report.benchmark.effects"
    )[load]
    size = {"tasks": EFFECT_TASKS, "low_ns": 500, "high_ns": 1500, "task_bytes": task_bytes}
    pages = symbol("SPREAD_PAGES", "benchmark.effort", "benchmark.timed_plans", "report.benchmark.plans")
    workload = {"name": "random-fork-join", **size}
    spec = _spec(workload, workers, "bare", "off", machine=machine, strategy=pages, model=model)
    return Timed(f"{name}, {load}, {workers} workers", NATIVE, spec)


def commands() -> Iterator[Timed]:
    """The plans of the whole commands that are timed."""
    for each in symbol("COMMANDS", "report.benchmark.effort", "benchmark.effort"):
        spec = _spec(each.workload, EFFECT_MACHINES[0][1], each.runtime, each.skip, model=each.model)
        yield Timed(each.name, NATIVE, spec)


def _spec(*arguments: Any, **named: Any) -> Document:
    made = symbol("spec_of", "benchmark.effort", "benchmark.timed_plans", "report.benchmark.plans")(*arguments, **named)
    return dict(made)


def main() -> None:
    """Print the list."""
    parser = argparse.ArgumentParser(description="Write the plans of the benchmark as specifications, one a line.")
    parser.add_argument("--sample-s", type=float, default=0.1)
    for plan in timed_plans(parser.parse_args().sample_s):
        print(json.dumps(plan._asdict(), sort_keys=True))


if __name__ == "__main__":
    main()
