"""Sweep axes as columns of the results table: numbers stay numbers, every other value is a distinct text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import chain, count
from pathlib import Path
from typing import Any

import pyarrow as pa

from numasim.parts.base import canonical_json
from numasim.parts.yaml.nodes import Held
from numasim.spec.run_spec import recording_of
from numasim.sweep.planned_runs import PlannedRow


def axis_column(rows: Sequence[PlannedRow], axis: str) -> pa.Array:
    """Build the column of ``axis``, null in cells that do not set it."""
    values = [row.cell.axes.get(axis) for row in rows]
    given = {type(value) for value in values if value is not None}
    if given <= {bool}:
        return pa.array(values, pa.bool_())
    if given <= {int}:
        return pa.array(values, pa.int64())
    if given <= {int, float, Decimal}:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    return pa.array(labels(values), pa.string())


def named_column(rows: Sequence[PlannedRow], part: str) -> list[str]:
    """Name each cell's machine, workload or strategy.

    If several values of the axis ``part`` have one name, such as two variants of a strategy, the column has the values'
    labels instead, so that they stay distinct. So has it for a variant without a name of its own, which is not what the
    name stands for.
    """
    values = [row.cell.axes.get(part) for row in rows]
    names = [_name(getattr(row.cell.spec, part)) for row in rows]
    labelled = labels(values)
    distinct = [name if text is None else text for name, text in zip(names, labelled, strict=True)]
    if len(set(distinct)) > len(set(names)):
        return distinct
    each = zip(values, names, distinct, strict=True)
    return [text if _is_unnamed_variant(value) else name for value, name, text in each]


def _is_unnamed_variant(value: Any) -> bool:
    return isinstance(value, Mapping) and "like" in value and "name" not in value


def _name(part: Any) -> str:
    """Return the name of a part; a task graph that was read from a file has that file's."""
    return str(part.name) if hasattr(part, "name") else Path(part.file).stem


def labels(values: Sequence[Any]) -> list[str | None]:
    """Convert axis values to short texts, unlike values to unlike ones; ``None`` stays.

    Of objects that have one name the second is numbered.
    """
    of_value: dict[str, str] = {}
    taken: set[str] = set()
    found: list[str | None] = []
    for value in values:
        key = canonical_json(value)
        if key not in of_value:
            text = label(value)
            others = (f"{text} ({number})" for number in count(2))
            of_value[key] = next(each for each in chain([text], others) if each not in taken)
            taken.add(of_value[key])
        found.append(None if value is None else of_value[key])
    return found


def label(value: Any) -> str:
    """Convert an axis value to a short text: ``{name: matmul, n: 256}`` is ``matmul n=256``, an object its name."""
    if isinstance(value, Held):
        return value.name
    if isinstance(value, dict):
        return _labelled(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_nested(part) for part in value)}]"
    return str(value) if isinstance(value, str | Decimal) else json.dumps(value)


def _labelled(mapping: Mapping[str, Any]) -> str:
    name = [str(mapping["name"])] if "name" in mapping else []
    return " ".join(name + [f"{key}={_nested(part)}" for key, part in mapping.items() if key != "name"])


def _nested(part: Any) -> str:
    return f"{{{label(part)}}}" if isinstance(part, dict) else label(part)


# ----------------------------------------------------------------------------------------------------------------------
# Columns that the results table of recorded programs has beside all others: where they were recorded, on what cores.
#
# ``time_factor``: what compute times were multiplied by on the machine; null where the rate of a core is not known
# there or where the program was recorded. ``recording``: sentences about the recording, one a line. Tables of other
# programs have neither.

TIME_FACTOR, RECORDING = "time_factor", "recording"


def recording_columns(rows: Sequence[PlannedRow], workloads: Sequence[str]) -> dict[str, pa.Array]:
    """The columns of ``rows``, whose workloads have these names; none where no program was recorded."""
    found = {id(row.cell.spec.workload): row.cell.spec.workload for row in rows}
    recordings = {key: recording_of(workload) for key, workload in found.items()}
    by_row = [recordings[id(row.cell.spec.workload)] for row in rows]
    if not any(by_row):
        return {}
    factors = [
        recorded.factor(row.cell.spec.machine.core_steps_per_s or 0) if recorded else None
        for row, recorded in zip(rows, by_row, strict=True)
    ]
    texts = [
        "\n".join(recorded.remarks(name)) if recorded else None
        for name, recorded in zip(workloads, by_row, strict=True)
    ]
    return {TIME_FACTOR: pa.array(factors, pa.float64()), RECORDING: pa.array(texts, pa.string())}
