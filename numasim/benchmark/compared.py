"""What can be compared on this machine, and why the rest cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numasim.benchmark.benchmark_findings import Ratio
from numasim.benchmark.sampling import Probe


@dataclass(frozen=True)
class Comparisons:
    """Probes of what can be compared, and sentences about what cannot."""

    probes: tuple[Probe[Ratio], ...]
    missing: tuple[str, ...]


class MissingError(Exception):
    """Something is not installed, or too different to be used: the text says what."""


def joined(parts: Sequence[Comparisons]) -> Comparisons:
    """All of them as one."""
    probes = tuple(probe for part in parts for probe in part.probes)
    return Comparisons(probes, tuple(sentence for part in parts for sentence in part.missing))
