"""`numasim machine`: list, show, import and check machines."""

from pathlib import Path
from typing import Annotated

import typer

from numasim.cli.shared import print_columns, say

app = typer.Typer(help="Machines: list, show, import, check.", no_args_is_help=True)


@app.command("list")
def machine_list() -> None:
    """Print the shipped machines."""
    from numasim.machine.build_machine import build
    from numasim.machine.description import shape
    from numasim.parts import catalog
    from numasim.spec.single_part import read_machine

    print_columns((name, shape(build(read_machine(name)))) for name in catalog.names("machines"))


@app.command("show")
def machine_show(
    name: str,
    picture: Annotated[Path | None, typer.Option("--picture", help="also draw the topology to this PNG or SVG")] = None,
) -> None:
    """Describe a machine; with --picture, draw its topology."""
    from numasim.machine.build_machine import build
    from numasim.machine.description import describe
    from numasim.spec.single_part import read_machine

    machine = build(read_machine(name))
    if picture is not None:
        from numasim.report.figures.plots import kind_of

        kind_of(picture)  # report a wrong file name before anything is printed
    say(describe(machine))
    if picture is not None:
        from numasim.machine.drawing import draw
        from numasim.report.figures.plots import save

        say(save(draw(machine), picture))


@app.command("import")
def machine_import(
    output: Annotated[Path, typer.Option("-o", "--output", help="the machine file to write")],
    file: Annotated[Path | None, typer.Argument(help="XML of hwloc 1, 2 or 3; default the running system")] = None,
    sysfs: Annotated[Path | None, typer.Option("--sysfs", help="a copy of another system's /sys")] = None,
    name: Annotated[str | None, typer.Option("--name", help="the machine's name")] = None,
) -> None:
    """Write the machine file of a system; values that the system does not report are assumed and marked."""
    from numasim.files.writer import write_text
    from numasim.machine.importing import import_machine

    draft = import_machine(file, sysfs, name)
    draft.check()
    say(write_text(output, draft.text()))


@app.command("check")
def machine_check(name: str) -> None:
    """Validate a machine file and print warnings about implausible values."""
    from numasim.machine.build_machine import build
    from numasim.machine.plausibility import check
    from numasim.spec.single_part import read_machine

    warnings = check(build(read_machine(name)))
    for warning in warnings:
        say(f"warning: {warning}")
    say(f"{name}: valid, {len(warnings)} warning{'s' if len(warnings) != 1 else ''}")
