"""The findings of a reproduction with scores: the contents of pages, text tables and CSV files."""

from __future__ import annotations

from dataclasses import dataclass

from numasim.reproduce.calibration.record import FittedParameter, RefusedParameter
from numasim.reproduce.ceilings.ceiling import Ceiling
from numasim.reproduce.score.scores import TableScore
from numasim.reproduce.study.selection import ScoreRule
from numasim.reproduce.table_cells import ReadingRole, Score, Table


@dataclass(frozen=True)
class Ablation:
    """The scores with one mechanism switched off; the first of several has all mechanisms."""

    mechanism: str
    fields: str  # the fields that were set, as in a specification
    scores: tuple[Score, ...]


@dataclass(frozen=True)
class Choice:
    """One way to read the source: the sentences for it, the fields that are set, and its scores where it was run."""

    name: str
    says: str
    fields: str
    scored: bool  # whether it is the one that is scored
    scores: tuple[Score, ...] = ()


@dataclass(frozen=True)
class Reading:
    """A question that the source leaves open, and its choices; its answer was found as `role` says."""

    name: str
    question: str
    role: ReadingRole
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class Tried:
    """Something that was tried: what was supposed and changed, the score before and after, on the scale of its metric.

    ``of``: the cells of the score that were looked at, "" for all; ``seen``: whether the scored figures had been looked
    at; ``kept``: whether it is part of the study.
    """

    score: str
    metric: str
    hypothesis: str
    change: str
    of: str
    before: float
    after: float
    seen: bool
    kept: bool


@dataclass(frozen=True)
class Findings:
    """A study, how it was run, and its results."""

    title: str
    source: str
    machine: str
    published_machine: str  # the study's own; where it differs, nothing published is comparable
    quick: bool
    without: tuple[str, ...]  # mechanisms that were switched off throughout
    runs: int
    tables: tuple[Table, ...]
    rules: tuple[ScoreRule, ...]
    scores: tuple[Score, ...]
    columns: tuple[TableScore, ...]  # of every column of every table
    readings: tuple[Reading, ...]
    ablations: tuple[Ablation, ...]
    parameters: tuple[FittedParameter, ...]
    command: str  # that reproduces it
    version: str  # of numasim
    refused: tuple[RefusedParameter, ...] = ()
    only_rates: tuple[Score, ...] = ()  # of the machine with nothing fitted but the rates of serial runs
    ceilings: tuple[Ceiling, ...] = ()
    tried: tuple[Tried, ...] = ()
    lead: str = ""  # the score whose cells are drawn first
    learned: tuple[str, ...] = ()  # what to say first, with places for scores

    @property
    def elsewhere(self) -> bool:
        """Whether the runs were simulated on another machine than the study's."""
        return self.machine != self.published_machine
