"""Checks of names in studies, on the command line and in calls."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

from numasim.errors import InputError

Value = TypeVar("Value")


def unknown_name(problem: str, name: str, known: Collection[str]) -> InputError:
    """Return an error with ``problem`` that lists the ``known`` names and proposes the one nearest to ``name``."""
    expected = f"one of {', '.join(known)}" if known else None
    return InputError(problem, expected=expected, value=name, known=known)


def looked_up(what: str, name: str, known: Mapping[str, Value]) -> Value:
    """The value of ``name``. Raises `InputError` where it is not one of ``known``."""
    check_known(what, (name,), known)
    return known[name]


def check_known(what: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raise `InputError` for the first of ``names`` that is not one of ``known``."""
    for name in names:
        if name not in known:
            raise unknown_name(f"there is no {what} {name!r}", name, known)
