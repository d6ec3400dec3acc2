"""Ceiling "physics": the part of a gain in time that the bytes saved explain at the published latencies.

B bytes less from other nodes are B / line fetches, each of which waits l_remote - l_local less; if nothing overlaps and
P workers wait side by side, that is B / line x (l_remote - l_local) / P of time. Fetches that overlap, as they do in
every processor of today, explain less: it is the most that the latencies of memory can do. It bounds no score, since a
model may have other reasons for a gain; a model that has none errs on both times together by at least what is left over
the longer of them, which is where an error of the difference costs least.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from numasim.parts.unit_factors import GIGA, PS_PER_NS, PS_PER_S
from numasim.reproduce.ceilings.ceiling import Ceiling
from numasim.reproduce.ceilings.printed_column import column_words
from numasim.reproduce.study.ceiling_specs import LatencySpec, PhysicsSpec
from numasim.reproduce.study.contents import Study

UNITS = {"volumes": "GB", "times": "s", "latency": "ns"}
HEADINGS = ("row", "bytes saved (GB)", "explains (s)", "gained (s)", "explained")
NS_PER_S = PS_PER_S // PS_PER_NS


@dataclass(frozen=True)
class Gain:
    """A gain from ``before`` to ``after``, of which ``explained`` follows from bytes saved; all in seconds."""

    before: float
    after: float
    explained: float

    @property
    def gained(self) -> float:
        """What was gained, negative for a loss."""
        return self.before - self.after

    @property
    def part(self) -> float | None:
        """The part of the gain that is explained, at most 1; None where nothing was gained."""
        return min(1.0, max(0.0, self.explained / self.gained)) if self.gained > 0 else None

    @property
    def least_error(self) -> float:
        """The least mean relative error on both times of a prediction that gains no more than is explained."""
        return max(0.0, self.gained - self.explained) / max(self.before, self.after) / 2


def explained_seconds(saved_gb: float, extra_ns: float, line: int, workers: int) -> float:
    """The time that ``saved_gb`` of 10**9 bytes cost more from afar, by ``extra_ns`` a line, shared by ``workers``."""
    return saved_gb * GIGA / line * extra_ns / NS_PER_S / workers


def physics_ceiling(study: Study, name: str, asked: PhysicsSpec) -> Ceiling:
    """The part of each published gain that bytes explain; a finding beside the scores."""
    extra = extra_ns(study, asked.latency)
    (much, little), (before, after) = (
        [study.published(each.table, each.column) for each in columns] for columns in (asked.volumes, asked.times)
    )
    saved = {row: much[row] - little[row] for row in before if all(row in each for each in (after, much, little))}
    gains = {
        row: Gain(before[row], after[row], explained_seconds(saved[row], extra, asked.line, asked.workers))
        for row in saved
    }
    return Ceiling(
        name=name,
        kind="physics",
        finding=_finding(asked, gains),
        assumes=(
            f"Assumes that a line of {asked.line} bytes from another node waits {extra:.1f} ns longer than a local one,"
            f" one fetch at a time, {asked.workers} side by side, and that the published volumes are all that"
            " moved; fetches that overlap explain less, traffic that is held up explains more."
        ),
        source=asked.because,
        bounds=(),
        no_bound="a model may have other reasons for the gain than the latency of these bytes.",
        headings=HEADINGS,
        rows=tuple(_row(row, saved[row], gain) for row, gain in gains.items()),
    )


def extra_ns(study: Study, latency: LatencySpec) -> float:
    """How much longer remote memory takes than local memory, each the mean over its cells."""
    published = study.published(latency.table, latency.column)
    remote, local = ([published[row] for row in rows] for rows in (latency.remote, latency.local))
    return math.fsum(remote) / len(remote) - math.fsum(local) / len(local)


def _finding(asked: PhysicsSpec, gains: Mapping[str, Gain]) -> str:
    parts = {row: gain.part for row, gain in gains.items() if gain.part is not None}
    error = math.fsum(gain.least_error for gain in gains.values()) / len(gains)
    explained = ", ".join(f"{row} {_part_text(part)}" for row, part in parts.items())
    from_to = " to ".join(column_words(each) for each in asked.times)
    return (
        f"Of the gain from {from_to} the bytes saved explain: {explained or 'nothing, as nothing was gained'}. A model"
        f" without another reason errs by at least {error:.1%} in the mean over both columns."
    )


def _part_text(part: float) -> str:
    return "all" if part == 1 else f"{part:.0%}"


def _row(row: str, saved: float, gain: Gain) -> tuple[str, ...]:
    part = "" if gain.part is None else _part_text(gain.part)
    return row, f"{saved:.4g}", f"{gain.explained:.4g}", f"{gain.gained:.4g}", part
