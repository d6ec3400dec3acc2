"""The page of a sweep as text: one file that needs no other file and no network. Equal tables give equal pages."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from numasim import __version__
from numasim.engine.columns import DESCRIBED, Column
from numasim.engine.remarks import free_operations
from numasim.engine.result import Result
from numasim.engine.unit_text import BYTE_UNITS, TIME_UNITS
from numasim.errors import InputError
from numasim.files.reader import OWN, read_bytes
from numasim.html import embedded, page_environment
from numasim.report.answers.question import Comparison, compare
from numasim.report.answers.statistics import FEWEST
from numasim.report.answers.time_parts import stated_inputs
from numasim.report.answers.varying_axes import varying_axes
from numasim.report.comparison_cells import (
    DRAWN_COLUMNS,
    ITERATION,
    ITERATION_COLUMNS,
    Rows,
    by_iteration,
    cell_columns,
    choose_axes,
    codes,
    common_heading,
    failures,
    finished,
    groups,
    is_numeric,
    label,
    median_estimates,
    numbers,
    plain_value,
    varying_columns,
)
from numasim.report.components import LINE_COLOURS
from numasim.spec.identity import MODEL_VERSION

if TYPE_CHECKING:
    from numasim.machine.topology import Machine
    from numasim.spec.sweep_spec import SweepSpec

# ---- The data of the plots of a page: the estimate of every column in every cell of a sweep --------------------------

# The page of a sweep with very many cells has evenly spaced values of the longest axes, and a sentence that says so.

EFFICIENCY = "efficiency"
MOST_NUMBERS = 120_000  # most numbers of a page: about a megabyte
MOST_BY_ITERATION = 50_000  # most numbers of the plot over iterations
FEWEST_VALUES = 3  # fewest values that an axis keeps
DIGITS = 7  # digits of a number; more digits would be finer than any interval


@dataclass(frozen=True)
class PageCells:
    """The data of a plot, and sentences on the values that were left out."""

    plot: dict[str, Any]
    left_out: tuple[str, ...]

    @property
    def json(self) -> str:
        """Return the data as JSON for a script element; no character of the text opens or closes an element."""
        text = json.dumps(self.plot, separators=(",", ":"), allow_nan=False)
        return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def page_cells(frame: pd.DataFrame) -> PageCells | None:
    """Return the cells of the finished runs of a results table; None if no run has finished."""
    runs = finished(frame)
    if runs.empty:
        return None
    columns = [DESCRIBED[name] for name in DRAWN_COLUMNS if not np.isnan(numbers(runs, name)).all()]
    kept, left_out = _thinned(runs, varying_columns(runs) or ["workers"], MOST_NUMBERS // (3 * len(columns)))
    x = choose_axes(kept).x
    # over workers the efficiency: the fall of the makespan would hide the differences between strategies
    first = EFFICIENCY if x == "workers" and DESCRIBED[EFFICIENCY] in columns else columns[0].name
    plot = _plot(kept, columns, varying_columns(kept) or ["workers"], x, first)
    return PageCells(plot, tuple(f"{each} The results table has all." for each in left_out))


def page_iterations(frame: pd.DataFrame, iterations: Iterable[pd.DataFrame]) -> PageCells | None:
    """Return each iteration of the finished runs as a cell; None if no program has iterations.

    ``iterations`` has the runs of phases (`SweepResult.iterations`), in parts of one or more whole runs.
    """
    runs = by_iteration(frame, iterations)
    if runs.empty:
        return None
    columns = [column for name, column in ITERATION_COLUMNS.items() if numbers(runs, name).any()]
    kept, left_out = _thinned(runs, _by_iteration(runs), MOST_BY_ITERATION // (3 * len(columns)))
    plot = _plot(kept, columns, _by_iteration(kept), ITERATION, columns[0].name)
    return PageCells(plot, tuple(f"Of iterations: {each} iterations.parquet has all." for each in left_out))


def _by_iteration(runs: pd.DataFrame) -> list[str]:
    """Return the axes that vary, then the iteration, also if there is only one iteration."""
    return [*(name for name in varying_columns(runs) if name != ITERATION), ITERATION]


def _plot(runs: pd.DataFrame, columns: Sequence[Column], axes: Sequence[str], x: str, column: str) -> dict[str, Any]:
    """Return the data of a plot over ``axes``; at first the plot shows ``column`` over ``x``."""
    chosen = choose_axes(runs, x)
    first, cell_of = _cells(runs, axes)
    return {
        "axes": [_axis(runs.iloc[first], name) for name in axes],
        "columns": [_column(runs, each, cell_of) for each in columns],
        "repeats": np.bincount(cell_of).tolist(),
        "fewest": FEWEST,
        "units": {"ps": TIME_UNITS, "B": BYTE_UNITS},
        "colours": LINE_COLOURS,
        "start": {
            "column": column,
            "x": chosen.x,
            "colour": chosen.colour[0] if chosen.colour else "",
            "facet": chosen.facet[0] if chosen.facet else "",
        },
    }


def _cells(runs: pd.DataFrame, names: Sequence[str]) -> tuple[Rows, Rows]:
    """Return the position of the first run of each cell [cells], and the number of the cell of each run [runs]."""
    cell_of = codes(runs, names)
    return np.unique(cell_of, return_index=True)[1], cell_of


def _thinned(runs: pd.DataFrame, names: Sequence[str], most: int) -> tuple[pd.DataFrame, list[str]]:
    """Return runs of at most ``most`` cells, with fewer values of the longest axes, and a sentence on missing cells."""
    total = left = len(_cells(runs, names)[0])
    notes: dict[str, str] = {}
    counts = {name: runs[name].nunique(dropna=False) for name in names}
    while left > most:
        name, values = max(((name, _values(runs, name)) for name in names), key=lambda each: len(each[1]))
        if len(values) <= FEWEST_VALUES:
            _, cell_of = _cells(runs, names)
            runs = runs[cell_of < most]
            notes["cells"] = f"the first {most:,} of the cells that are left"
            break
        count = max(FEWEST_VALUES, min(len(values) - 1, len(values) * most // left))
        chosen = [values[at] for at in np.unique(np.linspace(0, len(values) - 1, count).round().astype(int))]
        runs = runs[runs[name].isin(chosen)]
        left = len(_cells(runs, names)[0])
        notes[name] = f"{len(chosen):,} of {counts[name]:,} values of {name}"
    if not notes:
        return runs, []
    shown = len(_cells(runs, names)[0])
    return runs, [f"The plot has {shown:,} of {total:,} cells: {', '.join(notes.values())}."]


def _values(runs: pd.DataFrame, name: str) -> list[Any]:
    """Return the values of an axis: ascending numbers, other values in order of appearance, an unset value last."""
    found = list(runs[name].drop_duplicates())
    given = [value for value in found if not pd.isna(value)]
    missing = [value for value in found if pd.isna(value)]
    return [*(sorted(given) if is_numeric(runs, name) else given), *missing]


def _axis(cells: pd.DataFrame, name: str) -> dict[str, Any]:
    """Return an axis of the plot; ``of`` has for each cell the place of the cell's value in ``values``."""
    values, numeric = _values(cells, name), is_numeric(cells, name)
    names = [plain_value(value) for value in values]
    place = {text: at for at, text in enumerate(names)}
    return {
        "name": name,
        "label": name,
        "numeric": numeric,
        "names": names,
        "values": [None if pd.isna(value) else _short(value) if numeric else plain_value(value) for value in values],
        "of": [place[plain_value(value)] for value in cells[name]],
    }


def _column(runs: pd.DataFrame, described: Column, cell_of: Rows) -> dict[str, Any]:
    value, low, high = median_estimates(numbers(runs, described.name), cell_of)
    return {
        **{key: getattr(described, key) for key in ("name", "label", "unit", "meaning")},
        "ratio": described.kind == "ratio",
        "value": _packed(value),
        "low": _packed(low),
        "high": _packed(high),
    }


def _packed(values: Iterable[float]) -> Any:
    """Return numbers as a list, or one number if all are equal; null stands for a missing number."""
    short = [_short(value) for value in values]
    return short[0] if all(value == short[0] for value in short) else short


def _short(value: float) -> float | int | None:
    value = float(value)
    if math.isnan(value):
        return None
    rounded = float(f"{value:.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded


# ---- The page --------------------------------------------------------------------------------------------------------

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
    iterations: Iterable[pd.DataFrame] | None = None,
) -> str:
    """Return the page of the results table ``frame``.

    ``sweep`` is the specification of the runs. If ``sweep`` is known, the page has pictures of the machine.
    ``node_pairs`` has at least the `pictured_runs`. ``iterations`` has the runs of phases (`page_iterations`), shown
    in a second plot.
    """
    cells = page_cells(frame)
    by_iteration = None if cells is None or iterations is None else page_iterations(frame, iterations)
    stated = stated_inputs(frame)
    questions, not_asked = _questions(frame, stated)
    scripts = page_scripts() if cells else []
    free = free_operations(cell.spec for cell in sweep.cells) if sweep else []
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
    """Return the scripts of the page: BokehJS, and the plot. No script contains text that would end a script element.

    BokehJS is read from the files of the package bokeh. An import of the package would take long.
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
    """Return the differences of the makespan along every axis, in the order of axes; and notes on skipped axes.

    The seed is no question, because different seeds only show how far repeats differ. The notes ``stated`` stand above
    all questions and are left out.
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


# ---- Pictures of the machine with traffic: in the first repeat of the baseline and of the fastest contender ----------


def page_pictures(frame: pd.DataFrame, node_pairs: pd.DataFrame, sweep: SweepSpec | None) -> list[tuple[str, str]]:
    """Return pictures of the traffic of one or two runs, with one scale of colours: captions, and drawings as SVG text.

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


def pictured_runs(frame: pd.DataFrame) -> list[str]:
    """Return the run_ids of the runs whose traffic may be shown in pictures."""
    return frame["run_id"].iloc[_places(frame)].tolist()


def _places(frame: pd.DataFrame) -> list[int]:
    """Return the rows of the runs whose traffic is shown in a picture: the first and the fastest of the compared runs.

    The compared runs differ in the axis of the plot's colours, or without colours in x, unless x is ``workers``. In
    ``workers`` they have the largest value, in all other axes the first value.
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
    """Return the caption, the machine and the traffic of a run; None if the picture would be wrong or too large."""
    from numasim.machine.build_machine import build

    run = frame.iloc[place]
    spec = sweep.cells[place // sweep.repeat].spec
    moved = _moved(node_pairs[node_pairs["run_id"] == run["run_id"]], int(frame["makespan_ps"].iloc[place]))
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
