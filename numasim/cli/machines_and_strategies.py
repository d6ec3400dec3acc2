"""`numasim machine`, `strategy` and `runtime`: list, show, import, check and compile machines and strategies."""

from pathlib import Path
from typing import Annotated

import typer

from numasim.cli.listing import add_list
from numasim.cli.shared import YAML, AsYaml, Commands, examples, files, print_file, say, shipped

machines = Commands("Machines: list, show, import, check.", ["numasim machine list", "numasim machine show tilepro64"])
add_list(machines, "machine")
MachineFile = Annotated[
    str, typer.Argument(help="a shipped machine or a YAML file", autocompletion=shipped("machines", *YAML))
]


@machines.command("show")
@examples(
    "numasim machine show xeon-e5-2620-2s",
    "numasim machine show tilepro64 --picture tilepro64.svg",
    "numasim machine show xeon-e5-2620-2s --yaml",
)
def machine_show(
    name: MachineFile,
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

        kind_of(picture)  # reports a wrong name of the picture before anything is printed
    say(describe(machine))
    if picture is not None:
        from numasim.machine.drawing import draw
        from numasim.report.figures.plots import save

        say(save(draw(machine), picture))


@machines.command("import")
@examples(
    "numasim machine import -o here.yaml",
    "numasim machine import --sysfs /sys --name here -o here.yaml",
)
def machine_import(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="the machine file to write", autocompletion=files(*YAML))
    ],
    given: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="topologies and measurements, told apart by content: hwloc XML, a copy of /sys, lscpu -p or -e, "
            "numactl -H, likwid-topology, MLC, core-to-core times, STREAM; default the running system",
        ),
    ] = None,
    sysfs: Annotated[Path | None, typer.Option("--sysfs", help="a copy of another system's /sys")] = None,
    name: Annotated[str | None, typer.Option("--name", help="the machine's name")] = None,
) -> None:
    """Write the machine file of a system.

    The command says which values are read, derived and assumed, and what is left out.
    """
    from numasim.files.writer import write_text
    from numasim.machine.build_machine import build
    from numasim.machine.draft import provenance
    from numasim.machine.measured_machine import import_machine
    from numasim.machine.plausibility import check

    draft = import_machine(*(given or ()), sysfs=sysfs, name=name)
    machine = build(draft.check())
    say(write_text(output, draft.text()))
    for line in provenance(draft.sources):
        say(line)
    for remark in draft.remarks[1:]:
        say(f"note: {remark}")
    for warning in check(machine):
        say(f"warning: {warning}")


@machines.command("check")
@examples("numasim machine check opteron-875-8s")
def machine_check(name: MachineFile) -> None:
    """Check a machine file, and warn about implausible values.

    The command says which values are read, derived and assumed.
    """
    from numasim.machine.build_machine import build
    from numasim.machine.draft import provenance
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


strategies = Commands("Strategies: list, show, compile.", ["numasim strategy list", "numasim strategy show steal-half"])
add_list(strategies, "strategy")
StrategyFile = Annotated[
    str, typer.Argument(help="a shipped strategy or a YAML file", autocompletion=shipped("strategies", *YAML))
]
MachineName = Annotated[
    str, typer.Option("--machine", help="the machine to compile for", autocompletion=shipped("machines", *YAML))
]
RuntimeName = Annotated[
    str, typer.Option("--runtime", help="the runtime preset", autocompletion=shipped("runtimes", *YAML))
]


@strategies.command("show")
@examples(
    "numasim strategy show topology-aware",
    "numasim strategy show topology-aware --machine opteron-875-8s --workers 16 --worker 5",
    "numasim strategy show steal-half --yaml",
)
def strategy_show(
    name: StrategyFile,
    machine: MachineName = "xeon-e5-2620-2s",
    workers: Annotated[int | None, typer.Option(help="default: every hardware thread")] = None,
    worker: Annotated[int, typer.Option(help="the worker whose plan is described")] = 0,
    runtime: Annotated[
        str | None,
        typer.Option(help="default: that of the strategy's name, else ompi", autocompletion=shipped("runtimes", *YAML)),
    ] = None,
    as_yaml: AsYaml = False,
) -> None:
    """Describe the compiled plan of a worker in plain English."""
    if as_yaml:
        print_file("strategies", name)
        return
    from numasim.plan.show_strategy import show

    say(show(name, machine, workers, worker, runtime))


@strategies.command("compile")
@examples("numasim strategy compile topology-aware --workers 8 -o domains.plan")
def strategy_compile(
    name: StrategyFile,
    machine: MachineName = "xeon-e5-2620-2s",
    workers: Annotated[int | None, typer.Option(help="default: every hardware thread")] = None,
    runtime: RuntimeName = "ompi",
    graph: Annotated[
        Path | None,
        typer.Option(
            "--graph",
            help="the recorded task graph of a program that runs in virtual time",
            autocompletion=files(".json"),
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="seed of the victim draws")] = 0,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="default: NAME.plan")] = None,
) -> None:
    """Write the compiled plan of a strategy. The task runtime interprets it."""
    from numasim.runtime.fields_file import compile_plan, write_plan

    path = output or Path(f"{Path(name).stem}.plan")
    write_plan(compile_plan(name, machine, workers, runtime, graph), seed, path)
    say(path)


runtimes = Commands("Runtimes: list, show.", ["numasim runtime list", "numasim runtime show ompi"])
add_list(runtimes, "runtime")


@runtimes.command("show")
@examples("numasim runtime show ompi", "numasim runtime show own --yaml")
def runtime_show(
    name: Annotated[
        str, typer.Argument(help="a shipped runtime or a YAML file", autocompletion=shipped("runtimes", *YAML))
    ],
    as_yaml: AsYaml = False,
) -> None:
    """Print every cost and rule of a runtime."""
    if as_yaml:
        print_file("runtimes", name)
        return
    from numasim.spec.descriptions import describe_runtime
    from numasim.spec.single_part import read_runtime

    say(describe_runtime(read_runtime(name)))
