"""The machines, strategies, runtimes and sweeps that ship with numasim: beside the package, or, in a wheel, in it."""

from __future__ import annotations

import os
import re
from itertools import takewhile
from pathlib import Path

from numasim.errors import InputError
from numasim.files.reader import YAML, is_file, read_text

KINDS = {"machines": "machine", "strategies": "strategy", "runtimes": "runtime", "sweeps": "sweep"}
SUFFIXES = (".yaml", ".yml")
MOST_LISTED = 20  # names that a message lists
_PACKAGE = Path(__file__).resolve().parents[1]
_WORD = re.compile(r"[A-Za-z0-9_-]{1,100}")
_SENTENCE = re.compile(r".*?(?<![ (][A-Z])\.(?= [A-Z`]|$)")  # up to a full stop that does not end an initial such as J.


def folder(kind: str) -> Path:
    """Return the folder of the shipped files of ``kind`` (machines, strategies, runtimes or sweeps)."""
    inside = _PACKAGE / "configs"
    return (inside if inside.is_dir() else _PACKAGE.parent / "configs") / kind


def names(kind: str) -> tuple[str, ...]:
    """Return the shipped names of ``kind`` in alphabetical order."""
    return tuple(sorted(path.stem for path in folder(kind).glob("*.yaml")))


def schedulers() -> tuple[str, ...]:
    """Return the names that a shipped strategy and a shipped runtime share: together, both are one scheduler."""
    return tuple(sorted({*names("strategies")} & {*names("runtimes")}))


def described(kind: str, name: str) -> str:
    """Return the first sentence of the comment at the head of the shipped file ``name``.

    Raises InputError, without a place, for a name that is not shipped.
    """
    lines = read_text(find(kind, name), YAML).splitlines()
    comment = " ".join(line.lstrip("# ") for line in takewhile(lambda line: line.startswith("#"), lines))
    sentence = _SENTENCE.match(comment)
    return sentence[0] if sentence else comment


def is_path(text: str) -> bool:
    """Return whether ``text`` is a path to a file and not a shipped name."""
    return "/" in text or "\\" in text or text.endswith(SUFFIXES)


def find(kind: str, text: str, relative_to: Path = Path()) -> Path:
    """Return the file of a shipped name, or the path ``text`` in the folder ``relative_to``; a path need not exist.

    Raises InputError, without a place, for a name that is not shipped.
    """
    if is_path(text):
        return relative_to / text
    shipped = names(kind)
    if text in shipped:
        return folder(kind) / f"{text}.yaml"
    what = KINDS[kind]
    few = len(shipped) <= MOST_LISTED
    expected = f"one of {', '.join(shipped)}" if few else f"a name that `numasim list {kind}` prints"
    problem = f"there is no {what} {text!r}"
    raise InputError(problem, expected=f"{expected}, or a path such as ./mine.yaml", value=text, known=shipped)


def find_spec(text: str) -> Path:
    """Return the file of a run or sweep named on the command line: a path, or the name of a shipped sweep.

    Raises InputError, without a place, for a word that is neither a path nor a shipped name; a path need not exist.
    """
    path = Path(text)
    is_name = _WORD.fullmatch(text) is not None and not os.path.lexists(text)
    if is_file(path) or (text not in names("sweeps") and not is_name):
        return path
    for kind, what in KINDS.items():
        if kind != "sweeps" and text in names(kind) and text not in names("sweeps"):
            expected = f"a sweep or run that has it, such as numasim run quickstart --set {what}={text}"
            raise InputError(f"{text!r} is a {what}", expected=expected)
    if text not in names("sweeps"):
        beside = [path.name for suffix in SUFFIXES for path in Path().glob(f"*{suffix}")]
        raise InputError(
            f"there is no sweep {text!r}",
            expected=f"one of {', '.join(names('sweeps'))}, or a path such as ./mine.yaml",
            value=next((name for name in beside if Path(name).stem == text), text),
            known=(*names("sweeps"), *beside),
        )
    return find("sweeps", text)
