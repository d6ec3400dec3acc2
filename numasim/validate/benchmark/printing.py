"""The findings on the terminal, or as one JSON object."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from numasim.engine.unit_text import MISSING
from numasim.report.answers.summary import WIDTH
from numasim.validate.benchmark.benchmark_findings import Findings, Target, targets
from numasim.validate.benchmark.scale import Cell, faster_than_logarithm

DIGITS = 3
HEADINGS = {"independent": "independent tasks", "fib": "calls of fib"}

Row = Iterable[str]


def print_findings(found: Findings, as_json: bool) -> None:
    """Print tables for people, or one JSON object with ``targets`` beside everything found."""
    if as_json:
        print(json.dumps({**asdict(found), "targets": [asdict(target) for target in targets(found)]}))
        return
    console = Console(width=WIDTH, highlight=False)
    for table in _tables(found):
        console.print(table)
    for reason in found.not_compared:
        console.print(f"not compared: {reason}")
    console.print(
        f"medians of {found.samples} samples, taken in turn; bare SimPy {number(found.bare_timeouts_per_second / 1e6)} "
        f"million timeouts/s; peak memory of all this {number(found.peak_memory_mb)} MB"
    )


def print_scale(cells: Sequence[Cell], as_json: bool) -> None:
    """Print a table for what grows, and each step that grows faster than the logarithm; or one JSON object of both."""
    growth = faster_than_logarithm(cells)
    if as_json:
        print(json.dumps({"cells": [asdict(cell) for cell in cells], "faster_than_logarithm": growth}))
        return
    console = Console(width=WIDTH, highlight=False)
    headings = ("tasks", "workers", "nodes", "seconds", "ns/event", "ns/task", "bytes/task")
    for grows in dict.fromkeys(cell.grows for cell in cells):
        rows = [
            [
                *(f"{size:,}" for size in (cell.tasks, cell.workers, cell.nodes)),
                *(number(max(0.0, cost)) for cost in (cell.seconds, cell.ns_per_event, cell.ns_per_task)),
                number(max(0.0, cell.bytes_per_task)),
            ]
            for cell in cells
            if cell.grows == grows
        ]
        console.print(table_of(f"independent tasks, event by event: {grows} grow", headings, rows))
    for sentence in growth:
        console.print(f"faster than the logarithm: {sentence}")
    if not growth:
        console.print("nothing grows faster than the logarithm of tasks, workers or nodes")


def number(value: float | None) -> str:
    """Write a value that is not negative with three significant digits, or in whole numbers."""
    if value is None:
        return MISSING
    if not value:
        return "0"
    decimals = max(0, DIGITS - 1 - math.floor(math.log10(value)))
    return f"{value:,.{decimals}f}"


def table_of(title: str, headings: Sequence[str], rows: Iterable[Row]) -> Table:
    """A table with a title; the first column is text, the others are numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for at, heading in enumerate(headings):
        table.add_column(heading, justify="right" if at else "left")
    for row in rows:
        table.add_row(*row)
    return table


def _tables(found: Findings) -> Iterator[Table]:
    for workload, heading in HEADINGS.items():
        rates = {(r.engine, r.mode, r.workers): r.per_second for r in found.rates if r.workload == workload}
        if rates:
            columns = {f"{workers} workers": (workers,) for workers in sorted({key[2] for key in rates})}
            yield _millions(f"{heading}, million per second", ("engine", "mode"), columns, rates)
    if effects := found.effect_rates:
        cells = {(e.cache, e.contention, e.machine, e.workers, e.load): e.per_second for e in effects}
        wheres = {f"{e.load}, {e.workers} workers": (e.machine, e.workers, e.load) for e in effects}
        yield _millions("cost of the effects, million tasks per second", ("cache", "contention"), wheres, cells)
    yield _family_table(found)
    if found.commands:
        commands = ((each.name, number(each.seconds), number(each.peak_mb)) for each in found.commands)
        yield table_of("whole commands, numasim run", ("", "seconds", "peak MB"), commands)
    judged = targets(found)
    if found.ratios:
        yield _ratio_table(found, {target.name: target for target in judged})
    rows = []
    for each in judged:
        value, bound = (f"{number(given)} {each.unit}" for given in (each.value, each.bound))
        rows.append((each.name, value, f"{each.kind} {bound}", _verdict(each)))
    yield table_of("targets", ("", "measured", "target", ""), rows)


def _millions(
    title: str, names: tuple[str, str], columns: Mapping[str, tuple[Any, ...]], rates: Mapping[Any, float]
) -> Table:
    """A row for each two values that keys of ``rates`` begin with, a column for each end of keys."""
    found = {key: rate / 1e6 for key, rate in rates.items()}
    rows = ([*map(str, first), *(number(found.get((*first, *end))) for end in columns.values())]
            for first in dict.fromkeys(key[:2] for key in rates))  # fmt: skip
    return table_of(title, (*names, *columns), rows)


def _family_table(found: Findings) -> Table:
    engines = list(dict.fromkeys(each.engine for each in found.family_times))
    seconds = {(each.family, each.engine): each.seconds for each in found.family_times}
    runtimes = {each.family: each.runtime for each in found.family_times}
    ratios = {each.family: each.ratio for each in found.family_ratios}
    rows = (
        [
            *(each.family, runtimes[each.family], f"{each.tasks:,}"),
            *(number(1000 * seconds[each.family, engine]) for engine in engines),
            *(number(ratios.get(each.family)), number(each.graph_bytes_per_task)),
            number(each.state_bytes_per_live_task),
        ]
        for each in found.family_memory
    )
    headings = ("family", "runtime", "tasks", *(f"{engine}, ms" for engine in engines), "ratio")
    return table_of("workload families", (*headings, "graph B/task", "state B/live task"), rows)


def _ratio_table(found: Findings, judged: dict[str, Target]) -> Table:
    """Both values of a pair with their unit, and the median of the pairs' ratios with its goal."""
    rows = []
    for each in found.ratios:
        goal, verdict = MISSING, ""
        if each.bound is not None:
            goal, verdict = f"{each.kind} {number(each.bound)}", _verdict(judged[each.name])
        cells = (_scaled(each.ours, each.unit), _scaled(each.other, each.unit), number(each.ratio))
        rows.append((each.name, *cells, goal, verdict))
    return table_of("ratios of pairs, taken in turn", ("", "one", "other", "ratio", "goal", ""), rows)


def _verdict(target: Target) -> str:
    return "met" if target.met else "not met"


def _scaled(value: float, unit: str) -> str:
    return f"{number(value / 1e6)} M {unit}" if value >= 1e6 else f"{number(value)} {unit}"
