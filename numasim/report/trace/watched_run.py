"""Watched runs: a trace is written and tables over time are filled during the run."""

from __future__ import annotations

from collections.abc import Sequence
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
from numasim.report.trace.paje import paje_to
from numasim.report.trace.paraver import UNIT, paraver_to
from numasim.report.trace.perfetto import trace_to
from numasim.workload.export.executed import Executed
from numasim.workload.graph_forms import export, require_schedule_form
from numasim.workload.unfold import unfolded

# ---- Which worker executed what from when to when in a watched run: the schedule of its tasks ------------------------


class ScheduleWatch:
    """A `Watcher` that keeps what was executed."""

    def __init__(self) -> None:
        self._rows: list[I64] = []

    def __call__(self, rows: I64) -> None:
        """Keep the rows of work."""
        self._rows.append(rows[rows[:, KIND] == Watched.WORK])

    def executed(self, plan: Plan, makespan_ps: int) -> Executed:
        """All that was executed, in the order of time, and at one time in that of workers."""
        rows = np.concatenate([np.zeros((0, COLUMNS), np.int64), *self._rows])
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


# ---- The forms of traces: which one a name asks for, and what a form cannot say --------------------------------------

PAJE, PARAVER = ".paje", ".prv"


def any_trace_to(path: Path, plan: Plan) -> AbstractContextManager[Watcher]:
    """A watcher that writes the trace in the form that the name of ``path`` asks for: NAME.paje is one of Paje,
    NAME.prv one of Paraver, any other one of Perfetto; NAME.gz is packed.
    """
    form = form_of(path)
    if form == PARAVER:
        if path.suffix == ".gz":
            expected = f"{path.with_suffix('').name}, packed afterwards"
            raise InputError("a Paraver trace is not written packed", place=str(path), expected=expected)
        return paraver_to(path, plan)
    return paje_to(path, plan) if form == PAJE else trace_to(path, plan)


def form_of(path: Path) -> str:
    """`PAJE`, `PARAVER`, or any other ending for Perfetto."""
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix


def notice(path: Path) -> str | None:
    """A sentence on what the form of ``path`` cannot say; None where there is nothing."""
    left_out = "lengths of queues, use of resources and phases are in traces for Perfetto alone"
    form = form_of(path)
    if form == PARAVER:
        return f"{path} {UNIT}; {left_out}"
    return f"{path} has states and steals; {left_out}" if form == PAJE else None


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
