"""What of a recorded piece of work is the recorder's and the runtime's, by the events at its two ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from numasim.runtime.record.event_kinds import Event

Ends = tuple[int, int]  # the kinds of the events that began and ended a piece


@dataclass(frozen=True)
class PieceCosts:
    """``of_ps`` has the time, in ps, of a piece in which the program does nothing, by the events at its ends.

    ``allocate_ps`` is that of noting an allocation or a release. Ends that were not measured are taken as the nearest
    that were: as those with the same begin, else as no time.
    """

    of_ps: Mapping[Ends, int] = field(default_factory=dict)
    allocate_ps: int = 0

    def table(self) -> dict[Ends, int]:
        """The time for every pair of events."""
        kinds = [int(kind) for kind in Event]
        return {(begin, end): self._of(begin, end) for begin in kinds for end in kinds}

    def _of(self, begin: int, end: int) -> int:
        known = self.of_ps.get((begin, end))
        if known is not None:
            return known
        alike = [cost for (first, _), cost in self.of_ps.items() if first == _LIKE.get(begin, begin)]
        return min(alike, default=0)


_LIKE: dict[int, int] = {Event.SWITCH: Event.RETURN, Event.WORK: Event.SYNC, Event.DEPENDENCES: Event.CREATE}
