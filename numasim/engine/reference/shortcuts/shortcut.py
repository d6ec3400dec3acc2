"""The shortcuts of the reference engine, by name: each counts in closed form what could be gone through event by event.

A plan that may not skip takes none. Whatever is left out by switching one off, all counters and the trace hash stay the
same; only the number of events, and with it the event hash and the mode of a run, tells which were taken.
"""

from __future__ import annotations

from enum import Enum


class Shortcut(Enum):
    """What an engine may leave out."""

    POLLING = "polling"  # rounds of probes that cannot succeed
    STRETCHES = "stretches"  # ends of items that a worker takes from its own range
    STEADY = "steady production"  # ends of like items that a producer refills


ALL_SHORTCUTS = frozenset(Shortcut)
