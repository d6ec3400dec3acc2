"""Checks of names in the files of a study, on the command line and in calls."""

from __future__ import annotations

from collections.abc import Collection

from numasim.errors import InputError
from numasim.parts.validation import placed
from numasim.parts.yaml.nodes import FieldPath, Node


def unknown_name(
    problem: str, name: str, known: Collection[str], *, path: FieldPath = (), place: str | None = None
) -> InputError:
    """Return an error with ``problem`` that lists the ``known`` names and proposes the one nearest to ``name``."""
    expected = f"one of {', '.join(known)}" if known else None
    return InputError(problem, path=path, place=place, expected=expected, value=name, known=known)


def check_known(what: str, names: Collection[str], known: Collection[str], path: FieldPath = ()) -> None:
    """Raise `InputError` for the first of ``names`` that is not one of ``known``."""
    for name in names:
        if name not in known:
            raise unknown_name(f"there is no {what} {name!r}", name, known, path=path)


def check_names(node: Node, path: FieldPath, what: str, names: Collection[str], known: Collection[str]) -> None:
    """Raise `InputError` for the first of ``names``, written at ``path`` in ``node``, that is not one of ``known``."""
    try:
        check_known(what, names, known, path)
    except InputError as error:
        raise placed(error, node) from None
