"""Pictures of the machine with its traffic: of the first repeat with the baseline, and of the fastest first repeat."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from numasim.engine.result import Result
from numasim.report.chosen_axes import choose_axes, varying_columns
from numasim.report.comparison_cells import finished, label, numbers

if TYPE_CHECKING:
    from numasim.machine.topology import Machine
    from numasim.spec.sweep_spec import SweepSpec

KINDS = ("read", "ownership", "written", "cache")  # of bytes
MOST_NODES = 64  # a larger machine would fill a page


def page_pictures(frame: pd.DataFrame, node_pairs: pd.DataFrame, sweep: SweepSpec | None) -> list[tuple[str, str]]:
    """Return the traffic of one or two runs, drawn on one scale of colours: captions, and drawings as SVG text.

    No picture is drawn if the machine is not known or is large, or if nothing moved.
    """
    if sweep is None or len(frame) != len(sweep.cells) * sweep.repeat:
        return []
    drawn = [run for run in (_run(frame, place, node_pairs, sweep) for place in _places(frame)) if run is not None]
    if not drawn:
        return []
    from numasim.report.figures.plots import svg_text
    from numasim.report.figures.traffic import loads_of, node_traffic

    most = max(loads_of(machine, moved).largest_percent for _, machine, moved in drawn)
    return [(caption, svg_text(node_traffic(machine, moved, most))) for caption, machine, moved in drawn]


def _places(frame: pd.DataFrame) -> list[int]:
    """Return the positions of the runs that are drawn.

    They are the first and the fastest of the compared runs in the first setting, with the most workers. Runs are
    compared along the colours of the plot, or along x if the plot has no colours.
    """
    runs = finished(frame.reset_index(drop=True))
    runs = runs[runs["repeat"] == runs["repeat"].min()]
    if runs.empty:
        return []
    chosen = choose_axes(runs)
    compared = chosen.colour or ((chosen.x,) if chosen.x != "workers" else ())
    for name in varying_columns(runs):
        if name not in compared:
            value = runs[name].max() if name == "workers" else runs[name].iloc[0]
            runs = runs[runs[name].isna() if pd.isna(value) else runs[name] == value]
    return list(dict.fromkeys((int(runs.index[0]), int(runs.index[np.argmin(numbers(runs, "makespan_ps"))]))))


def _run(
    frame: pd.DataFrame, place: int, node_pairs: pd.DataFrame, sweep: SweepSpec
) -> tuple[str, Machine, Result] | None:
    """Return the caption of a run, its machine, and its traffic."""
    from numasim.machine.build_machine import build

    run = frame.iloc[place]
    spec = sweep.cells[place // sweep.repeat].spec
    moved = _moved(node_pairs[node_pairs["run_id"] == run["run_id"]], int(run["makespan_ps"]))
    if moved is None or spec.workers != run["workers"] or len(spec.machine.node_shapes) != len(moved.node_bytes):
        return None
    columns = ["workload", "strategy", "workers", *(name for name in varying_columns(frame) if "." in name)]
    caption = f"{label(columns, [run[name] for name in columns])}, repeat {int(run['repeat'])}"
    return caption, build(spec.machine), moved


def _moved(pairs: pd.DataFrame, makespan_ps: int) -> Result | None:
    """Return a result with only the traffic of a run; None if nothing moved, or between too many nodes."""
    nodes = math.isqrt(len(pairs))

    def table(column: str) -> npt.NDArray[np.int64]:
        made = np.zeros((nodes, nodes), np.int64)
        made[pairs["node_from"].to_numpy(int), pairs["node_to"].to_numpy(int)] = pairs[column].to_numpy(np.int64)
        return made

    if nodes > MOST_NODES or "bytes" not in pairs or not pairs["bytes"].sum():
        return None
    by_kind = all(f"bytes_{kind}" in pairs and pairs[f"bytes_{kind}"].notna().all() for kind in KINDS)
    return Result(
        counters={"makespan_ps": makespan_ps},
        per_worker={},
        node_bytes=table("bytes"),
        node_attempts=table("steal_attempts"),
        node_success=table("steal_success"),
        node_pages=np.zeros(nodes, np.int64),
        node_conflicts=np.zeros((nodes, nodes), np.int64),
        object_conflicts=np.zeros(0, np.int64),
        traffic={kind: table(f"bytes_{kind}") for kind in KINDS} if by_kind else {},
    )
