"""What notebooks show of objects whose page is written further up: the Python interface enters it when it starts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

_VIEWS: dict[type, Callable[[Any], str]] = {}


def show_as(kind: type, view: Callable[[Any], str]) -> None:
    """Let notebooks show objects of the class ``kind`` as the HTML that ``view`` makes of them."""
    _VIEWS[kind] = view


class Shown:
    """An object that notebooks show as HTML once its view is known, and as text before."""

    def _repr_html_(self) -> str | None:
        """Return the HTML, or None, on which a notebook shows the text."""
        view = _VIEWS.get(type(self))
        return None if view is None else view(self)


def notebook_shell() -> Any:
    """IPython's shell if this process is the kernel of a notebook, else None."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell if hasattr(shell, "kernel") else None
