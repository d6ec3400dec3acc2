"""The page of a sweep as text: one file that needs no other and no network, the same for equal tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from numasim import __version__
from numasim.engine.remarks import free_operations
from numasim.html import page_environment
from numasim.report.answers.part_details import stated_inputs
from numasim.report.chosen_axes import varying_columns
from numasim.report.comparison_cells import failed, finished, groups, label, plain_value
from numasim.report.figures.embedded import embedded
from numasim.report.figures.heading import common_heading
from numasim.report.page.page_cells import page_cells, page_iterations
from numasim.report.page.page_pictures import page_pictures
from numasim.report.page.page_questions import PageQuestion, page_questions
from numasim.spec.identity import MODEL_VERSION

if TYPE_CHECKING:
    from numasim.spec.sweep_spec import SweepSpec


import base64
import hashlib
from importlib.util import find_spec

from numasim.errors import InputError
from numasim.files.reader import OWN, read_bytes

# ----------------------------------------------------------------------------------------------------------------------
# The scripts of a sweep's page: BokehJS as its wheel has it, and the plot; and the policy that lets them alone run.
#
# Only the files of the wheel are read: the package itself, which takes a while to import, is not.

LIBRARY = ("bokeh.min.js", "bokeh-api.min.js")
FOLDER = "server/static/js"
PLOT = Path(__file__).with_name("templates") / "chart.js"


def page_scripts() -> list[str]:
    """Return the texts of the scripts in their order, each fit to stand inside of a script element."""
    package = find_spec("bokeh")
    if package is None or package.origin is None:
        raise InputError("the library of charts is not installed", expected="`pip install bokeh`")
    folder = Path(package.origin).parent / FOLDER
    return [_inline(folder / name) for name in LIBRARY] + [_inline(PLOT)]


def content_policy(scripts: list[str]) -> str:
    """The Content-Security-Policy of a page with these scripts: no other one runs, and nothing is fetched."""
    allowed = " ".join(f"'sha256-{_hash(script)}'" for script in scripts)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; font-src data:"


def _inline(path: Path) -> str:
    """A script without what would end its element, and without blanks around it."""
    text = read_bytes(path, OWN).decode().strip()
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


TEMPLATES = Path(__file__).with_name("templates")
MOST_SPEC = 200_000  # characters
MOST_FAILURES = 10  # different messages
MOST_VALUES = 12  # of an axis that are listed


@dataclass(frozen=True)
class Failure:
    """Runs that failed in one way."""

    count: int
    message: str
    first: str  # cell


def sweep_page(
    frame: pd.DataFrame,
    node_pairs: pd.DataFrame,
    spec_text: str,
    sweep: SweepSpec | None,
    iterations: pd.DataFrame | None = None,
) -> str:
    """Return the page of the results table ``frame``; ``sweep`` is what was run, where it is known, for its machine.

    ``iterations`` has the runs of phases (`SweepResult.iterations`), from which a second plot is drawn.
    """
    cells = page_cells(frame)
    by_iteration = None if cells is None or iterations is None else page_iterations(frame, iterations)
    questions, not_asked = page_questions(frame)
    stated = stated_inputs(frame)
    scripts = page_scripts() if cells else []
    free = free_operations(cell.spec.runtime for cell in sweep.cells) if sweep else []
    left_out = (note for each in (cells, by_iteration) if each for note in each.left_out)
    notices = [*stated, *free, *left_out, *not_asked]
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
            questions=[_without(question, stated) for question in questions],
            notices=notices,
            failures=_failures(frame),
            pictures=[(picture.caption, embedded(picture.svg)) for picture in page_pictures(frame, node_pairs, sweep)],
            spec=_shortened(spec_text),
            provenance=_provenance(frame),
            scripts=scripts,
            policy=content_policy(scripts),
        )
    )


def _without(question: PageQuestion, stated: Sequence[str]) -> PageQuestion:
    """A question without the notes that stand above all of them."""
    return replace(question, notes=tuple(note for note in question.notes if note not in stated))


def _values_text(frame: pd.DataFrame, name: str) -> str:
    values = [plain_value(value) for value in frame[name].drop_duplicates()]
    if len(values) <= MOST_VALUES:
        return ", ".join(values)
    return f"{', '.join(values[: MOST_VALUES - 1])}, ... {values[-1]} ({len(values)} values)"


def _failures(frame: pd.DataFrame) -> list[Failure]:
    broken = failed(frame)
    names = varying_columns(frame)
    found = groups(broken, ["error"])[:MOST_FAILURES]
    return [
        Failure(len(rows), str(message), label(names, [broken[name].iloc[rows[0]] for name in names]))
        for (message,), rows in found
    ]


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_SPEC else f"{text[:MOST_SPEC]}\n... (spec.yaml has the rest)"


def _provenance(frame: pd.DataFrame) -> Sequence[tuple[str, str]]:
    """What the numbers depend on; where and by which command they were made does not change them."""
    done = finished(frame)
    return [
        ("numasim", f"version {__version__}, model version {MODEL_VERSION}"),
        ("specification", ", ".join(map(str, frame["spec_hash"].drop_duplicates()))),
        ("seed", ", ".join(plain_value(seed) for seed in frame["seed"].drop_duplicates()[:MOST_VALUES])),
        ("engine", ", ".join(map(str, done["engine"].dropna().drop_duplicates())) or "none"),
    ]
