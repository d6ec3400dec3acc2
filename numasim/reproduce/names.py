"""Names in the files of a study that have to be those of something."""

from __future__ import annotations

from collections.abc import Collection

from numasim.errors import InputError
from numasim.spec.nodes import FieldPath, Node
from numasim.spec.validate import placed


def check_names(node: Node, path: FieldPath, what: str, names: Collection[str], known: Collection[str]) -> None:
    """Raise `InputError` for the first of ``names``, written at ``path`` in ``node``, that is not one of ``known``."""
    for name in names:
        if name not in known:
            expected = f"one of {', '.join(known)}" if known else None
            error = InputError(f"there is no {what} {name!r}", path=path, expected=expected, value=name, known=known)
            raise placed(error, node)
