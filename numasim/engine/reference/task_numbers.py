"""Which task of how many a new task is, for the dispatch picks `cyclic` and `block` (model 4.13)."""

from __future__ import annotations

import numpy as np

from numasim.engine.reference.tables import Tables
from numasim.plan.plan import Plan
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import Kind, Phase


class TaskNumbers:
    """Numbers the tasks of the phase that runs: root by root, in program order below each.

    Calls and implicit bodies have no number of their own. The items of a range are numbered apart. Where no rule of the
    strategy asks for numbers, none are kept.
    """

    def __init__(self, plan: Plan, tables: Tables) -> None:
        self._tables = tables
        self._asked = plan.steal.numbers_tasks
        if self._asked:
            self._before = offsets(plan.workload.kind == Kind.TASK)  # [rows + 1] tasks in front of each row
            self._end = plan.workload.subtree_end()
        self._number = np.zeros(plan.workload.rows, np.int64)
        self._count = 1

    def start_phase(self, phase: Phase) -> None:
        """Number the tasks of ``phase``."""
        if not self._asked:
            return
        self._count = 0
        for root in phase.roots:
            tasks = self._before[root : self._end[root] + 1] - self._before[root]
            self._number[root : self._end[root]] = self._count + tasks[:-1]
            self._count += int(tasks[-1])

    def index_and_count(self, task: int) -> tuple[int, int]:
        """(number of ``task``, tasks of its phase); of an item: (its number, items of its range)."""
        if task < len(self._number):
            return int(self._number[task]), self._count
        return self._tables.item_and_count(task)
