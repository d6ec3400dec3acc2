"""A made-up reproduction: the published tables of the thesis, with noise added as simulated values.

The findings have every kind of content of a report: columns over workers, benchmarks on many scales, inputs, mixed
roles, cells that were not simulated, a regression, met and missed scores, ablations and fitted parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from numasim.parts.validation import validate
from numasim.parts.yaml.document import parse
from numasim.parts.yaml.nodes import Source
from numasim.reproduce.calibration_file import Calibration
from numasim.reproduce.findings import Ablation, Findings
from numasim.reproduce.programs import question
from numasim.reproduce.scores import class_scores, table_scores
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import Paper, ScoreRule, Tried, read_study
from numasim.reproduce.study_tables import cells_of, table_of
from numasim.reproduce.table_cells import Cell, Role, Table

SEEDS = 3
RULES = (
    ScoreRule("times", "mape", 0.15),
    ScoreRule("volumes", "mape", 0.25),
    ScoreRule("steals", "median-factor", 1.5),
    ScoreRule("miss-ratios", "mean-absolute-error", 0.06),
    ScoreRule("remote-share", "pooled-share", 0.03, of="steals", tables=("4.2",)),
    ScoreRule("overheads", "mape", 0.15),
    ScoreRule("signs", "sign-agreement", 0.8, of="times"),
    ScoreRule("step", "mape", of="times", question="one-step", unknown="what ran beside it"),
    ScoreRule("ranks", "rank-correlation", 0.8, of="times"),
)


TABLES = ("3.1", "3.3", "3.4", "3.6", "4.2", "4.5", "5.2", "5.3", "6.2", "6.4", "6.6")
NOTES = {
    "3.6": ("Strategy and number of workers are not stated; randomized stealing on 24 workers is assumed.",),
    "4.2": ("2 workers, one per node: 21 local steals cannot happen unless a thief picks itself <(equation 4.2)>.",),
}
READINGS = {
    "workers": {
        "question": "How many workers ran chapter 3?",
        "role": "input",
        "scored": "12",
        "choices": {"12": {"says": "section 2.3.1"}, "24": {"says": "Table 3.1"}},
    },
    "heap": {
        "question": "Whose heap?",
        "role": "chosen",
        "scored": "its own",
        "choices": {"its own": {"says": "nobody says"}},
    },
}
PAPER = Paper(
    "Adaptive Work Stealing Run-times for NUMA Multi-core Architecture",
    "B. Vikranth, PhD thesis, University of Hyderabad, 2018",
    {name: question(name, each) for name, each in READINGS.items()},
    learned=("The error of times is {times}, that of the null model {times/null}.", "No {score} of that name."),
    tried=(
        Tried("times", "threads are pinned <b>", "mapping", 0.15, 0.12, True, True),
        Tried("steals", "locks park", "spin_ns", 1.5, 1.7, False, False, "Table 4.2"),
    ),
)
CALIBRATED = """\
parameters:
  - {name: memory-level parallelism, set: model.mlp, programs: bots, value: 0.8, table: "3.4", columns: randomized}
  - {name: polling interval, set: runtime.poll_ns, programs: bots, value: 110, unit: ns, residual: 0.07}
refused:
  - {name: overlap, set: model.overlap, programs: bots, found: 1, searched: [0, 1],
     reason: the best value is an end of the range}
"""


@cache
def made_up(noise: float = 0.1) -> Findings:
    """Return the made-up findings; ``noise`` is the relative error of the "simulated" values."""
    tables = tuple(_table(identity, noise) for identity in TABLES)
    scores = class_scores(tables, RULES)
    worse = class_scores(tuple(_table(identity, 3 * noise) for identity in TABLES), RULES)
    return Findings(
        paper=PAPER,
        machine="xeon-e5-2620-2s",
        published_machine="xeon-e5-2620-2s",
        quick=False,
        without=(),
        runs=123,
        tables=tables,
        rules=RULES,
        scores=scores,
        columns=table_scores(tables, RULES),
        others={("workers", "24"): worse},
        ablations=(
            Ablation("nothing", "", scores),
            Ablation("caches", "model.cache: none", worse),
            Ablation("contention", "model.contention: none", scores),
            Ablation("thresholds", "strategy.thresholds: none", worse),
        ),
        command="numasim reproduce thesis",
        version="0",
        calibration=validate(Calibration, parse(CALIBRATED, Source("calibrated.yaml", Path()))),
        only_rates=worse,
        lead="times",
    )


class Texts(HTMLParser):
    """All text of a page, and its tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


@dataclass(frozen=True)
class Report:
    """A written report: the path of the page, and the number of calls of ``advance``."""

    page: Path
    advanced: int


def written(factory: pytest.TempPathFactory) -> Report:
    """Return the report of the made-up findings, written once a session, since drawing the figures takes seconds."""
    return _written(factory.getbasetemp() / "made-up" / "report")


@cache
def _written(folder: Path) -> Report:
    from numasim.reproduce.terminal import write_pages

    advanced: list[int] = []
    page = write_pages(made_up(), folder, lambda: advanced.append(1))
    return Report(page, len(advanced))


def _table(identity: str, noise: float) -> Table:
    """Return a table of the thesis with noise as simulated values."""
    setting = Setting(read_study("thesis"))
    table = setting.study.tables[identity]
    draws = np.random.default_rng(int(identity.replace(".", "")))
    cells = []
    for each in cells_of(setting, table):
        factors = draws.normal(1 + draws.normal(0, noise), noise / 5, SEEDS)
        simulated = tuple(float(value) for value in each.published * factors)
        cells.append(_special(replace(each, simulated=simulated)))
    return replace(table_of(setting, table, cells), notes=NOTES.get(identity, ()))


def _special(cell: Cell) -> Cell:
    """Return the cell; one cell of Table 3.6 becomes a fitted cell, and one a cell that is not simulated."""
    if (cell.row, cell.column) == ("Strassen-4096", "steal_attempt_count"):
        return replace(cell, role=Role.FITTED)
    if (cell.row, cell.column) == ("Strassen-8192", "steal_attempt_count"):
        return replace(cell, simulated=(), note="left out by --quick")
    return cell
