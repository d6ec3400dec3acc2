"""The findings on the terminal, or as one JSON object."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rich import box
from rich.console import Console
from rich.table import Table

from numasim.benchmark.benchmark_findings import EffectRate, Findings, Rate, Target
from numasim.benchmark.targets import targets
from numasim.engine.unit_text import MISSING
from numasim.report.answers.summary import WIDTH

DIGITS = 3
HEADINGS = {"independent": "independent tasks", "fib": "calls of fib"}


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


def number(value: float) -> str:
    """Write a value that is not negative with three significant digits, or in whole numbers."""
    if not value:
        return "0"
    decimals = max(0, DIGITS - 1 - math.floor(math.log10(value)))
    return f"{value:,.{decimals}f}"


def _tables(found: Findings) -> Iterator[Table]:
    for workload, heading in HEADINGS.items():
        rates = [rate for rate in found.rates if rate.workload == workload]
        if rates:
            yield _rate_table(heading, rates)
    if found.effect_rates:
        yield _effect_table(found.effect_rates)
    yield _family_table(found)
    if found.commands:
        yield _command_table(found)
    if found.ratios:
        yield _ratio_table(found)
    yield _target_table(targets(found))


def new_table(title: str, *headings: str) -> Table:
    """An empty table with a title; the first column is text, the others are numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.show_header = any(headings)
    for at, heading in enumerate(headings):
        table.add_column(heading, justify="right" if at else "left")
    return table


def _rate_table(heading: str, rates: list[Rate]) -> Table:
    counts = sorted({rate.workers for rate in rates})
    table = new_table(f"{heading}, million per second", "engine", "mode", *(f"{count} workers" for count in counts))
    found = {(rate.engine, rate.mode, rate.workers): rate.per_second for rate in rates}
    for engine, mode in dict.fromkeys((rate.engine, rate.mode) for rate in rates):
        cells = (found.get((engine, mode, count)) for count in counts)
        table.add_row(engine, mode, *(MISSING if cell is None else number(cell / 1e6) for cell in cells))
    return table


def _effect_table(given: Sequence[EffectRate]) -> Table:
    """A row for each pair of models, a column for each machine and load."""
    columns = list(dict.fromkeys((each.machine, each.workers, each.load) for each in given))
    headings = [f"{load}, {workers} workers" for _, workers, load in columns]
    table = new_table("cost of the effects, million tasks per second", "cache", "contention", *headings)
    found = {(each.cache, each.contention, each.machine, each.workers, each.load): each.per_second for each in given}
    for cache, contention in dict.fromkeys((each.cache, each.contention) for each in given):
        cells = [found.get((cache, contention, *column)) for column in columns]
        table.add_row(cache, contention, *(MISSING if cell is None else number(cell / 1e6) for cell in cells))
    return table


def _family_table(found: Findings) -> Table:
    engines = list(dict.fromkeys(each.engine for each in found.family_times))
    table = new_table(
        "workload families",
        *("family", "runtime", "tasks", *(f"{engine}, ms" for engine in engines), "ratio"),
        *("graph B/task", "state B/live task"),
    )
    seconds = {(each.family, each.engine): each.seconds for each in found.family_times}
    runtimes = {each.family: each.runtime for each in found.family_times}
    ratios = {each.family: each.ratio for each in found.family_ratios}
    for each in found.family_memory:
        times = [number(1000 * seconds[each.family, engine]) for engine in engines]
        ratio = number(ratios[each.family]) if each.family in ratios else MISSING
        state = MISSING if each.state_bytes_per_live_task is None else number(each.state_bytes_per_live_task)
        graph = MISSING if each.graph_bytes_per_task is None else number(each.graph_bytes_per_task)
        table.add_row(each.family, runtimes[each.family], f"{each.tasks:,}", *times, ratio, graph, state)
    return table


def _command_table(found: Findings) -> Table:
    table = new_table("whole commands, numasim run", "", "seconds", "peak MB")
    for command in found.commands:
        table.add_row(command.name, number(command.seconds), number(command.peak_mb))
    return table


def _ratio_table(found: Findings) -> Table:
    """Both values of a pair with their unit, and the median of the pairs' ratios with its goal."""
    table = new_table("ratios of pairs, taken in turn", "", "one", "other", "ratio", "goal", "")
    judged = {target.name: target for target in targets(found)}
    for each in found.ratios:
        goal, verdict = MISSING, ""
        if each.bound is not None:
            goal = f"{each.kind} {number(each.bound)}"
            verdict = "met" if judged[each.name].met else "not met"
        cells = (_scaled(each.ours, each.unit), _scaled(each.other, each.unit), number(each.ratio))
        table.add_row(each.name, *cells, goal, verdict)
    return table


def _scaled(value: float, unit: str) -> str:
    return f"{number(value / 1e6)} M {unit}" if value >= 1e6 else f"{number(value)} {unit}"


def _target_table(rows: list[Target]) -> Table:
    table = new_table("targets", "", "measured", "target", "")
    for row in rows:
        bound = f"{row.kind} {_with_unit(row.bound, row.unit)}"
        table.add_row(row.name, _with_unit(row.value, row.unit), bound, "met" if row.met else "not met")
    return table


def _with_unit(value: float, unit: str) -> str:
    return f"{number(value)} {unit}".rstrip()
