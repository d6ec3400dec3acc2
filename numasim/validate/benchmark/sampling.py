"""Samples of everything in turn, round after round, so that a short load of the machine affects few of each.

Ratios are of pairs, one side right behind the other, so that a change of the machine's speed meets both.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from numasim.validate.benchmark.benchmark_findings import Ratio

T = TypeVar("T")

Side = Callable[[], float]


@dataclass(frozen=True)
class Probe(Generic[T]):
    """Something to be timed: ``sample`` takes one sample, ``finding`` makes the finding from the medians. ``most`` is
    how often at most, where that takes long; None: in every round.
    """

    sample: Callable[[], tuple[float, ...]]
    finding: Callable[..., T]
    most: int | None = None


@dataclass(frozen=True)
class Comparisons:
    """Probes of what can be compared on this machine, and sentences about what cannot."""

    probes: tuple[Probe[Ratio], ...] = ()
    missing: tuple[str, ...] = ()


def take(probes: Sequence[Probe[Any]], samples: int, advance: Callable[[int], None]) -> list[Any]:
    """Return the finding of each probe from ``samples`` rounds; ``advance`` is called after every sample."""
    taken: list[list[tuple[float, ...]]] = [[] for _ in probes]
    for turn in range(samples):
        for probe, values in zip(probes, taken, strict=True):
            if probe.most is None or turn < probe.most:
                values.append(probe.sample())
            advance(1)
    return [
        probe.finding(*(statistics.median(column) for column in zip(*values, strict=True)))
        for probe, values in zip(probes, taken, strict=True)
    ]


def pair_probe(
    name: str, kind: str, bound: float | None, unit: str, sides: tuple[Side, Side], most: int | None = None
) -> Probe[Ratio]:
    """The probe of both ``sides``; the finding has the medians of the values and of their ratios."""
    return Probe(partial(_pair, *sides), partial(Ratio, name, kind, bound, unit), most)


def _pair(ours: Side, other: Side) -> tuple[float, float, float]:
    first, second = ours(), other()
    return first, second, first / second
