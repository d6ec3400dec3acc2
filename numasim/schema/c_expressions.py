"""Expressions of the schema as C, and the C expression of each field that was read."""

from __future__ import annotations

import re

from numasim.schema.enumerations import CONSTANTS

_TOKEN = re.compile(r"len\((\w+)\)|([A-Za-z_]\w*)")
_OPERATORS = {"and": "&&", "or": "||", "not": "!"}


class Scope:
    """The fields read so far: their values, and their lengths, as C expressions."""

    def __init__(self, outer: Scope | None = None) -> None:
        self._values: dict[str, str] = {}
        self._lengths: dict[str, str] = {}
        self._outer = outer

    def add_value(self, name: str, text: str) -> None:
        """The field ``name`` is a number or a flag, kept as ``text``."""
        self._values[name] = text

    def add_length(self, name: str, text: str) -> None:
        """The field ``name`` has ``text`` entries."""
        self._lengths[name] = text

    def translated(self, expression: str) -> str:
        """``expression`` in C, of type int64_t."""
        return _TOKEN.sub(self._token, expression)

    def _token(self, match: re.Match[str]) -> str:
        length, name = match.groups()
        if length:
            return f"(int64_t){self._found('_lengths', length)}"
        if name in _OPERATORS:
            return _OPERATORS[name]
        if name in CONSTANTS:
            return f"NS_{name}"
        return name if name == "INT64_MAX" else f"(int64_t){self._found('_values', name)}"

    def _found(self, kind: str, name: str) -> str:
        scope: Scope | None = self
        while scope is not None:
            if name in getattr(scope, kind):
                return str(getattr(scope, kind)[name])
            scope = scope._outer
        raise KeyError(f"{name} is used in an expression of the schema before it is read")
