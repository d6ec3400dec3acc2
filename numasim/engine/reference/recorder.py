"""What is recorded of a run as it goes on: records of its two hashes (model 1.3), rows for a watch, the ledger."""

from __future__ import annotations

from numasim.engine.observe.trace_hash import Trace, pack
from numasim.engine.reference.clock import Clock
from numasim.engine.reference.ledger import Ledger


class Recorder:
    """Records carry the time of the clock. ``watch`` is None where nobody watches; ``log`` is that of the ledger.

    ``details`` takes packed records of the event hash alone; `detail` packs them, which the ends of segments, being the
    most frequent events, do themselves.
    """

    def __init__(self, clock: Clock, trace: Trace, ledger: Ledger) -> None:
        self.trace = trace
        self.ledger = ledger
        self.watch = trace.watch
        self.log = ledger.log
        self._clock = clock
        self._steps = trace.steps.rows
        self.details = trace.details.rows

    def step(self, rank: int, actor: int, first: int, second: int) -> None:
        """Add a record to both hashes."""
        self._steps.append(pack(self._clock.now, rank, actor, first, second))

    def detail(self, rank: int, actor: int, first: int, second: int) -> None:
        """Add a record to the event hash alone."""
        self.details.append(pack(self._clock.now, rank, actor, first, second))
