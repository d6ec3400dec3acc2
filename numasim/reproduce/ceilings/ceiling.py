"""A ceiling: what published values say about the best score that is within reach."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ScoreBound:
    """The best value of a score that is within reach.

    ``value`` is the least error of a class, or the most of a metric that rises, over all its ``cells``; it follows from
    ``covered`` of them, and the others are taken to be met exactly.
    """

    score: str
    metric: str
    value: float
    covered: int
    cells: int


@dataclass(frozen=True)
class Ceiling:
    """What was found, in sentences; a ceiling without ``bounds`` is a finding beside the scores, for ``no_bound``."""

    name: str
    kind: str
    finding: str
    assumes: str
    source: str  # the place of the source that speaks for the inputs, "" where nothing had to be read
    bounds: tuple[ScoreBound, ...]
    no_bound: str = ""
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
