"""Watched runs: during the run a trace is written, and tables over time and a schedule are filled."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import numpy as np

from numasim.engine.observe.over_time import OverTime
from numasim.engine.observe.watch import ACTOR, BEGIN, COLUMNS, END, FIRST, I64, KIND, SECOND, Watched, Watcher
from numasim.engine.result import Result
from numasim.engine.simulate import require_engine, simulate
from numasim.errors import InputError
from numasim.plan.build_plan import revised
from numasim.plan.plan import Plan
from numasim.report.trace.ordered_traces import UNIT, paje_to, paraver_to
from numasim.report.trace.perfetto import trace_to
from numasim.workload.export.part_graph import Executed
from numasim.workload.graph_forms import export, require_schedule_form
from numasim.workload.unfold import unfolded

PAJE, PARAVER = ".paje", ".prv"
MOST_TASKS = 4_000_000  # about a gigabyte of trace, and half a minute for tables


def any_trace_to(path: Path, plan: Plan) -> AbstractContextManager[Watcher]:
    """Return a watcher that writes a trace in the format given by the name of ``path``.

    NAME.paje is the format Paje, NAME.prv is Paraver, and any other name is Perfetto. NAME.gz is packed.
    """
    form = form_of(path)
    if form == PARAVER:
        if path.suffix == ".gz":
            expected = f"{path.with_suffix('').name}, packed afterwards"
            raise InputError("a Paraver trace is not written packed", place=str(path), expected=expected)
        return paraver_to(path, plan)
    return paje_to(path, plan) if form == PAJE else trace_to(path, plan)


def form_of(path: Path) -> str:
    """Return `PAJE`, `PARAVER`, or any other ending for Perfetto."""
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix


def notice(path: Path) -> str | None:
    """Return a sentence on the data that the format of ``path`` leaves out; None if the format has all data."""
    left_out = "lengths of queues, use of resources and phases are in traces for Perfetto alone"
    form = form_of(path)
    if form == PARAVER:
        return f"{path} {UNIT}; {left_out}"
    return f"{path} has states and steals; {left_out}" if form == PAJE else None


def require_few_tasks(plan: Plan) -> None:
    """Raise InputError for a run with so many tasks that watching takes too long, or too much room on the disk."""
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
    """Simulate ``plan`` with ``seed``, event by event, and return the result.

    ``trace`` and ``schedule`` are the files to write, if any. With ``over_time`` the result has tables over time.
    Raises InputError for a run of too many tasks, for an engine that does not exist, and for a file that cannot be
    written.
    """
    require_engine(engine)
    require_few_tasks(plan)
    if schedule is not None:
        require_schedule_form(schedule, plan.workload)
        plan = revised(plan, workload=unfolded(plan.workload)) if plan.workload.folded else plan
    tables = OverTime(plan) if over_time else None
    work = [np.zeros((0, COLUMNS), np.int64)]  # rows of executed segments, for the schedule
    with ExitStack() as files:
        writer = files.enter_context(any_trace_to(trace, plan)) if trace is not None else None
        watchers: list[Watcher] = [each for each in (writer, tables) if each is not None]

        def watch(rows: I64) -> None:
            for watcher in watchers:
                watcher(rows)
            if schedule is not None:
                work.append(rows[rows[:, KIND] == Watched.WORK])

        result = simulate(plan, seed, engine, check=check, watch=watch)
    makespan_ps = int(result.counters["makespan_ps"])
    if tables is not None:
        tables.close(makespan_ps)
    result.over_time = tables
    if schedule is not None:
        executed = _executed(np.concatenate(work), plan, makespan_ps)
        result.left_out = tuple(export(plan.workload, schedule, executed))
    return result


def _executed(rows: I64, plan: Plan, makespan_ps: int) -> Executed:
    """Return the schedule of a run from its rows of work, ordered by begin, then by worker, then by end."""
    rows = rows[np.lexsort((rows[:, END], rows[:, ACTOR], rows[:, BEGIN]))]
    return Executed(
        task=rows[:, FIRST],
        segment=rows[:, SECOND],
        worker=rows[:, ACTOR],
        begin_ps=rows[:, BEGIN],
        end_ps=rows[:, END],
        node=plan.workers.node.astype(np.int64),
        makespan_ps=makespan_ps,
        clock_hz=plan.machine.clock.base_hz,
    )
