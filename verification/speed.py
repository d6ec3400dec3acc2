"""Compare the speed of this installed numasim with another one: pairs of runs, one after the other, on one processor.

    python verification/speed.py --other /path/venv/bin/python --pairs 15

The native engine and the reference engine are timed on plans like those of `numasim bench`, and the C runtime on tasks
with one deque for each worker (fib on threads, with one and two workers). One process of each installation stays alive;
the installation that runs first alternates from pair to pair. CPU time is measured, so that other programs on the
machine matter less. A line for each plan has the median over pairs of this speed divided by the other speed, the least
ratio, the ratio of the fastest runs, and the bound. A plan whose median is below its bound is measured once more with
three times as many pairs, and the second result counts. Exit status 1 if a median is below its bound.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple, Self

from same_as import OTHER, THIS, Side, side

from numasim.engine.simulate import ENGINES
from numasim.validate.benchmark.simulation_rates import COMMANDS, NATIVE, family_specs, timed_effects, timed_rates

HERE = Path(__file__).resolve().parent
WORKER = HERE / "speed_worker.py"
BOUNDS = {"native": 0.97, "reference": 0.85, "C runtime": 0.97}
FIB_N = 33  # 5,702,887 leaves, about 60 ms on one worker
RUNTIME_WORKERS = (1, 2)
FEWEST_PAIRS = 5
SIZES = {  # by engine and mode: the number of independent tasks, and n of fib
    ("reference", "eager"): (2_000, 13),
    ("reference", "skipping"): (2_000, 13),
    ("native", "eager"): (200_000, 23),
    ("native", "skipping"): (2**22, 30),
}
EFFECT_TASKS = 40_000
SAMPLE_S = 0.05  # least duration of a sample of an engine
PLAN_S = 8.0  # CPU time for all pairs of a plan; more if the number of pairs would be too small
AGAIN = 3  # factor by which a plan that misses its bound gets more pairs in the second measurement

Sample = Callable[[], float]  # CPU time in seconds


class Ratio(NamedTuple):
    """The speed of this installation over the speed of the other, pair by pair."""

    name: str
    kind: str
    pairs: tuple[tuple[float, float], ...]  # seconds of this installation and of the other installation

    @property
    def ratios(self) -> list[float]:
        """Return the ratio of each pair."""
        return [its_s / mine_s for mine_s, its_s in self.pairs]

    @property
    def of_fastest(self) -> float:
        """Return the ratio of the fastest runs, on which other programs have the least influence."""
        mine_s, its_s = zip(*self.pairs, strict=True)
        return float(min(its_s) / min(mine_s))

    @property
    def median(self) -> float:
        """Return the median of all ratios."""
        return statistics.median(self.ratios)

    @property
    def is_met(self) -> bool:
        """Return whether the median is at least the bound of its kind."""
        return self.median >= BOUNDS[self.kind]

    def __str__(self) -> str:
        """Return the line of the table."""
        verdict = "" if self.is_met else "  BELOW"
        return (
            f"{self.kind:10} {self.name:48} median {self.median:.3f}  least {min(self.ratios):.3f}  "
            f"of fastest {self.of_fastest:.3f}  bound {BOUNDS[self.kind]:.2f}{verdict}"
        )


def ratio(name: str, kind: str, this: Sample, other: Sample, pairs: int) -> Ratio:
    """Return the ratio of speeds from pairs of samples; a ratio below its bound is measured again with more pairs."""
    found = Ratio(name, kind, in_pairs(this, other, pairs))
    return found if found.is_met else Ratio(name, kind, in_pairs(this, other, AGAIN * pairs))


def in_pairs(this: Sample, other: Sample, pairs: int) -> tuple[tuple[float, float], ...]:
    """Return pairs (seconds of ``this``, seconds of ``other``). The side that is sampled first alternates."""
    found = []
    for pair in range(pairs):
        if pair % 2:
            mine_s, its_s = this(), other()
        else:
            its_s, mine_s = other(), this()
        found.append((mine_s, its_s))
    return tuple(found)


# ---- the engines ----------------------------------------------------------------------------------------------------


class Worker:
    """A process of an installation that runs plans and stays alive."""

    def __init__(self, of: Side, processor: int) -> None:
        self._process = subprocess.Popen(
            [of.python, str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=of.environment,
            cwd="/",
        )
        os.sched_setaffinity(self._process.pid, {processor})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def ask(self, **order: Any) -> Any:
        """Return the answer to an order."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(order), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())


def timed_plans() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the name, the engine and the specification of every timed plan, most of them smaller than in the benchmark
    of `numasim bench`.
    """
    for timed in timed_rates(SIZES):
        mode = timed.row.partition(", ")[2]
        yield f"{timed.spec['workload']['name']}, {mode}, {timed.column}", timed.engine, timed.spec
    for spec, engine in product(family_specs(), ENGINES):
        yield f"family {spec['workload']['name']}", engine, spec
    for timed in timed_effects(EFFECT_TASKS):
        yield f"{timed.row}, {timed.column}", NATIVE, timed.spec
    for name, (large, _, _, most_samples) in COMMANDS.items():
        if most_samples is None:
            yield name, NATIVE, dict(large)


def engine_ratios(this: Side, other: Side, words: str, kinds: Sequence[str], pairs: int) -> Iterator[Ratio]:
    """Yield the ratio for each plan on its engine; both processes have run a plan before the plan is measured.

    A plan is left out if a version refuses its specification or has no such engine.
    """
    processor = max(os.sched_getaffinity(0))
    with Worker(this, processor) as mine, Worker(other, processor) as its:
        for name, engine, spec in timed_plans():
            built = engine in this.engines and engine in other.engines
            if not built or engine not in kinds or words not in name:
                continue
            tasks = [worker.ask(plan=spec) for worker in (mine, its)]
            if None in tasks:
                continue
            assert tasks[0] == tasks[1], f"{name} has {tasks[0]} tasks in {THIS}, {tasks[1]} in {OTHER}"
            once_s = max(worker.ask(engine=engine, sample_s=0) for worker in (mine, its))
            room = max(FEWEST_PAIRS, min(pairs, int(PLAN_S / (2 * max(once_s, SAMPLE_S)))))
            one, two = (partial(worker.ask, engine=engine, sample_s=SAMPLE_S) for worker in (mine, its))
            yield ratio(name, engine, one, two, room)


# ---- the C runtime --------------------------------------------------------------------------------------------------


def runtime_ratios(this: Side, other: Side, pairs: int) -> Iterator[Ratio]:
    """Yield the ratio of fib on threads, for each number of workers."""
    programs = [next(Path(of.package).rglob("numasim-runtime")) for of in (this, other)]
    for workers in RUNTIME_WORKERS:
        one, two = (partial(fib_s, program, workers) for program in programs)
        in_pairs(one, two, 1)
        yield ratio(f"fib {FIB_N}, {workers} worker{'s' * (workers > 1)}", "C runtime", one, two, pairs)


def fib_s(program: Path, workers: int) -> float:
    """Return the CPU time in seconds of one run of fib. A single worker is on the last processor of the machine."""
    settings = ["--set", f"n={FIB_N}", "--set", "spawn_ns=0", "--set", "leaf_ns=0", "--set", "join_ns=0"]
    command = [str(program), "--kernel", "fib", *settings, "--mode", "native", "--workers", str(workers), "--no-verify"]
    pinned = {max(os.sched_getaffinity(0))} if workers == 1 else os.sched_getaffinity(0)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        os.sched_setaffinity(process.pid, pinned)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"{program} ended with status {process.returncode}"
    return usage.ru_utime + usage.ru_stime


# ---- the whole ------------------------------------------------------------------------------------------------------


def summary(found: Sequence[Ratio]) -> Iterator[str]:
    """Yield a line for each kind of ratio."""
    for kind, bound in BOUNDS.items():
        ratios = [each for each in found if each.kind == kind]
        if ratios:
            least = min(ratios, key=lambda each: each.median)
            middle = statistics.median(each.median for each in ratios)
            missed = sum(not each.is_met for each in ratios)
            yield (
                f"{kind}: {len(ratios)} plans, median of medians {middle:.3f}, least median {least.median:.3f} "
                f"({least.name}), {missed} below {bound:.2f}"
            )


def main() -> int:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description="Compare the speed of two installations of numasim.")
    parser.add_argument("--other", required=True, help="the interpreter that imports the other numasim")
    parser.add_argument("--this", default=sys.executable, help="the interpreter that imports this numasim")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--only", choices=tuple(BOUNDS), action="append", help="one kind (default: all)")
    parser.add_argument("--words", default="", help="only plans of the engines with these words in their names")
    given = parser.parse_args()
    this, other = side(THIS, given.this), side(OTHER, given.other)
    kinds = given.only or tuple(BOUNDS)
    found = []
    of_engines = engine_ratios(this, other, given.words, kinds, given.pairs)
    of_runtime = runtime_ratios(this, other, given.pairs) if "C runtime" in kinds else ()
    for each in chain(of_engines, of_runtime):
        found.append(each)
        print(each, flush=True)
    print(*summary(found), sep="\n")
    return int(not all(each.is_met for each in found))


if __name__ == "__main__":
    sys.exit(main())
