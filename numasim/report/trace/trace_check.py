"""Checks a trace of any form, which its first line tells."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from numasim.files.bounded_lines import bounded_lines
from numasim.files.file_kinds import TRACE
from numasim.report.trace.paje_lint import PajeChecker
from numasim.report.trace.paraver_lint import PREFIX, ParaverChecker
from numasim.report.trace.trace_lint import Lint, lint


def checked_trace(path: Path) -> Lint:
    """What is wrong with a trace, and what it holds; InputError for what is no trace."""
    lines = bounded_lines(path, TRACE)
    first = next(lines, (1, ""))
    if first[1].startswith("%EventDef"):
        return PajeChecker().check(chain([first], lines))
    if first[1].startswith(PREFIX):
        return ParaverChecker().check(path, chain([first], lines))
    return lint(path)
