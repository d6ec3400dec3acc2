"""The command `validate`: choose the parts, run them, print, write the page, and report unmet bounds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from numasim.errors import CheckError
from numasim.validate import verdict_text as texts
from numasim.validate.cell_runs import PartFindings, validate_parts
from numasim.validate.comparison_tables import validation_json, write_pages
from numasim.validate.part_files import Part, part_of
from numasim.validate.validated_quantities import QUANTITIES

ANYWHERE = ("exact", "virtual")  # parts that need no calibrated machine
CALIBRATED = ("native",)  # parts that need a machine from the command line
WIDTH = 120


def chosen_parts(
    names: Sequence[str], kernels: Sequence[str], machine: str | None, runtime: str | None, quick: bool
) -> list[Part]:
    """Return the parts with the given names. Without names, return the parts that need no calibrated machine; or, if a
    machine is given, the parts that need a machine.
    """
    wanted = names or (CALIBRATED if machine else ANYWHERE)
    return [
        part_of(name, kernels=kernels, machine=machine, runtime=runtime, quick=quick) for name in dict.fromkeys(wanted)
    ]


def validate_and_report(parts: Sequence[Part], directory: Path, jobs: int, as_json: bool) -> None:
    """Run ``parts``, print tables or JSON, write the page. Raise CheckError for an unmet bound or unequal counters."""
    every = validate_parts(parts, directory, jobs=jobs, progress=True)
    page = write_pages(every, directory)
    if as_json:
        print(json.dumps(validation_json(every), allow_nan=False))
    else:
        console = Console()
        console.width = console.width if console.is_terminal else max(console.width, WIDTH)
        for found in every:
            _print(found, console)
        console.print(f"report: {page}", highlight=False, soft_wrap=True)
    broken = [sentence for found in every for sentence in texts.broken_text(found)]
    if broken:
        raise CheckError("; ".join(broken))


def _print(found: PartFindings, console: Console) -> None:
    part = found.part
    about = f"{part.file.mode}, {part.file.costs} costs, {part.machine}, {len(part.cells)} cells x {part.repeats}"
    console.print(Text.assemble((part.file.title, "bold"), f"  ({about})"), soft_wrap=True)
    if part.left_out:
        console.print(f"  {texts.left_out_text(part)}", highlight=False, soft_wrap=True)
    if part.file.exact:
        values = sum(each.values for each in found.equalities)
        console.print(f"  {values:,} values compared, cells that differ: {len(found.unequal)}", highlight=False)
    if found.verdicts:
        console.print(_grid(found))
    if found.rejected_runs:
        console.print(f"  {texts.rejected_text(found)}", highlight=False, soft_wrap=True)
    for verdict in found.verdicts:
        for each in verdict.outside:
            text = f"  outside, {QUANTITIES[verdict.quantity].label}: {texts.outside_text(each)}"
            console.print(Text(text, style="dim"), soft_wrap=True)


def _grid(found: PartFindings) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("quantity", "asked for", "cells within", "met"):
        grid.add_column(heading, no_wrap=True)
    for verdict in found.verdicts:
        met = Text("yes" if verdict.met else "no", style="green" if verdict.met else "red")
        quantity = QUANTITIES[verdict.quantity].label
        grid.add_row(quantity, texts.bound_text(verdict.quantity, verdict.bound), texts.share_text(verdict), met)
    return grid
