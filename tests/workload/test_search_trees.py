"""N-Queens finds all solutions by a task for every tried column. A UTS tree with too many nodes is refused.

`tests/runtime/test_kernels_against_generators.py` compares both families with C programs, task by task.
"""

from __future__ import annotations

import pytest
from workload_setup import make

from numasim.errors import InputError
from numasim.workload.families import uts as uts_module

SOLUTIONS = {1: 1, 2: 0, 3: 0, 4: 2, 5: 10, 6: 4, 7: 40, 8: 92, 9: 352}  # OEIS A000170


def standing(n: int) -> list[int]:
    """Return in how many ways 0, 1, .. n queens stand."""
    counts = [0] * (n + 1)

    def place(queens: tuple[int, ...]) -> None:
        row = len(queens)
        counts[row] += 1
        if row < n:
            for column in range(n):
                if all(column != c and abs(column - c) != row - r for r, c in enumerate(queens)):
                    place((*queens, column))

    place(())
    return counts


@pytest.mark.parametrize("n", [1, 2, 4, 6, 8])
def test_nqueens_has_a_task_for_every_tried_column(n: int) -> None:
    work = make("nqueens", n=n)
    counts = standing(n)
    assert work.facts["solutions"] == counts[n] == SOLUTIONS[n]
    assert work.tasks == 1 + n * sum(counts[:n])


def test_a_tree_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uts_module, "MAX_TASKS", 1000)
    with pytest.raises(InputError, match="more than 1000 nodes"):
        make("uts", root_children=2000)
