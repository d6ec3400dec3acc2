"""What work takes, by where its data is and what others do: the memory of a run (model 2).

Where nothing but steals couples the workers, times are known when work starts (`known_times`); else they are computed
while it runs, by a flow-level model (`flows`). Both start segments and items, let them end with an event of rank
SEG_END, and count their time and traffic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from numasim.engine.reference.actors import Worker
from numasim.engine.reference.memory.flows import Flows
from numasim.engine.reference.memory.helper_threads import HelperThreads
from numasim.engine.reference.memory.known_times import KnownTimes
from numasim.engine.reference.memory.page_map import PageMap
from numasim.engine.reference.run_state import RunState
from numasim.plan.price import Traffic
from numasim.plan.segment_times import RangeTimes

I64 = npt.NDArray[np.int64]


class WorkTimes(Protocol):
    """How long segments and items take; ``unsettled`` while that waits for the end of this instant."""

    unsettled: bool

    def start_turn(self, turn: int) -> None:
        """Begin a turn of a phase, from zero: a run of it."""

    def start_segment(self, w: Worker, task: int, segment: int) -> None:
        """Start a segment of a graph task, with the overhead that is owed in front of it."""

    def start_item(self, w: Worker, task: int) -> None:
        """Start a range item, with the overhead that is owed in front of it."""

    def end(self, w: Worker) -> None:
        """The worker's segment or item ends now."""

    def activity_changed(self) -> None:
        """Some worker has begun or ceased to execute, to poll or to rest."""

    def item_ps(self, w: Worker, family: int) -> int:
        """What an item of a uniform family takes the worker while nothing changes."""

    def pass_items(self, w: Worker, family: int, count: int, due_ps: int) -> None:
        """Count ``count`` items of a uniform family more; the one in hand then ends at ``due_ps``."""

    def fold(self) -> None:
        """Turn what ran since the last call into bytes."""

    def node_bytes(self) -> I64:
        """[accessing node, home node] bytes that have moved, up to the last `fold`."""


class MemorySystem:
    """``work`` starts and ends segments and items; ``pages`` are the homes of memory, ``traffic`` what has moved;
    ``helpers`` are None where no worker has one.
    """

    def __init__(self, run: RunState) -> None:
        plan = run.plan
        self.coupled = plan.coupled
        self.pages = PageMap(plan, run.placement, run.clock)
        self.ranges = [RangeTimes(plan, run.placement, family, run.seed) for family in plan.workload.ranges]
        self.traffic = Traffic(plan.machine.nodes)
        self.known = None if self.coupled else KnownTimes(run, self.pages, self.ranges)
        flows = None if self.known else Flows(run, self.pages, self.traffic)
        self.helpers: HelperThreads | None = flows.helpers if flows else None
        self.work: WorkTimes = self.known or flows  # type: ignore[assignment]

    def bytes_by_kind(self) -> Mapping[str, I64]:
        """Bytes by kind of traffic and node pair, as in `Result`; of coupled runs only."""
        return self.traffic.bytes if self.coupled else {}
