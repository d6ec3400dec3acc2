"""A small task graph as a picture: tasks from left to right, in the order in which they can start."""

from __future__ import annotations

import numpy as np

from numasim.html import Html, text
from numasim.workload.graph import I64, Workload
from numasim.workload.one_worker import by_task

STEP, RISE, RADIUS, EDGE = 64, 30, 9, 16
COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#F0E442", "#CC79A7", "#D55E00", "#0072B2")
LINE = "#808080"


def picture_of(workload: Workload) -> Html:
    """Return an SVG: a circle for each task, coloured by kernel; lines to waiting tasks, dashed lines to children."""
    waits = list(zip(workload.predecessor.tolist(), workload.successor.tolist(), strict=True))
    spawns = [(int(parent), task) for task, parent in enumerate(workload.parent) if parent >= 0]
    column = _levels(workload.rows, [*waits, *spawns])
    row = np.zeros(workload.rows, np.int64)
    for each in range(int(column.max()) + 1):
        inside = np.flatnonzero(column == each)
        row[inside] = np.arange(len(inside))
    x, y = EDGE + column * STEP, EDGE + row * RISE
    names = _legend(workload, int(y.max()) + RISE + EDGE)
    width = max(int(x.max()) + EDGE, STEP * 2 * len(names))
    height = int(y.max()) + EDGE + (RISE + EDGE if names else 0)
    lines = [_line(x, y, a, b, "") for a, b in waits] + [
        _line(x, y, a, b, ' stroke-dasharray="4 3"') for a, b in spawns
    ]
    costs_ns = by_task(workload, workload.segment_compute_ps) / 1000
    circles = [
        f'<circle cx="{x[task]}" cy="{y[task]}" r="{RADIUS}" fill="{COLOURS[kernel % len(COLOURS)]}" stroke="{LINE}">'
        f"<title>{text(f'task {task}, {costs_ns[task]:,.1f} ns {workload.kernels[kernel]}'.rstrip())}</title></circle>"
        for task, kernel in enumerate(_first_kernel(workload, task) for task in range(workload.rows))
    ]
    return Html(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'style="max-width: 100%; height: auto">{"".join((*lines, *circles, *names))}</svg>'
    )


def _legend(workload: Workload, y: int) -> list[str]:
    """Return the legend: the colours of the kernels with a name."""
    named = [number for number, name in enumerate(workload.kernels) if name]
    return [
        f'<rect x="{EDGE + 2 * STEP * at - RADIUS}" y="{y - RADIUS}" width="{RADIUS}" height="{RADIUS}" '
        f'fill="{COLOURS[number % len(COLOURS)]}"/><text x="{EDGE + 2 * STEP * at + 5}" y="{y}" font-size="12" '
        f'fill="currentColor">{text(workload.kernels[number])}</text>'
        for at, number in enumerate(named)
    ]


def _levels(tasks: int, pairs: list[tuple[int, int]]) -> I64:
    """Return [tasks] the number of tasks on the longest chain to each task."""
    level = np.zeros(tasks, np.int64)
    for _ in range(tasks):
        before = level.copy()
        for a, b in pairs:
            level[b] = max(level[b], level[a] + 1)
        if np.array_equal(level, before) or level.max() >= tasks:
            break
    return np.minimum(level, tasks)


def _line(x: I64, y: I64, a: int, b: int, style: str) -> str:
    return f'<line x1="{x[a]}" y1="{y[a]}" x2="{x[b]}" y2="{y[b]}" stroke="{LINE}"{style}/>'


def _first_kernel(workload: Workload, task: int) -> int:
    ops = slice(int(workload.op_ptr[task]), int(workload.op_ptr[task + 1]))
    segments = workload.op_arg[ops][workload.op_code[ops] == 0]
    return int(workload.segment_kernel[segments[0]]) if len(segments) else 0
