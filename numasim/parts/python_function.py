"""A user's function that a specification names as ``module:function``: the file of its source, and its hash."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import blake2b
from importlib.machinery import ModuleSpec
from pathlib import Path

from numasim.errors import InputError
from numasim.files.reader import PYTHON, read_bytes
from numasim.frozen import Frozen

_FORM = re.compile(r"(.+):([^\W\d]\w*)")
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
SUFFIX = ".py"


def is_python_function(text: str) -> bool:
    """Return whether ``text`` has the form ``module:function`` or ``path/to/module.py:function``."""
    found = _FORM.fullmatch(text)
    return found is not None and (found[1].endswith(SUFFIX) or _MODULE.fullmatch(found[1]) is not None)


class PythonFunction(Frozen):
    """A function ``name`` of ``module`` with the source ``file``; ``module`` is empty if the file is given by path."""

    module: str
    file: Path
    name: str

    @classmethod
    def of(cls, text: str, folder: Path) -> PythonFunction:
        """Return the function that ``text`` names in a specification in ``folder``.

        The module is a ``.py`` file in ``folder``, a path from ``folder``, or a module that can be imported. Raises
        InputError if there is no such file or module.
        """
        where, _, name = text.rpartition(":")
        if where.endswith(SUFFIX):
            file = (folder / where).absolute()
            if not file.is_file():
                expected = "the path of a .py file, as in mine.py:choose"
                raise InputError(f"there is no file {where!r}", expected=expected)
            return cls("", file, name)
        beside = (folder / f"{where}{SUFFIX}").absolute()
        if "." not in where and beside.is_file():
            return cls("", beside, name)
        return cls(where, _imported(where, beside), name)

    @property
    def text(self) -> str:
        """Return the text ``module:function`` that names the function in a specification in any folder."""
        return f"{self.module or self.file}:{self.name}"

    def source(self) -> bytes:
        """Return the source of the module. InputError if the file cannot be read."""
        return read_bytes(self.file, PYTHON)

    def source_hash(self) -> str:
        """Return the hash of the module's source: blake2b-128 as 32 hex digits."""
        return blake2b(self.source(), digest_size=16).hexdigest()


def name_of_function(function: Callable[..., object]) -> str:
    """Return the text that names ``function`` in a specification.

    Raises InputError unless the function is defined at the top of a module with a file, other than the main program.
    """
    module, name = function.__module__, function.__qualname__
    try:
        file = inspect.getsourcefile(function)
    except TypeError:
        file = None
    if file is None or not file.endswith(SUFFIX) or module == "__main__" or not name.isidentifier():
        problem = f"the function {name} of {module} cannot be found again in another process"
        expected = "a function of a module of its own, such as choose in a file mine.py: import it from there"
        raise InputError(problem, path=("tune",), expected=expected)
    return f"{module if '.' in module else Path(file).absolute()}:{name}"


def _found(name: str, within: Sequence[str] | None) -> ModuleSpec | None:
    """Return Python's description of the module ``name``, in the folders ``within`` of its package; else None."""
    for finder in sys.meta_path:
        found = finder.find_spec(name, within)
        if found is not None:
            return found
    return None


@lru_cache
def _imported(module: str, beside: Path) -> Path:
    """Return the source file of an importable module, without importing the module or its packages."""
    found: ModuleSpec | None = None
    parts = module.split(".")
    for depth in range(1, len(parts) + 1):
        within = None if found is None else found.submodule_search_locations or ()
        found = _found(".".join(parts[:depth]), within)
        if found is None:
            break
    if found is None or found.origin is None or not found.origin.endswith(SUFFIX):
        raise InputError(
            f"there is no module {module!r}",
            expected=f"a file {beside.name} beside this one, or a module that can be imported",
        )
    return Path(found.origin)
