"""The forms of traces: which one a name asks for, and what a form cannot say."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from numasim.engine.observe.watch import Watcher
from numasim.errors import InputError
from numasim.plan.plan import Plan
from numasim.report.trace.paje import paje_to
from numasim.report.trace.paraver import UNIT, paraver_to
from numasim.report.trace.perfetto import trace_to

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
