"""The command line as Markdown: a section for each command with its arguments, options and examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer.main
from markdown_text import code, prose, table

from numasim.cli.entrance import app

PROGRAM = "numasim"


def commands() -> str:
    """Return all commands and groups of commands, in the order of the help."""
    return "\n".join(_sections(typer.main.get_command(app), [PROGRAM]))


def _sections(command: Any, words: list[str]) -> Iterator[str]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield _section(command, words)
        return
    if len(words) > 1:
        yield f"## `{' '.join(words)}`\n\n{prose(command.help)}\n"
    else:
        yield f"{_parameters(command)}\n{_examples(command)}"
    for name, each in inner.items():
        yield from _sections(each, [*words, name])


def _section(command: Any, words: list[str]) -> str:
    level = "#" * min(len(words), 3)
    return f"{level} `{' '.join(words)}`\n\n{prose(command.help)}\n\n{_parameters(command)}\n{_examples(command)}"


def _parameters(command: Any) -> str:
    shown = [each for each in command.params if not each.hidden and each.name != "help"]
    arguments = [_row(each) for each in shown if each.param_type_name == "argument"]
    options = [_row(each) for each in shown if each.param_type_name == "option"]
    taken = table(("argument", "default", "meaning"), arguments) if arguments else ""
    offered = table(("option", "default", "meaning"), options) if options else ""
    return f"{taken}\n{offered}"


def _row(parameter: Any) -> tuple[str, str, str]:
    names = [*parameter.opts, *parameter.secondary_opts]
    if parameter.param_type_name == "argument":
        shown = code(parameter.metavar or parameter.name.upper())
    else:
        value = "" if parameter.is_flag else f" {parameter.metavar or _kind(parameter)}"
        shown = ", ".join(code(name + value) for name in names)
    return shown, _default_text(parameter), prose(parameter.help).replace("\n", " ")


def _kind(parameter: Any) -> str:
    return str(parameter.name).upper()


def _default_text(parameter: Any) -> str:
    if parameter.required:
        return "needed"
    default = parameter.default
    if default is None or default is False or default in ((), []) or callable(default):
        return ""
    return code(str(default))


def _examples(command: Any) -> str:
    return f"```sh\n{command.epilog}\n```\n" if command.epilog else ""
