"""Compare simulations with reports by authors of task runtimes, on contended queues and on idle workers.

    python verification/reports_on_idling.py

Each report is simulated by a specification of a few lines, with and without the reported effect. No cost was fitted to
a report: runtimes have the costs below, from measurements of other programs (a futex wake-up of about 2 us), and lines
of queues are served with the transfer times of the machine's file. A line for each report has the reported effect, the
simulated effect, and whether both have the same direction. Exit status 1 if a direction differs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numasim as ns

COSTS = {"line": "yes", "push_ns": 20, "pop_ns": 10, "probe_ns": 20, "probe_remote_ns": 20}
WAKING = {"unpark_ns": 1000, "wake_ns": 2000, "wake_remote_ns": 2000}
SPIN = {"like": "bare", "costs": COSTS}
SLEEP = {"phases": [{"rounds": 8, "yield_ns": 500}], "sleep": {}, "wake": {"at": "no-searcher"}}
MACHINE = {"machine": "epyc-9654-2s", "seed": 1}


def one_producer(workers: int, **strategy: Any) -> ns.Result:
    """Return a run of 20,000 tasks of 2 us that one worker makes; thieves ask all others in one order."""
    level = {"from": "others", "by": "distance", "tries": "all", **strategy}
    work = {"name": "independent", "tasks": 20_000, "low_ns": 2000, "high_ns": 2000}
    runtime = {**SPIN, "producer": "master"}
    tasks = {"name": "walk", "steal": [level], "dispatch": [{"to": "own"}]}
    return ns.run({**MACHINE, "workload": work, "strategy": tasks, "runtime": runtime, "workers": workers})


def central(workers: int, per: str) -> ns.Result:
    """Return a run of fib(21) with one queue for the machine, or one for each group of cores; thieves then ask other
    groups.
    """
    queues = {"pool": {"per": per}}
    steal = [{"from": "own", "queue": "pool"}, {"from": "others", "queue": "pool"}][: 1 if per == "machine" else 2]
    dispatch = [{"to": "any" if per == "machine" else "own", "queue": "pool"}]
    strategy = {"name": per, "queues": queues, "steal": steal, "dispatch": dispatch}
    return ns.run({**MACHINE, "workload": {"name": "fib", "n": 21}, "strategy": strategy, "runtime": SPIN,
                   "workers": workers})  # fmt: skip


def layers(idle: dict[str, Any] | None) -> ns.Result:
    """Return a run of 600 layers of 12 tasks of 20 to 40 us on 192 workers."""
    work = {"name": "random-layered", "layers": 600, "width": 12, "degree": 3, "low_ns": 20_000, "high_ns": 40_000}
    runtime = {**SPIN, "costs": {**COSTS, **WAKING}, **({"idle": idle} if idle else {})}
    return ns.run({**MACHINE, "workload": work, "strategy": "ring", "runtime": runtime, "workers": 192})


def alone(idle: dict[str, Any] | None) -> ns.Result:
    """Return a run of one task of 10 ms on 64 hardware threads of 32 cores."""
    work = {"name": "independent", "tasks": 1, "low_ns": 10_000_000, "high_ns": 10_000_000}
    runtime = {**SPIN, "costs": {**COSTS, **WAKING}, **({"idle": idle} if idle else {})}
    return ns.run({"machine": "xeon-6130-2s", "seed": 1, "workload": work, "strategy": "randomized", "runtime": runtime,
                   "workers": 64})  # fmt: skip


def ms(run: ns.Result) -> float:
    """Return the makespan in milliseconds."""
    return float(run.makespan_ps) / 1e9


def cpu(run: ns.Result) -> float:
    """Return the processor time of all workers in seconds."""
    return float(run.cpu_ps) / 1e12


def reports() -> Iterator[tuple[str, str, str, bool]]:
    """Yield for each report: its address, the reported effect, the simulated effect, whether the direction is right."""
    one, half = one_producer(4), one_producer(4, amount="half")
    yield (
        "microsoft/verona-rt pull request 48",
        "one thread makes all work, 4 cores: 606 ms if thieves take one task, 251 ms if they take a quarter",
        f"{ms(one):.2f} ms taking one, {ms(half):.2f} ms taking half",
        half.makespan_ps < one.makespan_ps,
    )
    few, many = one_producer(32), one_producer(64)
    yield (
        "surrealdb/affinitypool pull request 46",
        "walks in one order convoy on one queue: slower with 64 workers than with 32",
        f"{ms(few):.2f} ms with 32, {ms(many):.2f} ms with 64",
        many.makespan_ps > few.makespan_ps,
    )
    small, large, split = central(16, "machine"), central(128, "machine"), central(128, "llc")
    yield (
        "dotnet/runtime issue 67845 and pull request 69386",
        "the global queue does not scale to many processors; a queue per 16 processors does better",
        f"{ms(small):.2f} ms with 16, {ms(large):.2f} ms with 128, {ms(split):.2f} ms with 128 and a queue per cache",
        large.makespan_ps > small.makespan_ps and split.makespan_ps < large.makespan_ps,
    )
    spin, rest = layers(None), layers(SLEEP)
    everybody = layers({**SLEEP, "wake": {"at": "every-push", "whom": "all"}})
    capped = layers({**SLEEP, "searchers": {"share": 16}})
    yield (
        "rayon-rs/rayon issues 642 and 1314, golang/go issue 43997",
        "idle threads burn processor time; waking all for each task is a storm; fewer searchers cost less",
        f"{cpu(spin):.2f} s of processor time spinning, {cpu(rest):.2f} s resting, {cpu(capped):.2f} s with a cap; "
        f"{int(rest.counters['wakeups']):,} wake-ups one by one, {int(everybody.counters['wakeups']):,} waking all",
        cpu(capped) <= cpu(rest) < cpu(spin)
        and everybody.counters["wakeups"] > rest.counters["wakeups"]
        and cpu(everybody) > cpu(rest),
    )
    beside, quiet = alone(None), alone(SLEEP)
    yield (
        "a lone task among idle workers",
        "the task is slower while idle threads spin on its core and keep the clock down",
        f"{ms(beside):.2f} ms beside 63 that spin, {ms(quiet):.2f} ms beside 63 that sleep",
        quiet.makespan_ps < beside.makespan_ps,
    )


def main() -> int:
    """Print the reports; see the module's docstring."""
    right = []
    for address, reported, simulated, same in reports():
        right.append(same)
        print(
            f"{address}\n  reported:  {reported}\n  simulated: {simulated}\n  direction: {'right' if same else 'WRONG'}"
        )
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
