"""Runs that cannot end: tasks are left that no worker will ever run."""

from __future__ import annotations

from numasim.errors import InputError
from numasim.plan.plan import Plan


class DeadlockError(InputError):
    """Tasks are left that no worker can ever run: the join does not fit the strategy."""

    def __init__(self, plan: Plan, tasks: int, time_ps: int) -> None:
        """``tasks`` are left at ``time_ps``."""
        super().__init__(
            f"{tasks} tasks are left at {time_ps} ps and no worker can run them "
            f"(join {plan.join!r}, {plan.workers.workers} workers, strategy {plan.steal.name!r})",
            expected="a join that lets waiting workers run other tasks, such as continuation"
            + (", a worker for each party of a barrier, and no lock held over a join" if plan.words.declared else ""),
        )
