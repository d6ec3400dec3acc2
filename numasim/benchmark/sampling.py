"""Samples of everything in turn, round after round, so that a short load of the machine affects few of each."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")

Sample = Callable[[], tuple[float, ...]]


@dataclass(frozen=True)
class Probe(Generic[T]):
    """Something to be timed: ``sample`` takes one sample, ``finding`` makes the finding from the medians. ``most`` is
    how often at most, where that takes long; None: in every round.
    """

    sample: Sample
    finding: Callable[..., T]
    most: int | None = None


def take(probes: Sequence[Probe[Any]], samples: int, advance: Callable[[int], None]) -> list[Any]:
    """Return the finding of each probe from ``samples`` rounds; ``advance`` is called after every sample."""
    taken: list[list[tuple[float, ...]]] = [[] for _ in probes]
    for turn in range(samples):
        for probe, values in zip(probes, taken, strict=True):
            if probe.most is None or turn < probe.most:
                values.append(probe.sample())
            advance(1)
    return [probe.finding(*_medians(values)) for probe, values in zip(probes, taken, strict=True)]


def _medians(values: Sequence[tuple[float, ...]]) -> list[float]:
    return [statistics.median(column) for column in zip(*values, strict=True)]
