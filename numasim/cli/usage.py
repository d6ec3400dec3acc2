"""What is wrong with the words of a command line, in the manner of all other errors: one sentence and a remedy."""

import re
from typing import Any

import typer

from numasim.cli.examples import examples_of

UsageError: Any = typer.BadParameter.__bases__[0]  # typer itself does not name it

_BETTER = (  # how typer says things, and how numasim does
    (re.compile(r": Input should be ([^,]+)(, .*)?$"), r"; expected \1"),
    (re.compile(r" \(Possible options: ([^)]+)\)$"), r"; did you mean \1?"),
)


def usage_sentence(error: Any) -> str:
    """The error of typer as one sentence; for a group without any further word, its help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        return str(error.format_message())
    if error.ctx is None:
        return f"numasim: {_problem(error)}"
    path = error.ctx.command_path
    words = path.removeprefix("numasim").strip()
    known = examples_of(error.ctx.command.epilog) if "Missing" in error.format_message() else ()
    said = [
        f"{words}: {_problem(error)}" if words else _problem(error),
        *(f"for example: {each}" for each in known[:1]),
    ]
    return f"numasim: {'; '.join(said)} (see {path} --help)"


def _problem(error: Any) -> str:
    text = " ".join(error.format_message().split()).rstrip(".")
    for pattern, better in _BETTER:
        text = pattern.sub(better, text)
    return "; ".join(part[:1].lower() + part[1:] for part in text.split(". "))
