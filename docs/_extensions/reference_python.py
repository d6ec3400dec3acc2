"""The interfaces of Python and of C as Markdown: public names from their docstrings, public headers as they are."""

from __future__ import annotations

from importlib import import_module
from inspect import isclass
from pathlib import Path
from types import ModuleType
from typing import Any

from markdown_text import code

import numasim

RETURNED = (  # classes that functions return, beside the public names
    "numasim.engine.result.Result",
    "numasim.engine.observe.over_time.OverTime",
    "numasim.report.sweep_result.SweepResult",
    "numasim.report.answers.question.Comparison",
    "numasim.errors.InputError",
)
INCLUDE = Path(numasim.__file__).parent / "runtime" / "include"
LANGUAGES = {".h": "c", ".hpp": "cpp"}
APART = frozenset({"__version__"})
OF_OTHERS = "Exception, Generic, Held, object"  # base classes whose members are not listed


def python() -> str:
    """Return all public names of the package, then the classes that its functions return, then the figures."""
    names = [name for name in dir(numasim) if name not in APART]
    public = {name: getattr(numasim, name) for name in names}
    own = [_documented(f"numasim.{name}", value) for name, value in public.items() if not isinstance(value, ModuleType)]
    listed = {value for value in public.values() if isclass(value)}
    returned = [_documented(path, _object(path)) for path in RETURNED if _object(path) not in listed]
    modules = [_module(f"numasim.{name}", value) for name, value in public.items() if isinstance(value, ModuleType)]
    sections = ["## Functions and classes", *own, "## What they return", *returned, *modules]
    return "\n\n".join(sections)


def _object(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def _module(name: str, module: ModuleType) -> str:
    functions = [_documented(f"{name}.{each}", getattr(module, each)) for each in module.__all__]
    return "\n\n".join([f"## `{name}`", (module.__doc__ or "").strip(), *functions])


def _documented(path: str, value: Any) -> str:
    if isclass(value):
        return _directive(f"autoclass:: {path}", ":members:", f":inherited-members: {OF_OTHERS}")
    if callable(value):
        return _directive(f"autofunction:: {path}")
    return f"`{path}`: a mapping of {', '.join(map(code, value))}."


def _directive(first: str, *options: str) -> str:
    lines = "".join(f"\n   {option}" for option in options)
    return f"```{{eval-rst}}\n.. {first}{lines}\n```"


def headers() -> str:
    """Return a section for each header, with its text unchanged."""
    paths = sorted(path for path in INCLUDE.rglob("*") if path.suffix in LANGUAGES)
    return "\n".join(_header(path) for path in paths)


def _header(path: Path) -> str:
    name = path.relative_to(INCLUDE).as_posix()
    return f"## `{name}`\n\n```{LANGUAGES[path.suffix]}\n{path.read_text('utf-8').strip()}\n```\n"
