"""The wait of a worker after fruitless rounds (Vikranth's thesis, 3.3.1; A-30), and when picks of victims repeat.

A round is the probes (looks at queues) of a searching worker from one wait to the next. A lap is `LAP_ROUNDS` fruitless
rounds of a worker in a row. In each lap the worker picks the same victims, so that a shortcut can count whole laps.
"""

from __future__ import annotations

from dataclasses import dataclass

from numasim.engine.reference.actors import Worker
from numasim.engine.reference.tables import Tables
from numasim.plan.plan import Run
from numasim.strategy.picking import Stream

LONGEST_WAIT_PS = 2**52  # 75 minutes: a back-off without ``max`` stops growing there, so that times fit 63 bits
LAP_ROUNDS = 65_536
LAP_QUEUES = 2_048  # with more queues, picks do not repeat: a lap might never pick one of the queues


def rounds_to_lap(fails: int) -> int:
    """Return the number of rounds until the next lap begins, after ``fails`` (at least 1) fruitless rounds."""
    return LAP_ROUNDS - (fails - 1) % LAP_ROUNDS


@dataclass(frozen=True, slots=True)
class Waits:
    """The waits of a run in ps: after ``fails`` fruitless rounds in a row ``min(first * factor ** (fails - 1), max)``,
    or, if ``first`` is 0, ``poll``; after a round without a probe at least ``scan``.
    """

    first_ps: int
    factor: int
    max_ps: int | None
    poll_ps: int
    scan_ps: int
    laps: bool  # whether picks repeat; false if a lap might leave out a queue, or a level that is entered by chance

    def count_failure(self, w: Worker, victims: Stream) -> None:
        """Count one more fruitless round of the worker (or probe, if workers back off after each probe).

        A lap begins after the first fruitless round in a row, and after every LAP_ROUNDS further rounds; from there,
        the worker's random numbers ``victims`` start again at those of the first lap.
        """
        w.fails += 1
        if w.fails == 1:
            w.lap_begin = victims.drawn
        elif self.begins_lap(w.fails):
            victims.drawn = w.lap_begin

    def begins_lap(self, fails: int) -> bool:
        """Tell whether a lap begins after ``fails`` fruitless rounds in a row."""
        return fails % LAP_ROUNDS == 1 and self.laps

    def wait_ps(self, fails: int, probed: bool) -> int:
        """Return the wait after ``fails`` fruitless rounds in a row, at least ``scan_ps`` if nothing was ``probed``."""
        wait = self.first_ps * self.factor ** min(fails - 1, 62) or self.poll_ps
        wait = min(wait, self.max_ps if self.max_ps is not None else LONGEST_WAIT_PS)
        return wait if probed else max(wait, self.scan_ps)


def waits_of(run: Run, tables: Tables) -> Waits:
    """Return the waits of a run."""
    steal = run.plan.steal
    rule, laps = steal.backoff, not len(steal.chance) and len(steal.queues) <= LAP_QUEUES
    return Waits(run.first_wait_ps, rule.factor, rule.max_ps, run.plan.poll_ps, tables.scan_ps, laps)
