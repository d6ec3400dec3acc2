"""`numasim schema`: the formats of the files that are read and written, and their JSON Schemas."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from numasim.cli.shared import examples, say, words
from numasim.errors import InputError

Schema = dict[str, Any]


@dataclass(frozen=True)
class FileFormat:
    """A kind of file: the meaning of the kind, and its JSON Schema."""

    about: str
    schema: Callable[[], Schema]


def _of_specification(kind: str) -> Callable[[], Schema]:
    def schema() -> Schema:
        from numasim.spec.json_schema import json_schema

        return json_schema(kind)

    return schema


def _calibration() -> Schema:
    from numasim.reproduce.calibration_file import Calibration
    from numasim.spec.json_schema import model_schema, with_title

    return with_title("calibration", model_schema(Calibration))


def _validation() -> Schema:
    from numasim.spec.json_schema import model_schema, with_title
    from numasim.validate.part_files import PartFile

    return with_title("validation", model_schema(PartFile))


def _result() -> Schema:
    """Return the schema of a run as JSON: its columns, the time of the engine and remarks."""
    from numasim.engine.columns import DESCRIBED
    from numasim.spec.json_schema import with_title

    types: dict[str, Any] = {"text": ["string", "null"], "integer": "integer", "ratio": ["number", "null"]}
    columns = {
        column.name: {
            "type": types[column.kind],
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
    "run": FileFormat("A run, in YAML.", _of_specification("run")),
    "sweep": FileFormat("A sweep: a run with axes, in YAML.", _of_specification("sweep")),
    "machine": FileFormat("A machine, in YAML.", _of_specification("machine")),
    "strategy": FileFormat("A strategy, in YAML.", _of_specification("strategy")),
    "runtime": FileFormat("A runtime, in YAML.", _of_specification("runtime")),
    "workload": FileFormat("A workload with its parameters, in YAML.", _of_specification("workload")),
    "graph": FileFormat("A task graph, in JSON.", _of_specification("graph")),
    "calibration": FileFormat(
        "Fitted parameters of a study: calibrated.yaml, which a calibration writes.", _calibration
    ),
    "validation": FileFormat("A part of a validation, in YAML.", _validation),
    "result": FileFormat("A result as numasim run --json prints it.", _result),
}
SCHEMAS = tuple(FILE_FORMATS)


def schema_of(kind: str) -> Schema:
    """Return the JSON Schema of a kind of file. Raises InputError for another ``kind``."""
    if kind not in FILE_FORMATS:
        raise InputError(f"there is no schema {kind!r}", value=kind, known=FILE_FORMATS)
    return FILE_FORMATS[kind].schema()


@examples("numasim schema sweep")
def schema(
    kind: Annotated[
        str,
        typer.Argument(
            help=f"the kind of file: {', '.join(SCHEMAS[:-1])} or {SCHEMAS[-1]}", autocompletion=words(*SCHEMAS)
        ),
    ],
) -> None:
    """Print the JSON Schema of a kind of file. It is for editors, and for programs that check files."""
    import json

    say(json.dumps(schema_of(kind), indent=2))
