"""Plans for the runtime: a strategy compiled for a machine, a number of workers and a runtime preset.

On real threads a plan is only the strategy, with a graph of one empty task. In virtual time the program follows its own
recorded graph, which is therefore part of the plan. Only steals couple the workers of such a plan: virtual clocks need
segment durations that are known before the run, without caches, contention, shared cores or changing clocks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numasim.errors import InputError
from numasim.plan.build_plan import build_plan
from numasim.plan.plan import Plan
from numasim.spec.run_spec import resolve
from numasim.strategy.compile_strategy import effective_runtime

UNCOUPLED = {"cache": "none", "contention": "none", "smt": "none", "clock": "fixed"}
NOTHING_TO_DO = {"name": "fib", "n": 1, "spawn_ns": 0, "leaf_ns": 0, "join_ns": 0}  # one task


def compile_plan(strategy: str, machine: str, workers: int | None, runtime: str, graph: Path | None = None) -> Plan:
    """The plan of ``strategy`` (a shipped name or a path, as ``machine`` and ``runtime`` are).

    ``workers`` None: every hardware thread of the machine. ``graph`` is the recorded task graph of the program that is
    to run in virtual time. Raises InputError for names that do not exist and parts that do not fit together.
    """
    fields: dict[str, Any] = {
        "machine": machine,
        "workload": {"file": str(graph)} if graph else NOTHING_TO_DO,
        "strategy": strategy,
        "runtime": runtime,
        "workers": workers if workers is not None else _threads(machine),
        "model": UNCOUPLED,
    }
    spec = resolve(fields)
    if graph is None and effective_runtime(spec.strategy, spec.runtime).backoff.first_ns == "task":
        raise InputError(
            "the first wait is the mean time of a task, which only a task graph determines",
            path=("runtime", "backoff", "first_ns"),
            expected="--graph with the recorded graph of the program, or a runtime whose first wait is a time",
        )
    return build_plan(spec)


def _threads(machine: str) -> int:
    from numasim.machine.build_machine import build
    from numasim.spec.single_part import read_machine

    return build(read_machine(machine)).threads
