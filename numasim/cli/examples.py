"""Examples at the end of the help of every command and group, and the classes of typer that print them.

The examples of a command are the lines of its epilog. A line is a whole command line or, after ``#``, a remark on the
lines below. A test runs all examples unchanged, in the order of the commands.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

F = TypeVar("F", bound=Callable[..., Any])
TITLE = "Examples"
_KEPT = "__examples__"


def examples(*lines: str) -> Callable[[F], F]:
    """Return a decorator that keeps the examples of a command as an attribute of its function."""

    def keep(function: F) -> F:
        setattr(function, _KEPT, lines)
        return function

    return keep


def examples_of(epilog: str | None) -> tuple[str, ...]:
    """Return the command lines of an epilog, without remarks."""
    return tuple(line for line in (epilog or "").splitlines() if not line.startswith("#"))


class _Examples:
    """Prints the epilog of a command as examples, line by line, without wrapping lines."""

    epilog: str | None

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the section of examples."""
        if self.epilog:
            with formatter.section(TITLE):
                for line in self.epilog.splitlines():
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")


class ExampleCommand(_Examples, TyperCommand):
    """A command whose help ends with examples."""


class ExampleGroup(_Examples, TyperGroup):
    """A group of commands whose help ends with examples."""


class Commands(typer.Typer):
    """Commands that have examples in their help."""

    def __init__(self, text: str, lines: Iterable[str], cls: type[TyperGroup] = ExampleGroup, **options: Any) -> None:
        """Make a group with the description ``text`` and the examples ``lines``."""
        super().__init__(help=text, epilog="\n".join(lines), cls=cls, no_args_is_help=True, **options)

    def command(self, name: str | None = None, **options: Any) -> Callable[[F], F]:
        """Return a decorator that adds a function as the command ``name``, with the function's examples."""

        def add(function: F) -> F:
            lines = "\n".join(getattr(function, _KEPT, ()))
            return super(Commands, self).command(name, cls=ExampleCommand, epilog=lines, **options)(function)

        return add
