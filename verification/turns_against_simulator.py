"""The code of threads, in turns by clocks, against the simulator: shares of remote steals and of misses.

    python verification/turns_against_simulator.py [--workers 16] [--seeds 3] [STRATEGY ...]

Each shipped strategy that threads execute runs the same program under the same plan in the simulator and, by the code
of threads, in the mode `paced` of the runtime. The table has the share of steals that went to another node, and the
share of attempts that found nothing. A difference above the bound is marked.

Three mechanisms of threads are not in the model, and the last column but one leaves out the effect of the first:

- Half of the tasks in a deque, at most, are private to its owner. A thief that sees only private tasks takes none, and
  asks the owner for tasks. Such attempts are lost, and so are those that another worker is faster with.
- A probe that is under way when the run ends is counted by threads.
- Locks of searches take no time in turns.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from numasim.engine.simulate import simulate
from numasim.errors import InputError
from numasim.parts import catalog
from numasim.plan.build_plan import build_plan
from numasim.plan.plan import Run
from numasim.runtime.controlled_run import run_plan
from numasim.spec.run_spec import resolve

BOUND = 0.03
MACHINE = "xeon-6130-4s"
RUNTIME = "bare"
PROGRAM = {"name": "uts", "root_children": 500}
COUNTS = ("steal_attempts", "steal_success", "steal_attempts_remote", "steal_success_remote", "wakeups", "asleep_ps")
PLAIN = {"cache": "none", "contention": "none", "smt": "none", "clock": "fixed"}


def shares(counts: Mapping[str, int]) -> tuple[float, float, float]:
    """Return the share of steals from another node, the share of attempts that found nothing, and this share of all
    attempts that were not lost.
    """
    steals, attempts = counts["steal_success"], counts["steal_attempts"]
    kept = attempts - counts["steals_lost"]
    return (
        counts["steal_success_remote"] / steals if steals else 0.0,
        1 - steals / attempts if attempts else 0.0,
        1 - steals / kept if kept else 0.0,
    )


def both(strategy: str, workers: int, seeds: Sequence[int], **keys: Any) -> tuple[Counter[str], Counter[str]]:
    """Return the counts of the simulator and of the code of threads, summed over seeds. Raise InputError if threads do
    not execute the strategy.
    """
    spec = {"machine": MACHINE, "workload": PROGRAM, "runtime": RUNTIME, "workers": workers, "model": PLAIN}
    plan = build_plan(resolve({**spec, "strategy": strategy, **keys}))
    simulated: Counter[str] = Counter()
    threaded: Counter[str] = Counter()
    for seed in seeds:
        run = run_plan(Run(plan, seed), "paced")
        threaded.update({"steals_lost": run.steals_lost, **{name: run.columns[name] for name in COUNTS}})
        result = simulate(plan, seed)
        simulated.update({name: int(result.per_worker[name].sum()) for name in COUNTS})
    return simulated, threaded


def rows(strategies: Sequence[str], workers: int, seeds: Sequence[int]) -> Iterator[str]:
    """Yield the rows of the table."""
    yield f"{'strategy':42} {'remote':>7} {'threads':>7} {'misses':>7} {'threads':>7} {'kept':>7}  above the bound"
    for strategy in strategies:
        try:
            simulated, threaded = both(strategy, workers, seeds)
        except InputError as error:
            yield f"{strategy:42} {str(error)[-80:]}"
            continue
        (remote, misses, _), (other, missed, kept) = shares(simulated), shares(threaded)
        apart = {"remote": remote - other, "misses": misses - missed, "kept": misses - kept}
        marks = ", ".join(f"{name} {value:+.3f}" for name, value in apart.items() if abs(value) > BOUND)
        yield f"{strategy:42} {remote:7.3f} {other:7.3f} {misses:7.3f} {missed:7.3f} {kept:7.3f}  {marks}"


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("strategies", nargs="*", default=catalog.names("strategies"))
    arguments.add_argument("--workers", type=int, default=16)
    arguments.add_argument("--seeds", type=int, default=3)
    asked = arguments.parse_args()
    for row in rows(asked.strategies, asked.workers, range(1, asked.seeds + 1)):
        print(row, flush=True)


if __name__ == "__main__":
    main()
