"""How good the packings are that Algorithm 1 of LAWS ends with, beside the best of all that are tried by brute force.

    python verification/packing_search.py                     # ten programs, ten seeds: about ten minutes
    python verification/packing_search.py --programs heat     # one of them

Every program runs under `laws`, and under `laws` with each of the packings of `all_packings` fixed from the second
iteration on. Durations of tasks vary by 3 %, with the same draws under all packings. The time of a packing is that of
an iteration, averaged over the last iterations and all seeds; that of Algorithm 1 is that of the packing that each seed
ends with, in iterations of the same numbers. Exit status 1 unless it ends within 2 % of the best for all but one of the
programs, within 8 iterations, and nowhere with a packing slower than the one it began with.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from numasim.engine.simulate import simulate
from numasim.plan.build_plan import build_plan
from numasim.plan.plan import Plan
from numasim.spec.run_spec import resolve
from numasim.strategy.control.all_packings import all_packings
from numasim.strategy.control.controller import I64, Controller, Controls, Measures, Program
from numasim.strategy.control.packing import packing_within, tiers_of_packing
from numasim.strategy.control.shared_cache import shared_cache_bytes
from numasim.strategy.control.slices import slices
from numasim.strategy.control.tune_packing import Tuned

MACHINE, WORKERS = "opteron-8380-4s", 16
PLANE, SOLID = {"x": 1024, "y": 1024}, {"x": 1024, "y": 32, "z": 32}
PROGRAMS: dict[str, dict[str, int]] = {
    **dict.fromkeys(("heat", "heat-ir", "sor", "sor-ir", "9p", "9p-ir"), PLANE),
    **dict.fromkeys(("6p", "6p-ir", "25p", "25p-ir"), SOLID),
}
NOISE = 0.03
SEEDS = range(10)
SEARCHED, FIXED, LAST = (
    16,
    6,
    4,
)  # iterations of a run that searches, of one that does not; those that count, at the end
WITHIN, MOST_ITERATIONS, MISSES = 0.02, 8, 1


def plan_of(program: str, iterations: int) -> Plan:
    """``iterations`` passes of the loop of ``program`` under LAWS; a pass is two sweeps, of sor two half sweeps."""
    sweeps = iterations if program.startswith("sor") else 2 * iterations
    spec = {
        "machine": MACHINE,
        "workers": WORKERS,
        "workload": {"name": program, "sweeps": sweeps, **PROGRAMS[program]},
        "strategy": "laws",
        "model": {"task_noise": NOISE},
    }
    return build_plan(resolve(spec))


@dataclass(frozen=True)
class Fixed:
    """The controller that has ``roots`` from the second iteration on."""

    roots: I64

    def __call__(self, program: Program, state: Any, measures: Measures | None, /) -> tuple[bool, Controls]:
        """All tasks free at first, then the tiers of ``roots``."""
        if state and measures and measures.iteration:
            return True, Controls()
        roots = self.roots[:0] if measures is None else self.roots
        return True, Controls(tiers=tiers_of_packing(program, roots))


class Timed:
    """A controller, with what becomes of it in one run: how long each iteration takes but the last, the packing with
    which its last search began, the one that it kept, and the iteration after which it ended.
    """

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self.times: list[int] = []
        self.initial: I64 = np.array([], np.int64)
        self.kept: I64 = self.initial
        self.ended = 0

    def __call__(self, program: Program, state: Any, measures: Measures | None, /) -> tuple[Any, Controls]:
        """What the controller says."""
        after, controls = self._controller(program, state, measures)
        if measures is not None:
            self.times.append(measures.time_ps)
            if isinstance(after, Tuned) and after.search is not None:
                self.initial, self.kept = after.search.initial, after.search.kept
                self.ended = self.ended or (measures.iteration if after.search.ended else 0)
        return after, controls


def run(plan: Plan, controller: Controller, seed: int) -> Timed:
    """One run under another controller."""
    assert plan.tuning is not None
    timed = Timed(controller)
    simulate(replace(plan, tuning=replace(plan.tuning, controller=timed)), seed)
    return timed


def last_ps(runs: list[Timed]) -> float:
    """How long one of the last iterations takes, on average over them and over the runs."""
    return float(np.mean([each.times[-LAST:] for each in runs]))


@dataclass(frozen=True)
class Outcome:
    """Times of an iteration under the packings of one program: the first one and the last one of Algorithm 1, and the
    best of all; how many were tried by brute force; how many iterations it took Algorithm 1 with the slowest seed.
    """

    program: str
    initial_ps: float
    ended_ps: float
    best_ps: float
    best_roots: int
    packings: int
    iterations: int

    @property
    def loss(self) -> float:
        """How much slower than the best."""
        return self.ended_ps / self.best_ps - 1

    @property
    def is_good(self) -> bool:
        """Whether Algorithm 1 came near enough to the best."""
        return self.loss <= WITHIN and self.iterations <= MOST_ITERATIONS

    def line(self) -> str:
        """A row of the table."""
        ratio = self.ended_ps / self.initial_ps
        times = f"{self.initial_ps / 1e9:9.4f} {self.ended_ps / 1e9:9.4f} {self.best_ps / 1e9:9.4f}"
        counts = f"{self.iterations:10} {self.packings:8} {self.best_roots:10}"
        return f"{self.program:8} {times} {self.loss:+8.2%} {ratio:8.4f} {counts}"


def outcome(program: str) -> Outcome:
    """Search, and try everything."""
    plan = plan_of(program, SEARCHED)
    assert plan.tuning is not None
    searches = [run(plan, plan.tuning.controller, seed) for seed in SEEDS]
    assert all(each.ended for each in searches), f"{SEARCHED} iterations are too few for {program}"
    short = plan_of(program, FIXED)

    def fixed_ps(roots: I64) -> float:
        return last_ps([run(short, Fixed(roots), seed) for seed in SEEDS])

    ended_ps = last_ps([run(short, Fixed(each.kept), seed) for seed, each in zip(SEEDS, searches, strict=True)])
    times = [(fixed_ps(roots), len(roots)) for roots in tried_packings(short)]
    best_ps, best_roots = min(times)
    iterations = max(each.ended for each in searches)
    return Outcome(program, fixed_ps(searches[0].initial), ended_ps, best_ps, best_roots, len(times), iterations)


def tried_packings(plan: Plan) -> list[I64]:
    """Those of `all_packings`, as they are and kept within slices."""
    assert plan.tuning is not None
    program = plan.tuning.program
    used = shared_cache_bytes(plan.tuning.misses, program.line_bytes, program.subtree_end)
    whole = all_packings(program, used)
    labels = slices(program, program.units)
    cut = [packing_within(program, roots, labels) for roots in whole]
    return list({roots.tobytes(): roots for roots in (*whole, *cut)}.values())


def main() -> int:
    """Print a row for each program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    names = parser.parse_args().programs
    print("ms an iteration:                                  times")
    print("program    initial     ended      best     loss  initial iterations packings best_roots")
    found = []
    for name in names:
        found.append(outcome(name))
        print(found[-1].line(), flush=True)
    good = sum(each.is_good for each in found)
    worse = [each.program for each in found if each.ended_ps > each.initial_ps]
    print(f"{good} of {len(found)} within {WITHIN:.0%} of the best and {MOST_ITERATIONS} iterations")
    print(f"slower than at the beginning: {', '.join(worse) or 'none'}")
    return 0 if good >= len(found) - MISSES and not worse else 1


if __name__ == "__main__":
    sys.exit(main())
