"""Watched runs: a trace is written and tables over time are filled during the run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from numasim.engine.observe.over_time import OverTime
from numasim.engine.observe.watch import I64, Watcher
from numasim.engine.result import Result
from numasim.engine.simulate import require_engine, simulate
from numasim.errors import InputError
from numasim.plan.build_plan import revised
from numasim.plan.plan import Plan
from numasim.report.trace.schedule_watch import ScheduleWatch
from numasim.report.trace.trace_forms import any_trace_to
from numasim.workload.graph_files.export_forms import export, require_schedule_form
from numasim.workload.unfold import unfolded

MOST_TASKS = 4_000_000  # about a gigabyte of trace, half a minute of tables


def require_few_tasks(plan: Plan) -> None:
    """Raise InputError for a run that would take too long, or too much of a disk, to be watched."""
    tasks = plan.workload.tasks
    if tasks > MOST_TASKS:
        problem = f"{tasks:,} tasks are too many for traces and for tables and figures over time"
        raise InputError(problem, expected=f"a workload of at most {MOST_TASKS:,} tasks")


def simulate_watched(
    plan: Plan,
    seed: int,
    engine: str,
    check: bool,
    trace: Path | None,
    over_time: bool,
    schedule: Path | None = None,
) -> Result:
    """Run ``plan`` with ``seed``, every event of it.

    ``trace`` and ``schedule`` are the files to write, if any; with ``over_time`` the result has the tables. Raises
    InputError for a run of too many tasks, an engine that does not exist, and a file that cannot be written.
    """
    require_engine(engine)
    require_few_tasks(plan)
    kept = None
    if schedule is not None:
        require_schedule_form(schedule, plan.workload)
        plan = revised(plan, workload=unfolded(plan.workload)) if plan.workload.folded else plan
        kept = ScheduleWatch()
    watchers: list[Watcher] = []
    with ExitStack() as files:
        if trace is not None:
            watchers.append(files.enter_context(any_trace_to(trace, plan)))
        tables = OverTime(plan) if over_time else None
        if tables is not None:
            watchers.append(tables)
        if kept is not None:
            watchers.append(kept)
        result = simulate(plan, seed, engine, check=check, watch=_all(watchers))
    if tables is not None:
        tables.close(int(result.counters["makespan_ps"]))
    result.over_time = tables
    if kept is not None and schedule is not None:
        executed = kept.executed(plan, int(result.counters["makespan_ps"]))
        result.left_out = tuple(export(plan.workload, schedule, executed))
    return result


def _all(watchers: Sequence[Watcher]) -> Watcher:
    def tell(rows: I64) -> None:
        for watcher in watchers:
            watcher(rows)

    return tell
