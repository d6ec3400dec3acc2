"""What commands have in common: options, and what they print."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

Spec = Annotated[str, typer.Argument(help="a YAML file, or the name of a shipped sweep")]
Sets = Annotated[list[str] | None, typer.Option("--set", help="override a field: a.b=value", metavar="FIELD=VALUE")]
EngineName = Annotated[
    str | None, typer.Option("--engine", help="the engine that simulates: native where it is built, else reference")
]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="processes; default one per core")]
Results = Annotated[Path | None, typer.Option("-o", "--output", help="the results directory")]
Json = Annotated[bool, typer.Option("--json", help="print JSON for programs")]
Check = Annotated[bool, typer.Option("--check", help="check the result against the invariants of the model")]

NOT_BUILT = "numasim: the native engine is not built here; using the reference engine (slower)"


def say(text: object, *, err: bool = False) -> None:
    """Print a line on standard output, or on standard error."""
    print(text, file=sys.stderr if err else sys.stdout)


def chosen_engine(name: str | None) -> str:
    """The engine ``name``, by default the fastest one available; prints a notice if that is the reference engine."""
    from numasim.engine.simulate import DEFAULT_ENGINE, ENGINES

    if name is None and "native" not in ENGINES:
        say(NOT_BUILT, err=True)
    return name or DEFAULT_ENGINE


def print_columns(rows: Iterable[tuple[str, str]]) -> None:
    """Print names and what is to be said of each, side by side."""
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        say(f"{name:<{width}}  {text}".rstrip())
