"""`numasim machine`: list, show, import and check machines."""

from pathlib import Path
from typing import Annotated

import typer

from numasim.cli.examples import Commands, examples
from numasim.cli.listing import print_shipped
from numasim.cli.shared import YAML, AsYaml, Json, files, print_file, say, shipped

app = Commands("Machines: list, show, import, check.", ["numasim machine list", "numasim machine show tilepro64"])
Name = Annotated[
    str, typer.Argument(help="a shipped machine or a YAML file", autocompletion=shipped("machines", *YAML))
]


@app.command("list")
@examples("numasim machine list", "numasim machine list --json")
def machine_list(as_json: Json = False) -> None:
    """Print the shipped machines, a line each."""
    print_shipped(["machines"], as_json)


@app.command("show")
@examples(
    "numasim machine show xeon-e5-2620-2s",
    "numasim machine show tilepro64 --picture tilepro64.svg",
    "numasim machine show xeon-e5-2620-2s --yaml",
)
def machine_show(
    name: Name,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="also draw the topology to this PNG, SVG or PDF")
    ] = None,
    as_yaml: AsYaml = False,
) -> None:
    """Describe a machine; with --picture, draw its topology."""
    if as_yaml:
        print_file("machines", name)
        return
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
@examples("numasim machine import -o here.yaml", "numasim machine import --sysfs /sys --name here -o here.yaml")
def machine_import(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="the machine file to write", autocompletion=files(*YAML))
    ],
    file: Annotated[
        Path | None,
        typer.Argument(help="XML of hwloc 1, 2 or 3; default the running system", autocompletion=files(".xml")),
    ] = None,
    sysfs: Annotated[Path | None, typer.Option("--sysfs", help="a copy of another system's /sys")] = None,
    name: Annotated[str | None, typer.Option("--name", help="the machine's name")] = None,
) -> None:
    """Write the machine file of a system.

    The command says which values are read, derived and assumed, and what is left out.
    """
    from numasim.files.writer import write_text
    from numasim.machine.build_machine import build
    from numasim.machine.importing import import_machine, provenance
    from numasim.machine.plausibility import check

    draft = import_machine(file, sysfs, name)
    machine = build(draft.check())
    say(write_text(output, draft.text()))
    for line in provenance(draft.sources):
        say(line)
    for remark in draft.remarks[1:]:
        say(f"note: {remark}")
    for warning in check(machine):
        say(f"warning: {warning}")


@app.command("check")
@examples("numasim machine check opteron-875-8s")
def machine_check(name: Name) -> None:
    """Check a machine file, and warn about implausible values.

    The command says which values are read, derived and assumed.
    """
    from numasim.machine.build_machine import build
    from numasim.machine.importing import provenance
    from numasim.machine.plausibility import check
    from numasim.parts.models.sources import marked, unsourced
    from numasim.spec.single_part import read_machine

    spec = read_machine(name)
    warnings = check(build(spec))
    assumed = len(marked(spec.sources, "assumed"))
    if assumed:
        many = "values are" if assumed > 1 else "value is"
        warnings.append(f"{assumed} {many} assumed, which nobody measured: every answer names those that it depends on")
    for line in provenance(spec.sources):
        say(line)
    if silent := unsourced(spec):
        say(f"without a source: {', '.join(silent)}")
    for warning in warnings:
        say(f"warning: {warning}")
    say(f"{name}: valid, {len(warnings)} warning{'s' if len(warnings) != 1 else ''}")
