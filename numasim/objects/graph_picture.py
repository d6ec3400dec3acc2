"""A picture of a small task graph: tasks from left to right, in the order in which the tasks can start."""

from __future__ import annotations

import numpy as np

from numasim.html import Html, text
from numasim.workload.graph import Op, Workload
from numasim.workload.one_worker import by_task
from numasim.workload.span import longest_paths

STEP, RISE, RADIUS, EDGE = 64, 30, 9, 16
COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#F0E442", "#CC79A7", "#D55E00", "#0072B2")
LINE = "#808080"


def picture_of(workload: Workload) -> Html:
    """Return an SVG: a circle for each task, coloured by kernel; lines to waiting tasks, dashed lines to children."""
    child = np.flatnonzero(workload.parent >= 0)
    waits = (workload.predecessor, workload.successor.astype(np.int64))
    spawns = (workload.parent[child], child)
    source, target = (np.concatenate(side) for side in zip(waits, spawns, strict=True))
    column = np.array(longest_paths(np.ones(workload.rows, np.int64), source, target)) - 1  # tasks before each task
    row = np.zeros(workload.rows, np.int64)
    for each in range(int(column.max()) + 1):
        inside = np.flatnonzero(column == each)
        row[inside] = np.arange(len(inside))
    x, y = EDGE + column * STEP, EDGE + row * RISE
    names = _legend(workload, int(y.max()) + RISE + EDGE)
    width = max(int(x.max()) + EDGE, STEP * 2 * len(names))
    height = int(y.max()) + EDGE + (RISE + EDGE if names else 0)
    lines = [
        f'<line x1="{x[a]}" y1="{y[a]}" x2="{x[b]}" y2="{y[b]}" stroke="{LINE}"{style}/>'
        for ends, style in ((waits, ""), (spawns, ' stroke-dasharray="4 3"'))
        for a, b in zip(*ends, strict=True)
    ]
    runs = np.flatnonzero(workload.op_code == Op.RUN)[::-1]
    kernels = np.zeros(workload.rows, np.int64)  # [tasks] the kernel of the first segment
    kernels[np.searchsorted(workload.op_ptr, runs, side="right") - 1] = workload.segment_kernel[workload.op_arg[runs]]
    costs_ns = by_task(workload, workload.segment_compute_ps) / 1000
    circles = [
        f'<circle cx="{x[task]}" cy="{y[task]}" r="{RADIUS}" fill="{COLOURS[kernel % len(COLOURS)]}" stroke="{LINE}">'
        f"<title>{text(f'task {task}, {costs_ns[task]:,.1f} ns {workload.kernels[kernel]}'.rstrip())}</title></circle>"
        for task, kernel in enumerate(kernels)
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
