"""Runs of a plan's task graph in virtual time, compared with runs of the simulator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from numasim.engine.reference.sync.cache_lines import SyncCounts
from numasim.engine.result import COUNTS, TIME, Result
from numasim.engine.simulate import simulate
from numasim.plan.plan import Plan, Run
from numasim.runtime.controlled_run import run_plan
from numasim.runtime.runtime_program import KernelRun


def differences(program: Path, run: Run, engine: str = "native") -> Iterator[tuple[str, Any, Any]]:
    """Yield (name, count in virtual time, count in the simulator) for all counts that differ."""
    expected = counts_of(run.plan, simulate(run.plan, run.seed, engine))
    found = counts_of_run(run_plan(run, program=program))
    yield from ((name, found[name], value) for name, value in expected.items() if found[name] != value)


def counts_of(plan: Plan, result: Result) -> dict[str, Any]:
    """Return the counts of the simulator, by name."""
    words = [result.sync_objects[name] for name in SyncCounts._fields] if result.sync_objects else []
    return {
        "makespan_ps": result.counters["makespan_ps"],
        "trace_hash": result.counters["trace_hash"],
        "page_faults": result.counters["page_faults"],
        "node": plan.workers.node.tolist(),
        **{name: result.per_worker[name].tolist() for name in (*COUNTS, *TIME)},
        "node_attempts": result.node_attempts.tolist(),
        "node_success": result.node_success.tolist(),
        "node_bytes": result.node_bytes.tolist(),
        "words": np.stack(words, axis=1).tolist() if words else [],
    }


def counts_of_run(run: KernelRun) -> dict[str, Any]:
    """Return the counts of a run in virtual time, by the names that `counts_of` uses."""
    tables = ("node_attempts", "node_success", "node_bytes", "words")
    return {
        "makespan_ps": run.makespan_ps,
        "trace_hash": run.trace_hash,
        "page_faults": run.page_faults,
        "node": [*run.node],
        **{name: [*values] for name, values in run.worker.items()},
        **{name: [[*row] for row in getattr(run, name)] for name in tables},
    }
