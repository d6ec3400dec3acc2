"""`numasim bench --scale`: the cost of an event and of a task on generated machines, by tasks, workers and nodes.

The runs have independent tasks, simulated event by event, with all effects off. Each size is measured in a process of
its own, so that the peak memory belongs to this size. Of tasks, workers and nodes, two are fixed and the third grows.
"""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FuncFormatter, NullFormatter, NullLocator

from numasim.engine.simulate import ENGINES, simulate
from numasim.errors import CheckError
from numasim.report.figures.style import legend_below, styled
from numasim.sweep.pool import same_imports
from numasim.validate.benchmark.sampling import Finding, Probe, take
from numasim.validate.benchmark.simulation_rates import (
    DASHED,
    LARGE_MACHINE,
    NATIVE,
    SEED,
    draw_line,
    independent_tasks,
    peak_memory_mb,
    plan_of,
)

TOLERANCE = 1.25  # a cost that grows more than this many times as fast as the logarithm of the size is reported
SAMPLES = 3
USUAL = {"tasks": 2_000_000, "workers": 64, "nodes": 2}
GROWING: dict[str, tuple[int, ...]] = {
    "tasks": (10**4, 10**5, 10**6, 10**7, 10**8),
    "workers": (2, 8, 32, 128, 512, 1024, 2048, 4096),
    "nodes": (2, 4, 8, 16, 32, 64),
}
NODES_USUAL = {**USUAL, "workers": 256}  # the fixed sizes while the number of nodes grows
COLUMNS = dict.fromkeys(("seconds", "ns/event", "ns/task", "bytes/task"))  # columns without goals
LEAST_BYTES = 0.1  # bytes per task; the figure shows smaller values as this value
MOST_TICKS = 6


def generated_machine(nodes: int, workers: int) -> dict[str, Any]:
    """Return a machine of ``nodes`` nodes on a mesh, with one hardware thread for each of ``workers`` workers.

    Apart from that the machine equals the shipped synthetic machine.
    """
    columns, cores = 2 ** (int(math.log2(nodes) + 1) // 2), -(-workers // nodes)
    shape = {"sockets": nodes, "nodes": {"cores": cores}, "mesh": {"rows": nodes // columns, "columns": columns}}
    return {"like": LARGE_MACHINE, "name": f"generated-{nodes}x{cores}", **shape}


def measure_scale(progress: bool = False) -> list[Finding]:
    """Measure a table for each growing quantity, with a row for each size. ``progress`` shows a bar.

    Raise CheckError if the native engine is not built.
    """
    if NATIVE not in ENGINES:
        raise CheckError("the scale table is of the native engine, which is not built here")
    probes = []
    for grows, sizes in GROWING.items():
        usual = NODES_USUAL if grows == "nodes" else USUAL
        fixed = ", ".join(f"{size:,} {name}" for name, size in usual.items() if name != grows)
        for size in sizes:
            sample = partial(in_own_process, **{**usual, grows: size})
            probes.append(Probe(f"{grows} grow; {fixed}", f"{size:,}", COLUMNS, sample))
    return take(probes, SAMPLES, progress)


def in_own_process(**sizes: int) -> tuple[float, ...]:
    """Return the costs of one run, in the order of `COLUMNS`, from a process of its own."""
    command = [sys.executable, "-m", "numasim.validate.benchmark.scale", json.dumps(sizes)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=same_imports())
    return costs(sizes["tasks"], *json.loads(done.stdout))


def costs(tasks: int, events: float, seconds: float, more_bytes: float) -> tuple[float, ...]:
    """Return the entries of `COLUMNS`; the run needs ``more_bytes`` more peak memory than a run of one task."""
    return seconds, 1e9 * seconds / events, 1e9 * seconds / tasks, more_bytes / tasks


def in_this_process(tasks: int, workers: int, nodes: int) -> tuple[float, float, float]:
    """Return events, seconds, and the bytes by which the peak memory exceeds the peak memory of a run of one task."""
    machine, peaks_mb = generated_machine(nodes, workers), []
    for each in (1, tasks):
        result = simulate(plan_of(independent_tasks(each), workers, machine=machine), SEED, NATIVE)
        peaks_mb.append(peak_memory_mb())
    return float(result.row()["events"]), result.engine_s, (peaks_mb[1] - peaks_mb[0]) * 1e6


def growth_sentences(found: Sequence[Finding]) -> list[str]:
    """Return a sentence for each pair of sizes between which the cost of an event grows faster than their logarithm."""
    sentences = []
    for table, columns in _by_table(found).items():
        for (small, less), (large, more) in itertools.pairwise(columns["ns/event"].items()):
            growth, allowed = more / less, math.log(large) / math.log(small)
            step = f"from {small:,} to {large:,} {table.partition(' ')[0]}, an event takes {growth:.2f} times as long"
            if growth > TOLERANCE * allowed:
                sentences.append(f"faster than the logarithm: {step}; the logarithm grows {allowed:.2f} times")
    return sentences or ["nothing grows faster than the logarithm of tasks, workers or nodes"]


def _by_table(found: Sequence[Finding]) -> dict[str, dict[str, dict[int, float]]]:
    """Return the values by table, column and size."""
    tables: dict[str, dict[str, dict[int, float]]] = {}
    for each in found:
        column = tables.setdefault(each.table, {}).setdefault(each.column, {})
        column[int(each.row.replace(",", ""))] = each.value
    return tables


@styled
def scale_figure(found: Sequence[Finding]) -> Figure:
    """Draw the costs on logarithmic axes. Dashed lines grow as the logarithm of the size.

    The times of an event and of a task are above, the memory of a task below. Each table of ``found`` has a column.
    """
    figure = Figure(figsize=(10.5, 5.6), layout="constrained")
    tables = _by_table(found)
    panels = figure.subplots(2, len(tables), sharey="row", sharex="col", squeeze=False)
    for (table, columns), times, memory in zip(tables.items(), *panels, strict=True):
        times.set_title(table, loc="left", fontsize=9)
        draw_line(times, 0, "an event", columns["ns/event"])
        draw_line(times, 1, "a task", columns["ns/task"])
        sizes = list(columns["ns/event"])
        unit = min(cost / math.log(size) for size, cost in columns["ns/event"].items())
        times.plot(sizes, [unit * math.log(size) for size in sizes], label="as the logarithm", **DASHED)
        drawn = {size: max(LEAST_BYTES, cost) for size, cost in columns["bytes/task"].items()}
        draw_line(memory, 2, "memory of a task", drawn)
        shown = sizes[:: -(-len(sizes) // MOST_TICKS)]
        for axes in (times, memory):
            axes.set(xscale="log", yscale="log")
            axes.set_xticks(shown, [EngFormatter(sep="").format_eng(size) for size in shown])
            axes.xaxis.set_minor_locator(NullLocator())
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
            axes.yaxis.set_minor_formatter(NullFormatter())
        memory.set_xlabel(table.partition(" ")[0])
    panels[0][0].set_ylabel("engine's time, ns")
    panels[1][0].set_ylabel("memory, bytes per task")
    legend_below(figure, panels[0][0].get_lines())
    return figure


if __name__ == "__main__":
    print(json.dumps(in_this_process(**json.loads(sys.argv[1]))))
