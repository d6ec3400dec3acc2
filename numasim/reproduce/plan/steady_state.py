"""Runs that go on in the same way: what a long one would count, from two shorter ones with the same beginning.

A program that repeats its sweeps does the same again and again once caches are filled and a controller has chosen. A
run of ``long`` sweeps begins as one of ``short`` sweeps does, and what it counts beyond that is what ``long - short``
sweeps add in the end. A run of ``whole`` sweeps adds as much for each further one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from numasim.reproduce.plan.setting import Wanted
from numasim.reproduce.published_quantities import Outcome
from numasim.spec.overrides import from_mapping

NODES = ("node_from", "node_to")  # which pair a row is of


@dataclass(frozen=True)
class Lengths:
    """``field`` of a run says how many sweeps it has; it has ``short`` and ``long`` where ``whole`` is meant."""

    field: str
    short: int
    long: int
    whole: int

    def wanted(self, of: Wanted) -> tuple[Wanted, Wanted]:
        """The short and the long runs in place of ``of``."""
        return self._with(of, self.short), self._with(of, self.long)

    def _with(self, of: Wanted, sweeps: int) -> Wanted:
        return replace(of, changes=(*of.changes, *from_mapping({self.field: sweeps})))

    def whole_of(self, short: Outcome, long: Outcome) -> Outcome:
        """What a run of all sweeps would count."""
        times = (self.whole - self.long) / (self.long - self.short)
        pairs = [_further(one, other, times) for one, other in zip(short.pairs, long.pairs, strict=True)]
        return Outcome(long.spec, _further(short.counters, long.counters, times), pairs)


def _further(short: Mapping[str, Any], long: Mapping[str, Any], times: float) -> dict[str, Any]:
    """The counts of the long run and ``times`` the difference to those of the short one; what is no count stays."""
    return {
        name: value + times * (value - short[name]) if name not in NODES and _counts(value, short[name]) else value
        for name, value in long.items()
    }


def _counts(*values: Any) -> bool:
    return all(isinstance(value, int) and not isinstance(value, bool) for value in values)
