"""How long a worker waits after fruitless rounds (thesis section 3.3.1; A-30)."""

from __future__ import annotations

from dataclasses import dataclass

from numasim.engine.reference.tables import Tables
from numasim.plan.run import Run

LONGEST_WAIT_PS = 2**52  # a back-off without bound stops doubling at 75 minutes: hundreds of them fit 63 bits


@dataclass(frozen=True, slots=True)
class Waits:
    """The waits of a run in ps: ``min(first * factor ** (fails - 1), max)``, or ``poll`` where that is none.

    A round without a probe is followed by at least ``scan_ps``.
    """

    first_ps: int
    factor: int
    max_ps: int | None
    poll_ps: int
    scan_ps: int

    def wait_ps(self, fails: int, probed: bool) -> int:
        """The wait after the ``fails``-th fruitless round in a row; one without a probe takes a local probe's time."""
        wait = self.first_ps * self.factor ** min(fails - 1, 62) or self.poll_ps
        wait = min(wait, self.max_ps if self.max_ps is not None else LONGEST_WAIT_PS)
        return wait if probed else max(wait, self.scan_ps)

    def next_wait_ps(self, fails: int, probed: bool) -> tuple[int, bool]:
        """`wait_ps`, and whether it stays the same for all later rounds."""
        wait = self.wait_ps(fails, probed)
        return wait, wait == self.wait_ps(fails + 62, probed)


def waits_of(run: Run, tables: Tables) -> Waits:
    """The waits of a run."""
    rule = run.plan.steal.backoff
    return Waits(run.first_wait_ps, rule.factor, rule.max_ps, run.plan.poll_ps, tables.scan_ps)
