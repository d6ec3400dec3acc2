"""Values of a specification with their places, so that every error can name file, line and column."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar

from numasim.errors import InputError
from numasim.frozen import Frozen

Scalar = str | int | Decimal | bool | None
Key = str | int
FieldPath = tuple[str | int, ...]
LONGEST_SHOWN = 60


class Held(ABC):
    """An object of Python that stands for a part of a specification: a machine, a strategy or a task graph."""

    part: ClassVar[str]  # the field of a specification whose value the object can be

    @property
    @abstractmethod
    def name(self) -> str:
        """Return the name of the object in tables."""

    @property
    @abstractmethod
    def contents(self) -> str:
        """Return a text that is equal only for objects with equal contents."""

    @abstractmethod
    def specified(self) -> Any:
        """Return plain data for a machine or strategy; for a graph, the workload that engines read."""

    def written(self) -> bytes:
        """Return the contents of a file for an object that cannot be written into the text of a specification."""
        raise NotImplementedError


class Source(Frozen):
    """A text that values come from: ``name`` is shown to the user, relative paths in it start at ``folder``."""

    name: str
    folder: Path


class Place(Frozen):
    """A position in a source; lines and columns count from one, and line 0 is the source as a whole."""

    source: Source
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Return ``file:line:column``."""
        return f"{self.source.name}:{self.line}:{self.column}" if self.line else self.source.name


NO_PLACE = Place(Source("", Path()))  # for values from Python or a command line; paths start in the working folder


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """One value with its place; ``keys`` has the places of a mapping's keys. A node is equal only to itself."""

    content: Scalar | Held | list[Node] | dict[Key, Node]
    place: Place
    keys: Mapping[Key, Place] = field(default_factory=dict)

    def plain(self) -> Any:
        """Return the value without its places."""
        if isinstance(self.content, dict):
            return {key: child.plain() for key, child in self.content.items()}
        if isinstance(self.content, list):
            return [child.plain() for child in self.content]
        return self.content

    def child(self, part: Key) -> Node | None:
        """Return the value of a key or at an index, or None if there is no such value."""
        if isinstance(self.content, dict):
            return self.content.get(part)
        if isinstance(self.content, list) and isinstance(part, int) and 0 <= part < len(self.content):
            return self.content[part]
        return None

    def follow(self, path: Iterable[Key]) -> Node | None:
        """Return the value at ``path``, or None if there is no such value."""
        node: Node | None = self
        for part in path:
            node = node.child(part) if node else None
        return node

    def mapping(self, path: FieldPath = (), what: str = "a mapping of keys to values") -> dict[Key, Node]:
        """Return the content as a mapping. Raises InputError for any other content."""
        if not isinstance(self.content, dict):
            raise InputError(f"got {shown(self.plain())}", path=path, place=self.place, expected=what)
        return self.content

    def replaced(self, key: Key, value: Node, place: Place) -> Node:
        """Return a copy of this mapping in which ``key``, written at ``place``, has ``value``."""
        content = self.mapping()
        return Node({**content, key: value}, self.place, {**self.keys, key: place})

    def without(self, *names: str) -> Node:
        """Return a copy of this mapping without the keys ``names``."""
        content = {key: value for key, value in self.mapping().items() if key not in names}
        return Node(content, self.place, self.keys)


def from_python(value: Any, place: Place) -> Node:
    """Return a node for plain Python data; a float becomes the decimal number that Python prints for the float."""
    if isinstance(value, Mapping):
        content = {_key(key): from_python(inner, place) for key, inner in value.items()}
        return Node(content, place, dict.fromkeys(content, place))
    if hasattr(value, "tolist"):  # arrays and single values of numpy and pandas
        return from_python(value.tolist(), place)
    if isinstance(value, list | tuple | range):
        return Node([from_python(inner, place) for inner in value], place)
    return Node(_scalar(value, place), place)


def _key(key: Any) -> Key:
    return int(key) if isinstance(key, Integral) else str(key)


def _scalar(value: Any, place: Place) -> Scalar | Held:
    if value is None or isinstance(value, str | bool | Decimal | Held):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return Decimal(repr(float(value)))
    problem = f"got a value of type {type(value).__name__}"
    raise InputError(problem, place=place, expected="a mapping, list, text, number, true, false or null")


def path_parts(text: str) -> FieldPath:
    """Split a dotted field such as ``steal[0].from`` or ``steal.0.from`` into its keys and indices."""
    parts = re.split(r"[.\[]", text.replace("]", ""))
    return tuple(int(part) if part.isdecimal() else part for part in parts)


def shown(value: Any) -> str:
    """Return a value as error messages show the value: texts in quotes, long values cut off."""
    if isinstance(value, Mapping):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value) if isinstance(value, str) else str(value)
    if isinstance(value, Held):
        return f"the {value.part} {value.name!r}"
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."


# ---- Plain scalars: the value of a text without quotes in the core schema of YAML 1.2.2, section 10.3.2 --------------
#
# Decimals stay decimals, so that 77.3 ns becomes 77300 ps without a float on the way.

LONGEST_NUMBER = 100
LARGEST_EXPONENT = 60
_NULL = {"", "~", "null", "Null", "NULL"}
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = {"0o": (re.compile(r"0o[0-7]+"), 8), "0x": (re.compile(r"0x[0-9a-fA-F]+"), 16)}
_DECIMAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def scalar(text: str) -> Scalar:
    """Return the value of the plain scalar ``text``. Raises ValueError for numbers that are infinite or too large."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"{text} is not a finite number")
    if _DECIMAL.fullmatch(text):
        return _number(text)
    pattern, base = _BASED.get(text[:2], (None, 10))
    return _number(text, base) if pattern and pattern.fullmatch(text) else text


def _number(text: str, base: int = 10) -> int | Decimal:
    exponent = text.lower().partition("e")[2] if base == 10 else ""
    if len(text) > LONGEST_NUMBER or (exponent and abs(int(exponent)) > LARGEST_EXPONENT):
        raise ValueError(f"the number {text[:20]}... is out of range" if len(text) > 20 else f"{text} is out of range")
    if base != 10:
        return int(text[2:], base)
    return int(text) if _INTEGER.fullmatch(text) else Decimal(text)
