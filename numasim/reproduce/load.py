"""Studies by name: shipped studies, and folders with a ``study.py``, whose code is executed."""

from __future__ import annotations

import itertools
import sys
import traceback
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from numasim.errors import InputError
from numasim.files.reader import is_file
from numasim.parts.yaml.document import load
from numasim.reproduce.programs import check_known
from numasim.reproduce.study import Study, imported

STUDY = "study.py"
_PACKAGE = Path(__file__).resolve().parents[1]
_numbers = itertools.count()


def study_names() -> tuple[str, ...]:
    """Return the names of the shipped studies."""
    return tuple(sorted(path.parent.name for path in _shipped().glob(f"*/{STUDY}")))


def study_titles() -> dict[str, str]:
    """Return the title of each shipped study by its name."""
    return {name: str(load(_shipped() / name / "paper.yaml").plain()["title"]) for name in study_names()}


def read_study(name: str, tables: Collection[str] = (), begin: Callable[[Path], None] = lambda file: None) -> Study:
    """Return the shipped study ``name``, or the study in the folder ``name``, limited to the given ``tables``.

    The code of the study is executed. For a study that is not shipped, ``begin`` is called with the study's file before
    the execution. Raise InputError for an unknown study or table, and for an error of the study's code, with the place
    of the error.
    """
    folder = _folder(name)
    if not is_file(folder / STUDY):
        raise InputError("is missing", place=str(folder / STUDY), expected="the module of a study")
    if folder.parent != _shipped():
        begin(folder / STUDY)
    module = _executed(folder)
    study = getattr(module, "STUDY", None)
    if not isinstance(study, Study):
        raise InputError("makes no study", place=str(folder / STUDY), expected="STUDY = make_study(...)")
    check_known("table", tables, study.tables)
    chosen = tuple(table for table in study.tables if not tables or table in tables)
    return replace(study, chosen=chosen, package=str(module.__package__))


def describe(study: Study) -> str:
    """Return title, source, and each table with its id as lines of text. The id is the value of ``--table``."""
    width = max(len(table) for table in study.tables)
    tables = (f"  {each.id:<{width}}  {each.title}" for each in study.tables.values())
    return "\n".join([study.paper.title, study.paper.source, "tables", *tables])


def _shipped() -> Path:
    inside = _PACKAGE / "experiments"
    return inside if inside.is_dir() else _PACKAGE.parent / "experiments"


def _folder(name: str) -> Path:
    if "/" in name or "\\" in name or is_file(Path(name) / STUDY):
        return Path(name)
    if name in study_names():
        return _shipped() / name
    expected = f"one of {', '.join(study_names())}, or a path such as ./mine to a folder with {STUDY}"
    raise InputError(f"there is no study {name!r}", expected=expected, value=name, known=study_names())


def _executed(folder: Path) -> ModuleType:
    """Execute the module of a study as part of a package of its own, so that the module can import its neighbours."""
    folder = folder.resolve()
    package = f"numasim_study_{next(_numbers)}"
    parent = ModuleType(package)
    parent.__path__ = [str(folder)]
    sys.modules[package] = parent
    try:
        return imported(f"{package}.study")
    except Exception as error:  # any error that the study's code raises
        own = [each for each in traceback.extract_tb(error.__traceback__) if Path(each.filename).parent == folder]
        file, line = (own[-1].filename, own[-1].lineno) if own else (str(folder / STUDY), None)
        if isinstance(error, SyntaxError):
            file, line = error.filename or file, error.lineno
        place = f"{file}:{line}" if line else file
        if isinstance(error, InputError):
            error.place = error.place or place
            raise
        raise InputError(f"{type(error).__name__}: {error}", place=place) from error
