"""What a reproduction found, scored: all that pages, text tables and CSV files are made of."""

from __future__ import annotations

from dataclasses import dataclass

from numasim.reproduce.calibration.record import FittedParameter
from numasim.reproduce.study.selection import ScoreRule
from numasim.reproduce.table_cells import Score, Table


@dataclass(frozen=True)
class Ablation:
    """The scores with one mechanism switched off; the first of several is with none."""

    mechanism: str
    fields: str  # what was set, as in a specification
    scores: tuple[Score, ...]


@dataclass(frozen=True)
class Findings:
    """A study, how it was run, and what came out."""

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
    ablations: tuple[Ablation, ...]
    parameters: tuple[FittedParameter, ...]
    command: str  # that makes it again
    version: str  # of numasim

    @property
    def elsewhere(self) -> bool:
        """Whether the question was asked of another machine."""
        return self.machine != self.published_machine
