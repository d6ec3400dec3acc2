"""What all reports share: the components of workers' time (model 6), their colours, and values as text.

Colours are by Okabe and Ito, "Color Universal Design" (2008); readers with any colour vision can distinguish them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numasim.engine.columns import DESCRIBED
from numasim.engine.unit_text import MISSING, bytes_text, count_text, ratio_text, time_text

# colours of contenders (strategies); yellow is left out, because it is hardly visible on white
LINE_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


@dataclass(frozen=True)
class Component:
    """One component of a worker's time; the results table has the component in ``column``, in picoseconds."""

    column: str
    colour: str
    glyph: str  # the character of the component in bars of text

    @property
    def label(self) -> str:
        """Return the name in legends and sentences."""
        return DESCRIBED[self.column].label


COMPONENTS = (  # two greys for waiting without work, black for aborted attempts
    Component("work_local_ps", "#009E73", "█"),
    Component("inflation_numa_ps", "#D55E00", "▓"),
    Component("inflation_contention_ps", "#E69F00", "▒"),
    Component("inflation_smt_ps", "#F0E442", "░"),
    Component("overhead_ps", "#CC79A7", "+"),
    Component("line_owner_ps", "#882255", "o"),
    Component("line_thief_ps", "#332288", "t"),
    Component("idle_steal_ps", "#0072B2", "/"),
    Component("idle_backoff_ps", "#56B4E9", "~"),
    Component("idle_barrier_ps", "#8C8C8C", "="),
    Component("parked_ps", "#D9D9D9", "."),
    Component("asleep_ps", "#F2F2F2", "z"),
    Component("wasted_ps", "#000000", "x"),
)


def value_text(name: str, value: Any) -> str:
    """Return ``value`` of the column ``name`` in the unit of the column; `MISSING` for None.

    A value of an unknown column, such as an axis, is written unchanged.
    """
    if value is None or isinstance(value, str) or name not in DESCRIBED:
        return MISSING if value is None else str(value)
    column = DESCRIBED[name]
    if column.unit == "ps":
        return time_text(value)
    if column.unit == "B":
        return bytes_text(value)
    return ratio_text(value) if column.kind == "ratio" else count_text(value)
