"""What the tasks of a recording are called: by the place of the program that makes them."""

from __future__ import annotations

from numasim.record.event_walk import Walked
from numasim.record.recorded_rows import Rows
from numasim.schema.enumerations import Kind


def kernel_names(rows: Rows, walked: Walked) -> list[str]:
    """[rows] a name for each place where tasks are made, in the order in which the program comes by; "" elsewhere."""
    numbers: dict[int, int] = {}
    found = []
    for kind, number in zip(rows.kind, rows.task, strict=True):
        place = walked.tasks[number].place
        if kind == Kind.IMPLICIT or not place:
            found.append("")
        else:
            found.append(f"task {numbers.setdefault(place, len(numbers) + 1)}")
    return found
