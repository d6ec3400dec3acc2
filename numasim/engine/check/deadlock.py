"""Runs that cannot end: tasks are left that no worker will ever run."""

from __future__ import annotations

from numasim.errors import InputError
from numasim.plan.plan import Plan


class DeadlockError(InputError):
    """Tasks are left that no worker can ever run: the join or the steal levels do not fit the strategy."""

    def __init__(self, plan: Plan, tasks: int, time_ps: int, passed: bool = False) -> None:
        """``tasks`` tasks are left at ``time_ps``; ``passed``: thieves steal them from each other without end."""
        left = f"{tasks} tasks are left at {time_ps} ps and"
        whose = f"(join {plan.join!r}, {plan.workers.workers} workers, strategy {plan.steal.name!r})"
        if passed:
            super().__init__(
                f"{left} thieves pass them to and fro without beginning one {whose}",
                expected="steal levels that leave as many tasks as refill asks for, such as leave: 1 with refill: 1",
            )
            return
        super().__init__(
            f"{left} no worker can run them {whose}",
            expected="a join that lets waiting workers run other tasks, such as continuation, and steal levels whose "
            "picks come to every queue"
            + (", a worker for each party of a barrier, and no lock held over a join" if plan.words.declared else ""),
        )


# ---- Runs whose times do not fit into the integers that they are counted in: refused by all engines alike ------------

LATEST_PS = 2**62  # no event may be later
MOST_PS = 2**63 - 1  # the largest sum of times over all workers
TOO_LATE = "the simulated time exceeds 2**62 ps, fifty-three days"


class TooLongError(InputError):
    """The simulated time, or a sum of times, does not fit in 63 bits."""

    def __init__(self, problem: str = TOO_LATE) -> None:
        """``problem`` is the message: which time or sum does not fit."""
        super().__init__(problem, path=("workload",), expected="shorter tasks, or fewer of them")


def require_sums(makespan_ps: int, workers: int) -> None:
    """Raise `TooLongError` if the times of all workers together do not fit."""
    if makespan_ps * workers > MOST_PS:
        raise TooLongError(f"the times of {workers} workers add up to more than 2**63 ps, a hundred and six days")
