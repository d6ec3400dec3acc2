"""Every public name, command and option is described; fields of files are held by tests/spec/test_descriptions.py."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import getdoc, getmembers, isclass
from types import ModuleType
from typing import Any

import typer.main

import numasim
from numasim.cli.entrance import app


def public() -> Iterator[tuple[str, Any]]:
    """Every public name of the package: functions, classes with what they offer, modules with what they list."""
    for name in dir(numasim):
        value = getattr(numasim, name)
        yield name, value
        if isinstance(value, ModuleType):
            yield from ((f"{name}.{each}", getattr(value, each)) for each in value.__all__)
        if isclass(value):
            members = getmembers(value)
            yield from ((f"{name}.{each}", member) for each, member in members if not each.startswith("_"))


def commands(command: Any, words: str) -> Iterator[tuple[str, Any]]:
    """Every command and group of commands, with the words that call it."""
    yield words, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{words} {name}")


COMMANDS = dict(commands(typer.main.get_command(app), "numasim"))


def test_every_public_name_is_described() -> None:
    names = dict(public())
    assert {"run", "sweep", "plot.timeline"} <= set(names)
    values = {name for name, value in names.items() if isinstance(value, str | dict)}  # say themselves what they are
    assert [name for name, value in names.items() if name not in values and not getdoc(value)] == []


def test_every_command_is_described() -> None:
    assert {"numasim run", "numasim machine show"} <= set(COMMANDS)
    assert [words for words, command in COMMANDS.items() if not command.help] == []


def test_every_argument_and_option_is_described() -> None:
    found = [
        f"{words}: {parameter.name}"
        for words, command in COMMANDS.items()
        for parameter in command.params
        if not parameter.hidden and parameter.name != "help" and not parameter.help
    ]
    assert found == []
