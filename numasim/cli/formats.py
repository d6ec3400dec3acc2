"""`numasim schema` and `numasim trace`: the formats of the files that are read and written."""

from pathlib import Path
from typing import Annotated

import typer

from numasim.cli.completion import files, words
from numasim.cli.examples import Commands, examples
from numasim.cli.shared import say
from numasim.errors import CheckError

SCHEMAS = (  # the keys of `numasim.cli.file_formats`, whose import is a command's alone
    "run",
    "sweep",
    "machine",
    "strategy",
    "runtime",
    "workload",
    "graph",
    "calibration",
    "validation",
    "result",
)
trace_app = Commands(
    "Traces: check.",
    [
        "numasim run thesis-remote-steals --set workload='{name: fib, n: 12}' --trace trace.json.gz",
        "numasim trace check trace.json.gz",
    ],
)


@examples("numasim schema sweep")
def schema(
    kind: Annotated[
        str,
        typer.Argument(
            help=f"the kind of file: {', '.join(SCHEMAS[:-1])} or {SCHEMAS[-1]}", autocompletion=words(*SCHEMAS)
        ),
    ],
) -> None:
    """Print the JSON Schema of a kind of file. It is for editors, and for programs that check files."""
    import json

    from numasim.cli.file_formats import schema_of

    say(json.dumps(schema_of(kind), indent=2))


@trace_app.command("check")
@examples("numasim trace check trace.json.gz")
def trace_check(
    file: Annotated[
        Path,
        typer.Argument(
            help="a file that numasim run --trace wrote", autocompletion=files(".json", ".gz", ".paje", ".prv")
        ),
    ],
) -> None:
    """Check a trace and print what is wrong with it."""
    from numasim.report.trace.trace_check import checked_trace

    found = checked_trace(file)
    for problem in found.problems:
        say(f"{file}: {problem}")
    say(f"{file}: {found.found}")
    if found.problems:
        raise CheckError(f"{file} is not a sound trace")
