"""The objects of every task of a run, with their homes as they are now (thesis sections 5.3 to 5.5; model 4.5)."""

from __future__ import annotations

from numasim.engine.reference.memory.page_map import PageMap
from numasim.plan.plan import Plan
from numasim.plan.task_objects import OPEN, home_of, item_objects, task_objects
from numasim.strategy.placement.compile_placement import Placement
from numasim.strategy.similarity import Objects


class ObjectMap:
    """The objects of every task of a run, with their homes as they are now."""

    def __init__(self, plan: Plan, placement: Placement, pages: PageMap) -> None:
        table = task_objects(plan.workload, placement)
        self._pages = pages
        self._ptr = table.ptr.tolist()
        self._entries = list(
            zip(table.home.tolist(), table.mode.tolist(), table.count.tolist(), table.bytes.tolist(), strict=True)
        )
        self._access = table.access.tolist()
        self._families = [item_objects(plan, placement, family) for family in plan.workload.ranges]

    def of_task(self, task: int) -> list[Objects]:
        """The objects of a graph task."""
        return [self._entry(at) for at in range(self._ptr[task], self._ptr[task + 1])]

    def of_item(self, family: int, item: int) -> list[Objects]:
        """The objects of a range item."""
        return [each.of(item) for each in self._families[family]]

    def _entry(self, at: int) -> Objects:
        home, mode, count, size = self._entries[at]
        if home == OPEN:
            home = home_of(self._pages.bytes_at(self._access[at])[None, :])[0]
        return Objects(int(home), mode, count, size)
