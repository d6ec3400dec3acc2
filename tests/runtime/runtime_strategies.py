"""The shipped strategies, all of which the runtime executes, and those that have a controller."""

from __future__ import annotations

from numasim.parts import catalog

TUNED = ("cats", "laws")
STRATEGIES = catalog.names("strategies")
