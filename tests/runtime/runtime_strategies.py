"""The shipped strategies that the runtime executes: it asks no controller between iterations."""

from __future__ import annotations

from numasim.parts import catalog

TUNED = ("cats", "laws")
STRATEGIES = tuple(name for name in catalog.names("strategies") if name not in TUNED)
