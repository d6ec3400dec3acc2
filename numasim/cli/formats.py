"""`numasim schema` and `numasim trace`: the formats of the files that are read and written."""

from pathlib import Path
from typing import Annotated

import typer

from numasim.cli.shared import say
from numasim.errors import CheckError

trace_app = typer.Typer(help="Traces: check.", no_args_is_help=True)


def schema(kind: Annotated[str, typer.Argument(help="run, sweep, machine, strategy, runtime or workload")]) -> None:
    """Print the JSON Schema of a kind of YAML file, for editors."""
    import json

    from numasim.spec.json_schema import json_schema

    say(json.dumps(json_schema(kind), indent=2))


@trace_app.command("check")
def trace_check(file: Path) -> None:
    """Check a trace and print what is wrong with it."""
    from numasim.report.trace.trace_lint import lint

    found = lint(file)
    for problem in found.problems:
        say(f"{file}: {problem}")
    say(f"{file}: {found.found}")
    if found.problems:
        raise CheckError(f"{file} is not a sound trace")
