"""Draw the pictures of the concepts and of the model: `python docs/pictures/draw.py [NAME ...]`, from simulated runs
where they have data. Each function below draws the picture of its name, which is kept beside this file as an SVG.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

import numasim as ns
from numasim.machine.build_machine import build
from numasim.report.figures.axis_figure import expected_remote_share
from numasim.report.figures.style import line_colour, marker, rules
from numasim.spec.single_part import read_machine

HERE = Path(__file__).parent
BLUE, VERMILION, BLACK, GREY = line_colour(0), line_colour(1), line_colour(6), "#4D4D4D"
SEEDS = range(1, 4)
SPARSE_LU = {"name": "sparselu-single", "blocks": 32}
MS = 1e9  # picoseconds


def mean(column: str, **spec: Any) -> float:
    """Return the mean of a column of the table of results over a few seeds."""
    return float(np.mean([ns.run({**spec, "seed": seed}).row()[column] for seed in SEEDS]))


def axes(width: float = 6.4, height: float = 3.2, panels: int = 1) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels beside each other, and the panels."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(np.atleast_1d(figure.subplots(1, panels)))


def schematic(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure that shows no axes, and its coordinates in inches."""
    figure = Figure(figsize=(width, height))
    plain = figure.add_axes((0, 0, 1, 1))
    plain.set(xlim=(0, width), ylim=(0, height))
    plain.set_axis_off()
    return figure, plain


def arrow(plain: Axes, begin: tuple[float, float], end: tuple[float, float], colour: str, bend: float = 0.0) -> None:
    """Draw an arrow from ``begin`` to ``end``."""
    shape = {"arrowstyle": "-|>", "mutation_scale": 13, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    plain.add_patch(FancyArrowPatch(begin, end, color=colour, connectionstyle=f"arc3,rad={bend}", **shape))


def box(plain: Axes, place: tuple[float, float], size: tuple[float, float], colour: str, text: str = "") -> None:
    """Draw a rounded box with a text in its middle."""
    outline = {"boxstyle": "round,pad=0,rounding_size=0.06", "edgecolor": GREY, "linewidth": 1.0}
    plain.add_patch(FancyBboxPatch(place, *size, facecolor=colour, **outline))
    plain.text(place[0] + size[0] / 2, place[1] + size[1] / 2, text, ha="center", va="center")


def deque() -> Figure:
    """Draw the two ends of a worker's queue."""
    figure, plain = schematic(7.2, 2.3)
    box(plain, (0.2, 0.85), (1.15, 0.7), "#CFE9F8", "worker 0,\nthe owner")
    box(plain, (5.85, 0.85), (1.15, 0.7), "#FBE3D4", "worker 5,\na thief")
    for number, name in enumerate(("D", "C", "B", "A")):
        box(plain, (2.2 + 0.7 * number, 0.85), (0.64, 0.7), "#FFFFFF", name)
    arrow(plain, (1.38, 1.38), (2.18, 1.38), BLUE)
    arrow(plain, (2.18, 1.02), (1.38, 1.02), BLUE)
    arrow(plain, (5.0, 1.2), (5.83, 1.2), VERMILION)
    plain.text(1.78, 1.46, "push", ha="center", va="bottom", color=BLUE)
    plain.text(1.78, 0.94, "pop", ha="center", va="top", color=BLUE)
    plain.text(5.42, 1.28, "steal", ha="center", va="bottom", color=VERMILION)
    plain.text(2.2, 0.68, "own end: the newest task", ha="left", va="top", color=GREY)
    plain.text(4.94, 1.68, "steal end: the oldest task", ha="right", va="bottom", color=GREY)
    plain.text(3.6, 2.15, "the deque of worker 0", ha="center", va="top", weight="bold")
    plain.text(
        3.6, 0.16, "A was spawned first and D last; the oldest task is often the largest", ha="center", color=GREY
    )
    return figure


def stealing_timeline() -> Figure:
    """Draw sixteen workers over the first steps of SparseLU: who works, who looks for work."""
    spec = {"machine": "opteron-8380-4s", "workload": {"name": "sparselu-single", "blocks": 10}, "runtime": "ompi"}
    result = ns.run({**spec, "strategy": "randomized", "workers": 16, "seed": 1}, over_time=True)
    return ns.plot.timeline(result.over_time)


def stealing_amount() -> Figure:
    """Draw what taking half of a queue does to the search for work."""
    figure, (tries, times) = axes(7.6, 3.1, 2)
    workers = [8, 24, 48, 96]
    for number, name in enumerate(("randomized", "steal-half")):
        spec = {"machine": "epyc-9654-2s-nps4", "workload": SPARSE_LU, "runtime": "ompi", "strategy": name}
        attempts = [mean("steal_attempts", **spec, workers=count) for count in workers]
        tasks = mean("tasks", **spec, workers=8)
        style = {"color": line_colour(number), "marker": marker(number), "label": name}
        tries.plot(workers, [value / tasks for value in attempts], **style)
        times.plot(workers, [mean("makespan_ps", **spec, workers=count) / MS for count in workers], **style)
    tries.set(xlabel="workers", ylabel="steal attempts for each task", ylim=(0, None), xticks=workers)
    times.set(xlabel="workers", ylabel="makespan (ms)", ylim=(0, None), xticks=workers)
    tries.legend()
    return figure


def domains_machine() -> Figure:
    """Draw the four nodes of a machine, each one stealing domain."""
    from numasim.machine.drawing import draw

    return draw(build(read_machine("opteron-8380-4s")))


def domains_share() -> Figure:
    """Draw how many steal attempts leave the node, with and without stealing domains."""
    figure, (panel,) = axes(6.4, 3.2)
    workers = [2, 4, 6, 8, 12, 16, 24]
    spec = {"machine": "xeon-e5-2620-2s", "workload": {"name": "strassen", "n": 512}, "runtime": "ompi"}
    expected = [expected_remote_share(np.arange(count) % 2) for count in workers]
    panel.plot(workers, expected, "--", color=BLACK, label="(P/2) / (P-1)")
    for number, (name, line) in enumerate((("randomized", "none"), ("topology-aware", "solid"))):
        share = [mean("steal_remote_ratio", **spec, strategy=name, workers=count) for count in workers]
        panel.plot(workers, share, linestyle=line, color=line_colour(number), marker=marker(number), label=name)
    panel.set(xlabel="workers", ylabel="remote share of steal attempts", ylim=(0, 1.05), xticks=workers)
    panel.legend(loc="upper right", bbox_to_anchor=(1.0, 0.45))
    return figure


POLICIES = ("first-touch-master", "first-touch", "parallel-first-touch", "block", "random", "interleave")
EIGHT_SOCKETS = {"machine": "opteron-875-8s", "workload": SPARSE_LU, "runtime": "ompi", "workers": 16}


def placement_policies() -> Figure:
    """Draw the makespan of one program under page policies, all else equal."""
    figure, (panel,) = axes(6.4, 2.9)
    for row, policy in enumerate(reversed(POLICIES)):
        time = mean("makespan_ps", **EIGHT_SOCKETS, strategy={"like": "randomized", "placement": policy}) / MS
        panel.barh(row, time, color=BLUE, height=0.6)
        panel.text(time, row, f" {time:.1f}", va="center")
    panel.set_yticks(range(len(POLICIES)), list(reversed(POLICIES)))
    panel.grid(visible=False, axis="y")
    panel.set(xlabel="makespan (ms)", xlim=(0, None))
    panel.margins(x=0.12)
    return figure


def traffic(policy: str) -> Figure:
    """Draw the bytes of a run under a page policy, on a picture of the machine."""
    result = ns.run({**EIGHT_SOCKETS, "strategy": {"like": "randomized", "placement": policy}, "seed": 1})
    return ns.plot.node_traffic(build(read_machine("opteron-875-8s")), result)


def placement_master() -> Figure:
    """Draw the bytes of a run with all pages on the node of the first worker."""
    return traffic("first-touch-master")


def placement_interleaved() -> Figure:
    """Draw the bytes of a run with pages dealt to all nodes in turn."""
    return traffic("interleave")


def contention_share() -> Figure:
    """Draw what each of several readers gets of one memory controller."""
    figure, (panel,) = axes(6.4, 3.0)
    readers = np.arange(1, 13)
    capacity, alone = 12.0, 4.0
    share = np.minimum(alone, capacity / readers)
    panel.plot(readers, share * readers, color=VERMILION, marker=marker(1), label="all readers together")
    panel.plot(readers, share, color=BLUE, marker=marker(0), label="each reader")
    panel.axhline(capacity, linestyle="--", color=BLACK)
    panel.text(12, capacity + 0.3, "bandwidth of the controller", ha="right", va="bottom")
    panel.set(xlabel="workers that read from the same node", ylabel="GB/s", ylim=(0, 14), xticks=readers)
    panel.legend(loc="center right")
    return figure


def contention_effects() -> Figure:
    """Draw the same runs with and without contention for bandwidth."""
    figure, panels = axes(7.6, 3.1, 2)
    workers = [1, 2, 4, 8, 12, 16]
    for panel, policy in zip(panels, ("first-touch-master", "interleave"), strict=True):
        panel.plot(workers, workers, "--", color=BLACK, label="ideal")
        for number, model in enumerate(("fluid", "none")):
            spec = {**EIGHT_SOCKETS, "strategy": {"like": "randomized", "placement": policy}}
            spec["model"] = {"contention": model}
            speedups = [mean("speedup", **{**spec, "workers": count}) for count in workers]
            style = {"color": line_colour(number), "marker": marker(number), "label": f"contention: {model}"}
            panel.plot(workers, speedups, **style)
        panel.set(xlabel="workers", ylabel="speed-up", title=policy, xticks=workers, ylim=(0, 17))
    panels[0].legend(loc="upper left")
    return figure


# Light fills that differ in brightness too, so that they are told apart in grey.
WORKING, SEARCHING, WAITING = "#CFE9F8", "#FBE3D4", "#FFFFFF"


def worker_loop() -> Figure:
    """Draw what a worker does: it executes ops, puts and takes tasks, searches, waits."""
    figure, plain = schematic(7.9, 4.8)
    wide, high, left, right, gap = 2.45, 0.74, 0.75, 5.2, 0.05
    middle = left + wide
    box(plain, (left, 3.3), (wide, high), WORKING, "take a task from the\nown queue (pop_ns)")
    box(plain, (left, 1.9), (wide, high), WORKING, "execute the next op\nof the task")
    box(plain, (left, 0.5), (wide, high), WAITING, "WAIT: children have\nnot finished (wait_ns)")
    box(plain, (right, 3.3), (wide, high), SEARCHING, "probe the queues of the\nsteal levels (probe_ns)")
    box(plain, (right, 1.9), (wide, high), SEARCHING, "back off after a round\nof probes (poll_ns)")
    box(plain, (right, 0.5), (wide, high), WORKING, "SPAWN: put a child\ninto a queue (push_ns)")
    for bottom in (2.64, 1.24):
        arrow(plain, (left + 0.5, bottom + 0.66 - gap), (left + 0.5, bottom + gap), BLUE if bottom > 2 else GREY)
        arrow(plain, (left + 1.05, bottom + gap), (left + 1.05, bottom + 0.66 - gap), BLUE if bottom > 2 else GREY)
    plain.text(left + 1.15, 2.97, "the task ends", color=BLUE, va="center")
    plain.text(left + 1.15, 1.57, "all have finished", color=GREY, va="center")
    plain.plot((left - gap, 0.45, 0.45), (0.87, 0.87, 3.67), color=GREY, linewidth=1.8)
    arrow(plain, (0.45, 3.67), (left - gap, 3.67), GREY)
    plain.text(0.33, 2.27, "join help, own or strict: another task", color=GREY, ha="center", va="center", rotation=90)
    arrow(plain, (middle + gap, 3.87), (right - gap, 3.87), VERMILION)
    plain.text((middle + right) / 2, 3.93, "the queue is empty", color=VERMILION, ha="center", va="bottom")
    arrow(plain, (right - gap, 3.5), (middle + gap, 2.45), BLUE)
    plain.text(4.4, 2.84, "found: begin\nthe task", color=BLUE, va="center", ha="left")
    arrow(plain, (right + 0.95, 3.3 - gap), (right + 0.95, 2.64 + gap), VERMILION)
    arrow(plain, (right + 1.5, 2.64 + gap), (right + 1.5, 3.3 - gap), VERMILION)
    plain.text(right + 0.85, 2.97, "nothing", color=VERMILION, ha="right", va="center")
    plain.text(right + 1.6, 2.97, "next round", color=VERMILION, va="center")
    arrow(plain, (middle + gap, 2.2), (right - gap, 1.13), BLUE)
    arrow(plain, (right - gap, 0.85), (middle + gap, 1.93), BLUE)
    plain.text(4.3, 1.78, "op SPAWN", color=BLUE, va="center", ha="left")
    plain.text(4.0, 1.12, "go on", color=BLUE, va="center", ha="right")
    for place, colour, text in ((1.6, WORKING, "has work"), (3.4, SEARCHING, "searches"), (5.2, WAITING, "waits")):
        box(plain, (place, 0.06), (0.3, 0.2), colour)
        plain.text(place + 0.4, 0.16, text, va="center")
    plain.text(4.2, 4.6, "one worker, one timed step at a time", ha="center", va="center", weight="bold")
    return figure


def segment_time() -> Figure:
    """Draw what one segment waits for: caches, memory, page faults, its core, and the bandwidth that others use."""
    local_ns, remote_ns, hit_ns, under_way = 90, 150, 30, 10  # times of a line, and misses under way at once
    hits, near, far = 80 * hit_ns / under_way, 24 * local_ns / under_way, 40 * remote_ns / under_way
    compute, speed, share, fault, owed = 700, 0.55, 0.8, 500, 200
    local = max(compute, hits + near + 40 * local_ns / under_way)
    alone = max(compute, hits + near + far)
    slowed = max(compute / speed, hits + near + far)
    undisturbed = (("local", local, WORKING), ("distance", alone - local, "#F0B48C"))
    before = (("owed", owed, WAITING), ("page fault", fault, "#E4E4E4"))
    disturbed = (("core", slowed - alone, "#BDBDBD"), ("contention", (slowed + fault) * (1 / share - 1), "#7F9DB0"))
    figure, (panel,) = axes(7.8, 3.6)
    memory = (("cache", hits, WAITING), ("own node", near, "#CFCFCF"), ("other node", far, SEARCHING))
    bars = ((("computing", compute, WORKING),), memory, undisturbed, (*before, *undisturbed, *disturbed))
    for row, parts in enumerate(reversed(bars)):
        at = 0.0
        for name, time, shade in parts:
            panel.barh(row, time, left=at, color=shade, height=0.5, edgecolor=GREY, linewidth=1.0)
            panel.text(at + time / 2, row + 0.29, name, ha="center", va="bottom", size="small")
            panel.text(at + time / 2, row, f"{time:.0f}", ha="center", va="center", size="small")
            at += time
    panel.set_yticks(range(4), ("in the run", "alone: the\nlonger of C and W", "W: memory", "C: computing"))
    panel.set(xlabel="time (ns)", xlim=(0, None), ylim=(-0.4, 3.75))
    panel.grid(visible=False, axis="y")
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    draw.__name__: draw
    for draw in (
        deque,
        stealing_timeline,
        stealing_amount,
        domains_machine,
        domains_share,
        placement_policies,
        placement_master,
        placement_interleaved,
        contention_share,
        contention_effects,
        worker_loop,
        segment_time,
    )
}


def main(names: list[str]) -> None:
    """Draw the pictures of these names, or all."""
    for name in names or PICTURES:
        with rules():
            PICTURES[name]().savefig(HERE / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")


if __name__ == "__main__":
    main(sys.argv[1:])
