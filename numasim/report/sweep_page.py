"""The page of a sweep as text: one file that needs no other file and no network. Equal tables give equal pages."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from numasim import __version__
from numasim.engine.remarks import free_operations
from numasim.engine.result import Result
from numasim.errors import InputError
from numasim.files.reader import OWN, read_bytes
from numasim.html import embedded, page_environment
from numasim.report.answers.question import Comparison, compare
from numasim.report.answers.time_parts import stated_inputs
from numasim.report.answers.varying_axes import varying_axes
from numasim.report.chosen_axes import choose_axes, common_heading, varying_columns
from numasim.report.comparison_cells import cell_columns, failures, finished, groups, label, numbers, plain_value
from numasim.report.page_cells import page_cells, page_iterations
from numasim.spec.identity import MODEL_VERSION

if TYPE_CHECKING:
    from numasim.machine.topology import Machine
    from numasim.spec.sweep_spec import SweepSpec

TEMPLATES = Path(__file__).with_name("templates")
LIBRARY = ("bokeh.min.js", "bokeh-api.min.js")  # in `LIBRARY_FOLDER` of the package bokeh
LIBRARY_FOLDER = "server/static/js"
MOST_SPEC = 200_000  # most characters of the specification
MOST_FAILURES = 10  # most different messages of failed runs
MOST_VALUES = 12  # most values of an axis that are listed
MOST_ROWS = 100  # most rows of a question in one table
MOST_CONTRASTS = 2_000  # most contrasts of a question: for more, a reader would wait too long
KINDS = ("read", "ownership", "written", "cache")  # kinds of bytes
MOST_NODES = 64  # most nodes in a picture; a larger machine would fill a page


def sweep_page(
    frame: pd.DataFrame,
    node_pairs: pd.DataFrame,
    spec_text: str,
    sweep: SweepSpec | None,
    iterations: pd.DataFrame | None = None,
) -> str:
    """Return the page of the results table ``frame``.

    ``sweep`` is the specification of the runs, if it is known: the page then has pictures of the machine.
    ``iterations`` has the runs of phases (`SweepResult.iterations`), shown in a second plot.
    """
    cells = page_cells(frame)
    by_iteration = None if cells is None or iterations is None else page_iterations(frame, iterations)
    stated = stated_inputs(frame)
    questions, not_asked = _questions(frame, stated)
    scripts = page_scripts() if cells else []
    free = free_operations(cell.spec.runtime for cell in sweep.cells) if sweep else []
    left_out = (note for each in (cells, by_iteration) if each for note in each.left_out)
    done = finished(frame)
    provenance = [
        ("numasim", f"version {__version__}, model version {MODEL_VERSION}"),
        ("specification", ", ".join(map(str, frame["spec_hash"].drop_duplicates()))),
        ("seed", ", ".join(plain_value(seed) for seed in frame["seed"].drop_duplicates()[:MOST_VALUES])),
        ("engine", ", ".join(map(str, done["engine"].dropna().drop_duplicates())) or "none"),
    ]
    rest = f"{spec_text[:MOST_SPEC]}\n... (spec.yaml has the rest)"
    return (
        page_environment(TEMPLATES)
        .get_template("sweep.html.jinja")
        .render(
            title=common_heading(frame) if len(frame) else "no runs",
            runs=len(frame),
            repeats=int(frame["repeat"].nunique()),
            axes=[(name, _values_text(frame, name)) for name in varying_columns(frame)],
            cells=cells,
            by_iteration=by_iteration,
            questions=questions,
            notices=[*stated, *free, *left_out, *not_asked],
            failures=failures(frame, varying_columns(frame))[:MOST_FAILURES],
            pictures=[(caption, embedded(svg)) for caption, svg in page_pictures(frame, node_pairs, sweep)],
            spec=spec_text if len(spec_text) <= MOST_SPEC else rest,
            provenance=provenance,
            scripts=scripts,
            policy=content_policy(scripts),
        )
    )


def page_scripts() -> list[str]:
    """Return the scripts of the page: BokehJS, and the plot. No script contains text that would end its element.

    BokehJS is read from the files of the package bokeh without importing the package, which would take long.
    """
    package = find_spec("bokeh")
    if package is None or package.origin is None:
        raise InputError("the library of charts is not installed", expected="`pip install bokeh`")
    folder = Path(package.origin).parent / LIBRARY_FOLDER
    texts = [
        read_bytes(file, OWN).decode().strip() for file in (*map(folder.joinpath, LIBRARY), TEMPLATES / "chart.js")
    ]
    return [text.replace("</script", "<\\/script").replace("<!--", "<\\!--") for text in texts]


def content_policy(scripts: list[str]) -> str:
    """Return the Content-Security-Policy of a page: only ``scripts`` run, and nothing is fetched."""
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{each}'" for each in hashes)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; font-src data:"


def _questions(frame: pd.DataFrame, stated: Sequence[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return how the makespan differs along every axis, the natural question first, and sentences on skipped axes.

    The seed is no question, because its values only show how far repeats differ. The notes ``stated`` above all
    questions are left out.
    """
    axes = [axis.name for axis in varying_axes(frame) if axis.columns != ("seed",)]
    cells = len(groups(frame, cell_columns(frame)))  # about the number of contrasts of each question
    skipped = axes[1:] if cells > MOST_CONTRASTS else []
    asked = [_question(compare(frame, name), stated) for name in axes if name not in skipped]
    return asked, [f"{name} is not compared here: {cells:,} differences." for name in skipped]


def _question(found: Comparison, stated: Sequence[str]) -> dict[str, Any]:
    """Return the data of one question for the template: rows with a sure difference apart from the others."""
    rows = found.rows()
    sure, others = ([row.cells for row in rows if row.sure == is_sure] for is_sure in (True, False))
    return {
        "title": f"{found.axis}: against {found.baseline}",
        "sentences": found.sentences,
        "notes": [note for note in found.notes if note not in stated],
        "heads": found.heads,
        "sure": sure[:MOST_ROWS],
        "others": others[:MOST_ROWS],
        "left_out": max(0, len(sure) - MOST_ROWS) + max(0, len(others) - MOST_ROWS),
    }


def _values_text(frame: pd.DataFrame, name: str) -> str:
    values = [plain_value(value) for value in frame[name].drop_duplicates()]
    if len(values) <= MOST_VALUES:
        return ", ".join(values)
    return f"{', '.join(values[: MOST_VALUES - 1])}, ... {values[-1]} ({len(values)} values)"


# ---- Pictures of the machine with its traffic: in the first repeat of the baseline and of the fastest contender ------


def page_pictures(frame: pd.DataFrame, node_pairs: pd.DataFrame, sweep: SweepSpec | None) -> list[tuple[str, str]]:
    """Return the traffic of one or two runs, drawn with one scale of colours: captions, and drawings as SVG text.

    No picture is drawn if the machine is unknown or large, or if the runs moved no bytes.
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

    These are the first and the fastest of the compared runs in the first setting, with the most workers. Runs are
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
    """Return a result with only the traffic of a run; None if no bytes moved, or if there are too many nodes."""
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
