"""Find a name in the installed numasim, in any module, since versions of numasim have different modules."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numasim

PACKAGE = Path(numasim.__file__).parent
PROGRAM = "numasim-runtime"


class NotFoundError(Exception):
    """Raised if no module, or more than one module, of the installed numasim defines a name."""


@cache
def symbol(name: str, *modules: str) -> Any:
    """Return the function, class or table ``name`` from the first of ``modules`` (below ``numasim``) that has this
    name.

    If none of the modules has the name, search all modules of the package for its definition. Raise NotFoundError
    unless exactly one module defines the name.
    """
    for module in modules:
        try:
            return getattr(import_module(f"numasim.{module}"), name)
        except (ImportError, AttributeError):
            continue
    definition = re.compile(rf"^(?:(?:def|class) {name}\b|{name}(?::[^=\n]*)? = )", re.MULTILINE)
    found = [path for path in sorted(PACKAGE.rglob("*.py")) if definition.search(path.read_text(encoding="utf-8"))]
    if len(found) != 1:
        places = ", ".join(str(path.relative_to(PACKAGE)) for path in found) or "no file"
        raise NotFoundError(f"{name} of numasim is defined in {places}; tried {', '.join(modules) or 'no module'}")
    return getattr(import_module(_module_of(found[0])), name)


def _module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def call(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call ``function`` with ``arguments``, and with the entries of ``named`` for which the function has parameters."""
    parameters = inspect.signature(function).parameters
    return function(*arguments, **{name: value for name, value in named.items() if name in parameters})


@dataclass(frozen=True)
class Built:
    """A plan, and the seed of its run. In some versions the seed is a part of the plan."""

    plan: Any
    seed: int

    def run(self, engine: str, **named: Any) -> Any:
        """Return the result on ``engine``."""
        return call(
            symbol("simulate", "engine.simulate", "engine.run"), self.plan, engine=engine, seed=self.seed, **named
        )

    def write(self, path: Path) -> None:
        """Write the file that the runtime's program reads."""
        call(symbol("write_plan", "runtime.fields_file"), self.plan, path=path, seed=self.seed)


def build(spec: Any, seed: int) -> Built:
    """Return the plan of a resolved specification."""
    return Built(call(symbol("build_plan", "engine.build", "plan.build"), spec, seed=seed), seed)


def runtime_program() -> Path | None:
    """Return the path of the program of the task runtime; None if the program is not built."""
    return next((path for path in sorted(PACKAGE.rglob(PROGRAM)) if path.is_file()), None)


def engines() -> tuple[str, ...]:
    """Return the names of the engines that are built."""
    return tuple(symbol("ENGINES", "engine.simulate", "engine.run"))
