"""Compare the code of threads, run in turns (one worker at a time, the earliest clock first), with the simulator:
shares of steals from other nodes and of attempts that found nothing.

    python verification/turns_against_simulator.py [--workers 16] [--seeds 3] [STRATEGY ...]

Each shipped strategy that threads execute runs the same program under the same plan in the simulator and, by the code
of threads, in the mode `paced` of the runtime. The table has the share of steals that went to another node, and the
share of attempts that found nothing. A difference above the bound is marked. The word `same` says that with each seed
threads made the same number of steals as the simulator, and of steals from other nodes: usually all steps are the same.

In most columns the queues of threads are rings under a lock (because the plan has a capacity that is never reached).
The last two columns before the word `same` have the shares of threads with deques, whose owners keep up to half of
their tasks private. A thief that sees only private tasks takes none, and asks the owner for tasks. The model has no
private tasks, so threads with deques miss more often.

Under locks steps are not all the same. Workers that ask for a lock in the same instant get the lock in the order of
their numbers in the simulator, and on threads in the order in which they ask. Any thread may take a `mutex` of threads
before the longest waiting thread is awake, as is usual. The mutex of the model goes to the first waiter (model 5.2).
For strategies that search under a mutex, both sides therefore use the lock `mcs`, which always goes to the first
waiter.
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
from numasim.plan.plan import Plan, Run
from numasim.runtime.controlled_run import run_plan
from numasim.spec.run_spec import resolve
from numasim.spec.single_part import read_strategy

BOUND = 0.03
MACHINE = "xeon-6130-4s"
DEQUES = {"name": "deques", "like": "bare"}
RINGS = {"name": "rings", "like": "bare", "capacity": 1_000_000, "on_full": "grow"}
COUNTS = ("steal_attempts", "steal_success", "steal_attempts_remote", "steal_success_remote", "wakeups", "asleep_ps")
PLAIN = {"cache": "none", "contention": "none", "smt": "none", "clock": "fixed"}


def shares(counts: Mapping[str, int]) -> tuple[float, float]:
    """Return the share of steals from another node, and the share of attempts that found nothing."""
    steals, attempts = counts["steal_success"], counts["steal_attempts"]
    return counts["steal_success_remote"] / steals if steals else 0.0, 1 - steals / attempts if attempts else 0.0


def plan_of(strategy: str, workers: int, runtime: Mapping[str, Any], root_children: int = 500) -> Plan:
    """Return the plan of a tree search under a strategy, without effects of memory, clocks and hardware threads."""
    program = {"name": "uts", "root_children": root_children}
    fair = {"like": strategy, "locks": {"kind": "mcs"}} if read_strategy(strategy).locks.kind == "mutex" else strategy
    spec = {"machine": MACHINE, "workload": program, "runtime": runtime, "workers": workers, "model": PLAIN}
    return build_plan(resolve({**spec, "strategy": fair}))


def are_same(plan: Plan, seeds: Sequence[int]) -> bool:
    """Return whether threads make as many steals as the simulator with each seed, and as many from other nodes."""
    runs = [(simulated(plan, (seed,)), threaded(plan, (seed,))) for seed in seeds]
    return all(one[name] == other[name] for one, other in runs for name in ("steal_success", "steal_success_remote"))


def simulated(plan: Plan, seeds: Sequence[int]) -> Counter[str]:
    """Return the counts of the simulator, summed over seeds."""
    total: Counter[str] = Counter()
    for seed in seeds:
        result = simulate(plan, seed)
        total.update({name: int(result.per_worker[name].sum()) for name in COUNTS})
    return total


def threaded(plan: Plan, seeds: Sequence[int]) -> Counter[str]:
    """Return the counts of threads, summed over seeds. Raise InputError if threads do not execute the strategy."""
    total: Counter[str] = Counter()
    for seed in seeds:
        run = run_plan(Run(plan, seed), "paced")
        total.update({name: run.columns[name] for name in COUNTS})
    return total


def rows(strategies: Sequence[str], workers: int, seeds: Sequence[int]) -> Iterator[str]:
    """Yield the rows of the table."""
    heads = [f"{head:>7}" for head in ("remote", "threads", "misses", "threads")]
    yield f"{'strategy':42} {' '.join(heads)} {'with deques':>15}        above the bound"
    for strategy in strategies:
        rings, deques = (plan_of(strategy, workers, runtime) for runtime in (RINGS, DEQUES))
        try:
            threads, others = threaded(rings, seeds), threaded(deques, seeds)
        except InputError as error:
            yield f"{strategy:42} {str(error)[-80:]}"
            continue
        found = (simulated(rings, seeds), threads, others)
        (remote, misses), (other, missed), (far, failed) = map(shares, found)
        apart = {"remote": remote - other, "misses": misses - missed}
        words = ["same" if are_same(rings, seeds) else "    "]
        words += [f"{name} {value:+.3f}" for name, value in apart.items() if abs(value) > BOUND]
        numbers = " ".join(f"{value:7.3f}" for value in (remote, other, misses, missed, far, failed))
        yield f"{strategy:42} {numbers}  {'  '.join(words)}"


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("strategies", nargs="*", default=catalog.names("strategies"))
    arguments.add_argument("--workers", type=int, default=16)
    arguments.add_argument("--seeds", type=int, default=4)
    asked = arguments.parse_args()
    for row in rows(asked.strategies, asked.workers, range(1, asked.seeds + 1)):
        print(row, flush=True)


if __name__ == "__main__":
    main()
