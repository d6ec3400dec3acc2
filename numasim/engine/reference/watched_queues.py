"""Task queues that tell a watch of every change of their lengths."""

from __future__ import annotations

from collections.abc import Callable

from numasim.engine.observe.watch import Watch
from numasim.engine.reference.task_queues import TaskQueues
from numasim.strategy.steal_plan import StealPlan


class WatchedQueues(TaskQueues):
    """The queues of a watched run; ``now`` tells its time."""

    __slots__ = ("_now", "_watch")

    def __init__(self, plan: StealPlan, piece: int, watch: Watch, now: Callable[[], int]) -> None:
        super().__init__(plan, piece)
        self._watch = watch
        self._now = now

    def push(self, q: int, task: int) -> None:
        """Put a task at the back of queue ``q``."""
        super().push(q, task)
        self._tell(q)

    def push_range(self, q: int, items: range) -> None:
        """Put a range of tasks at the back of queue ``q``."""
        super().push_range(q, items)
        if items:
            self._tell(q)

    def pop(self, q: int, back: int) -> int:
        """Take the task at the back (1) or the front (0) of queue ``q``, which is not empty."""
        task = super().pop(q, back)
        self._tell(q)
        return task

    def _tell(self, q: int) -> None:
        self._watch.length(self._now(), q, self.length[q])
