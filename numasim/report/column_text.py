"""Values of a results table as short text, each in the unit that its column has."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from numasim.engine.columns import DESCRIBED, Column
from numasim.engine.unit_text import MISSING, bytes_text, count_text, ratio_text, time_text

WRITERS: Mapping[str, Any] = MappingProxyType({"ps": time_text, "B": bytes_text})


def value_text(name: str, value: Any) -> str:
    """Write ``value`` of the column ``name``; ``-`` where it is missing. Columns of axes are written as they are."""
    if value is None or isinstance(value, str) or name not in DESCRIBED:
        return MISSING if value is None else str(value)
    return _written(DESCRIBED[name], value)


def _written(column: Column, value: Any) -> str:
    if column.unit in WRITERS:
        return str(WRITERS[column.unit](value))
    return ratio_text(value) if column.kind == "ratio" else count_text(value)
