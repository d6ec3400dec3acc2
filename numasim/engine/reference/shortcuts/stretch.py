"""Items of a range that a worker executes one after the other from its own queue, as one event (model 1.8).

Nothing that happens elsewhere changes how long they take. Thieves shorten the stretch at its far end; whoever looks at
the queue sees what is left of it at that instant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]

MOST_ITEMS = 1 << 14  # bounds the memory of a stretch


@dataclass
class Stretch:
    """The item in hand and those after it: item i ends at ``end[i]``, and item i + 1 then leaves the queue.

    ``planned`` is the index of the last item that is still the worker's, ``taken`` how many have left the queue.
    """

    family: int
    items: I64
    total_ps: I64
    local_ps: I64
    end: I64
    planned: int
    taken: int = 0

    def taken_at(self, now: int) -> int:
        """How many items have left the queue by ``now``; an end at that very instant counts."""
        return min(self.planned, int(np.searchsorted(self.end, now, side="right")))


def next_items(task: int, entry: range, back: bool) -> I64:
    """``task`` and the items behind it in the order in which the owner takes them from ``entry``."""
    ordered = entry[::-1] if back else entry
    return np.concatenate(([task], np.array(ordered[: MOST_ITEMS - 1], np.int64)))
