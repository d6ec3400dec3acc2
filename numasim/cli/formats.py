"""`numasim schema`: the formats of the files that are read."""

from typing import Annotated

import typer

from numasim.cli.completion import words
from numasim.cli.examples import examples
from numasim.cli.shared import say

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
