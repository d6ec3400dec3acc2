"""Measure how much longer processor-bound programs take under the strategy LAWS than under Cilk.

    python verification/laws/cpu_bound.py                        # five programs: half a minute
    python verification/laws/cpu_bound.py --programs ga fft

Each program runs on the AMD server of the paper (section 6.6): once as it is (a single iteration), and once with its
tasks iterated. Both run under `cilk`, `laws`, and `laws` without detection (`tune.cpu_bound: none`). A row has the
relative lengthening of runs from `cilk` to LAWS, with detection and without: for the single iteration, for all
iterations, and for the last iterations alone. Every push to a queue has the cost of the runtime `bare`. Exit status 1
if a single iteration takes 3 % longer, with or without detection, or if the iterations with detection take 3 % longer.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from numasim.engine.simulate import simulate
from numasim.plan.build_plan import build_plan
from numasim.spec.run_spec import resolve

MACHINE, WORKERS = "opteron-8380-4s", 16
ITERATIONS, LAST = 200, 20
PROGRAMS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "mandelbrot": {"x": 1024, "y": 256, "leaf_rows": 1},
        "nqueens": {"n": 11, "cutoff": 4},
        "knapsack": {"items": 18, "node_ns": 2000},
        "ga": {"islands": 512},
        "fft": {"n": 2**16},
    }
)
UNDETECTED = {"name": "undetected", "like": "laws", "tune": {"cpu_bound": "none"}}
AT_MOST = 0.03


def times_ps(program: str, iterations: int, strategy: Any) -> tuple[int, int]:
    """Return the time of all iterations, and the time of the last iterations."""
    workload = {"name": program, **PROGRAMS[program], "iterations": iterations}
    spec = {"machine": MACHINE, "workers": WORKERS, "workload": workload, "strategy": strategy, "runtime": "bare"}
    result = simulate(build_plan(resolve(spec)), 0)
    each = result.iterations.groupby("iteration", sort=False)["time_ps"].sum()
    return int(result.counters["makespan_ps"]), int(each.tail(LAST).sum())


def longer(program: str, iterations: int) -> list[float]:
    """Return the relative lengthening with detection and without: of all iterations, and of the last iterations."""
    (plain, plain_last), *learned = (times_ps(program, iterations, each) for each in ("cilk", "laws", UNDETECTED))
    return [*(whole / plain - 1 for whole, _ in learned), *(last / plain_last - 1 for _, last in learned)]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    asked = parser.parse_args()
    print(f"detection          on      off       on      off  on, last off, last   ({ITERATIONS} iterations)")
    missed = []
    for program in asked.programs:
        once, often = longer(program, 1)[:2], longer(program, ITERATIONS)
        print(f"{program:12} " + " ".join(f"{each:+8.2%}" for each in (*once, *often)), flush=True)
        if max(*once, often[0]) > AT_MOST:
            missed.append(program)
    print(f"more than {AT_MOST:.0%} longer, once or with detection: {', '.join(missed) or 'none'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
