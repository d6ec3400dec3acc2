"""The components of the time split (model 6): colour and text glyph for every report; order and label as of columns.

Colours are those of Okabe and Ito, "Color Universal Design" (2008), with two greys for waiting without work
and black for work in vain.
"""

from __future__ import annotations

from dataclasses import dataclass

from numasim.engine.columns import DESCRIBED


@dataclass(frozen=True)
class Component:
    """One part of a worker's time; ``column`` is its name in the results table, in picoseconds."""

    column: str
    colour: str
    glyph: str

    @property
    def label(self) -> str:
        """Its name in legends and sentences."""
        return DESCRIBED[self.column].label


COMPONENTS = (
    Component("work_local_ps", "#009E73", "█"),
    Component("inflation_numa_ps", "#D55E00", "▓"),
    Component("inflation_contention_ps", "#E69F00", "▒"),
    Component("inflation_smt_ps", "#F0E442", "░"),
    Component("overhead_ps", "#CC79A7", "+"),
    Component("idle_steal_ps", "#0072B2", "/"),
    Component("idle_backoff_ps", "#56B4E9", "~"),
    Component("idle_barrier_ps", "#8C8C8C", "="),
    Component("parked_ps", "#D9D9D9", "."),
    Component("wasted_ps", "#000000", "x"),
)
