"""Runs whose times do not fit into the integers that they are counted in: refused by all engines alike."""

from __future__ import annotations

from numasim.errors import InputError

LATEST_PS = 2**62  # events are not later
MOST_PS = 2**63 - 1  # of a sum over all workers
TOO_LATE = "the simulated time exceeds 2**62 ps, fifty-three days"


class TooLongError(InputError):
    """The simulated time, or a sum of times, is more than 63 bits hold."""

    def __init__(self, problem: str = TOO_LATE) -> None:
        """``problem`` says which."""
        super().__init__(problem, path=("workload",), expected="shorter tasks, or fewer of them")


def require_sums(makespan_ps: int, workers: int) -> None:
    """Raise `TooLongError` where the times of all workers together do not fit."""
    if makespan_ps * workers > MOST_PS:
        raise TooLongError(f"the times of {workers} workers add up to more than 2**63 ps, a hundred and six days")
