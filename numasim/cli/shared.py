"""What commands have in common: options, and what they print."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from numasim.cli.completion import YAML, engines, files, shipped

Spec = Annotated[
    str,
    typer.Argument(help="a YAML file, or the name of a shipped sweep", autocompletion=shipped("sweeps", *YAML)),
]
Sets = Annotated[list[str] | None, typer.Option("--set", help="override a field: a.b=value", metavar="FIELD=VALUE")]
EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine", help="the engine that simulates: native where it is built, else reference", autocompletion=engines
    ),
]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="processes; default one per core")]
Results = Annotated[Path | None, typer.Option("-o", "--output", help="the results directory", autocompletion=files())]
Json = Annotated[bool, typer.Option("--json", help="print JSON for programs")]
Check = Annotated[bool, typer.Option("--check", help="check the result against the invariants of the model")]
AsYaml = Annotated[bool, typer.Option("--yaml", help="print its file instead, to copy from")]


def say(text: object, *, err: bool = False) -> None:
    """Print a line on standard output, or on standard error."""
    print(text, file=sys.stderr if err else sys.stdout)


def chosen_engine(name: str | None) -> str:
    """The engine ``name``, by default the fastest one available; prints a notice if that is the reference engine."""
    from numasim.engine.simulate import DEFAULT_ENGINE, ENGINES, NOT_BUILT

    if name is None and "native" not in ENGINES:
        say(f"numasim: {NOT_BUILT}", err=True)
    return name or DEFAULT_ENGINE


def print_columns(rows: Iterable[tuple[str, str]]) -> None:
    """Print names and what is to be said of each, side by side."""
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        say(f"{name:<{width}}  {text}".rstrip())


def print_file(kind: str, name: str) -> None:
    """Print the file of a shipped machine, strategy, runtime or sweep, or that at a path, as it stands."""
    from numasim.files.reader import YAML as YAML_FILE
    from numasim.files.reader import read_text
    from numasim.parts import catalog

    file = catalog.find_spec(name) if kind == "sweeps" else catalog.find(kind, name)
    say(read_text(file, YAML_FILE).removesuffix("\n"))
