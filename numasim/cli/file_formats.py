"""The formats of the files that are read and written: what each kind is, and its JSON Schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from numasim.engine.columns import DESCRIBED, Kind
from numasim.errors import InputError
from numasim.reproduce.calibration_file import Calibration
from numasim.spec.json_schema import Schema, json_schema, model_schema, with_title
from numasim.validate.part_files import PartFile

TYPES: Mapping[Kind, Any] = {"text": ["string", "null"], "integer": "integer", "ratio": ["number", "null"]}


@dataclass(frozen=True)
class FileFormat:
    """A kind of file: what it is, and its JSON Schema."""

    about: str
    schema: Callable[[], Schema]


def _of_model(kind: str, model: Any) -> Callable[[], Schema]:
    return lambda: with_title(kind, model_schema(model))


def _result() -> Schema:
    """The schema of a run as JSON: its columns, and what is told beside them."""
    columns = {
        column.name: {
            "type": TYPES[column.kind],
            "description": f"{column.meaning} Unit: {column.unit}." if column.unit else column.meaning,
        }
        for column in DESCRIBED.values()
    }
    beside = {
        "engine_s": {"type": "number", "description": "Wall-clock time of the engine alone. Unit: s."},
        "remarks": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What a user should know of the run beside its columns.",
        },
    }
    return with_title("result", {"type": "object", "properties": {**columns, **beside}})


FILE_FORMATS = {
    "run": FileFormat("A run, in YAML.", lambda: json_schema("run")),
    "sweep": FileFormat("A sweep: a run with axes, in YAML.", lambda: json_schema("sweep")),
    "machine": FileFormat("A machine, in YAML.", lambda: json_schema("machine")),
    "strategy": FileFormat("A strategy, in YAML.", lambda: json_schema("strategy")),
    "runtime": FileFormat("A runtime, in YAML.", lambda: json_schema("runtime")),
    "workload": FileFormat("A workload with its parameters, in YAML.", lambda: json_schema("workload")),
    "graph": FileFormat("A task graph, in JSON.", lambda: json_schema("graph")),
    "calibration": FileFormat(
        "Fitted parameters of a study: calibrated.yaml, which a calibration writes.",
        _of_model("calibration", Calibration),
    ),
    "validation": FileFormat("A part of a validation, in YAML.", _of_model("validation", PartFile)),
    "result": FileFormat("A result as numasim run --json prints it.", _result),
}


def schema_of(kind: str) -> Schema:
    """Return the JSON Schema of a kind of file; InputError for another ``kind``."""
    if kind not in FILE_FORMATS:
        expected = f"one of {', '.join(FILE_FORMATS)}"
        raise InputError(f"there is no schema {kind!r}", expected=expected, value=kind, known=FILE_FORMATS)
    return FILE_FORMATS[kind].schema()
