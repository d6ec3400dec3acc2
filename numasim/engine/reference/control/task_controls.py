"""The tiers and labels of tasks that are in force: what a strategy has decided for all of them (model 4.14)."""

from __future__ import annotations

from numasim.engine.reference.tables import Tables
from numasim.engine.reference.task_programs import Program
from numasim.engine.reference.task_queues import TaskQueues
from numasim.schema.enumerations import Tier
from numasim.strategy.control.controller import I32, U8
from numasim.strategy.control.task_control import TaskControl
from numasim.strategy.picking import UNKNOWN

LOCAL = int(Tier.LOCAL)


class TaskControls:
    """The run's own copy of the tiers, labels and switches; nothing changes it while a phase runs."""

    def __init__(self, control: TaskControl, tables: Tables, program: Program, queues: TaskQueues) -> None:
        """Take ``control`` over; ``queues`` shows the switches to those who decide."""
        self._tables = tables
        self._program = program
        self._queues = queues
        self._item_units = control.item_units
        self._item_labels: list[int] = control.item_labels.tolist()
        self.tiers: list[int] = control.tiers.tolist() or [LOCAL] * program.rows
        self._labels: list[int] = control.labels.tolist() or [UNKNOWN] * program.rows
        queues.switches = control.switches

    def follow(self, tiers: U8 | None, labels: I32 | None, switches: int | None) -> None:
        """Put what is given into force, between two iterations; None leaves as it is."""
        if tiers is not None:
            self.tiers = tiers.tolist()
        if labels is not None:
            self._labels = labels.tolist()
        if switches is not None:
            self._queues.switches = switches

    def asked_tier(self, task: int) -> int:
        """The tier that dispatch rules ask for as they place a task: its own, or where it goes on behind the spawn of a
        child that is begun first, that of the child.
        """
        program = self._program
        if task >= program.rows:
            return LOCAL
        at = program.at[task]
        return self.tiers[task if at == program.start[task] else program.operand[at - 1]]

    def label(self, task: int) -> int:
        """The unit that a task is meant for, or UNKNOWN."""
        if task < self._program.rows:
            return self._labels[task]
        if self._item_labels:
            return self._item_labels[task - self._program.rows]
        if not self._item_units:
            return UNKNOWN
        item, count = self._tables.item_and_count(task)
        return item * self._item_units // count
