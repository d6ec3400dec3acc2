"""The components of the time split (model 6): order, label, colour and text glyph, for every report.

Colours are those of Okabe and Ito, "Color Universal Design" (2008), and two greys for waiting without work.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Component:
    """One part of a worker's time; ``column`` is its name in the results table, in picoseconds."""

    column: str
    label: str
    colour: str
    glyph: str


COMPONENTS = (
    Component("work_local_ps", "work", "#009E73", "█"),
    Component("inflation_numa_ps", "remote memory", "#D55E00", "▓"),
    Component("inflation_contention_ps", "contention", "#E69F00", "▒"),
    Component("inflation_smt_ps", "SMT sharing", "#F0E442", "░"),
    Component("overhead_ps", "overhead", "#CC79A7", "+"),
    Component("idle_steal_ps", "stealing", "#0072B2", "/"),
    Component("idle_backoff_ps", "back-off", "#56B4E9", "~"),
    Component("idle_barrier_ps", "barrier", "#8C8C8C", "="),
    Component("parked_ps", "parked", "#D9D9D9", "."),
)
