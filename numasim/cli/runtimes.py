"""`numasim runtime`: list and show runtimes."""

from typing import Annotated

import typer

from numasim.cli.completion import YAML, shipped
from numasim.cli.examples import Commands, examples
from numasim.cli.listing import print_shipped
from numasim.cli.shared import AsYaml, Json, print_file, say

app = Commands("Runtimes: list, show.", ["numasim runtime list", "numasim runtime show ompi"])


@app.command("list")
@examples("numasim runtime list", "numasim runtime list --json")
def runtime_list(as_json: Json = False) -> None:
    """Print the shipped runtimes, a line each."""
    print_shipped(["runtimes"], as_json)


@app.command("show")
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
