"""The scale table on the terminal, or as one JSON object."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console

from numasim.benchmark.printing import new_table, number
from numasim.benchmark.scale.cells import Cell, faster_than_logarithm
from numasim.report.answers.summary import WIDTH


def print_scale(cells: Sequence[Cell], as_json: bool) -> None:
    """Print a table for what grows, and each step that grows faster than the logarithm; or one JSON object of both."""
    growth = faster_than_logarithm(cells)
    if as_json:
        print(json.dumps({"cells": [asdict(cell) for cell in cells], "faster_than_logarithm": growth}))
        return
    console = Console(width=WIDTH, highlight=False)
    for grows in dict.fromkeys(cell.grows for cell in cells):
        table = new_table(
            f"independent tasks, event by event: {grows} grow",
            *("tasks", "workers", "nodes", "seconds", "ns/event", "ns/task", "bytes/task"),
        )
        for cell in cells:
            if cell.grows == grows:
                sizes = (f"{size:,}" for size in (cell.tasks, cell.workers, cell.nodes))
                costs = (cell.seconds, cell.ns_per_event, cell.ns_per_task, cell.bytes_per_task)
                table.add_row(*sizes, *(number(max(0.0, cost)) for cost in costs))
        console.print(table)
    for sentence in growth:
        console.print(f"faster than the logarithm: {sentence}")
    if not growth:
        console.print("nothing grows faster than the logarithm of tasks, workers or nodes")
