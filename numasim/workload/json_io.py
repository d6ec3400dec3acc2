"""Task graphs as JSON files: read, check, write; what is read equals what was written, array for array.

A task is its ops (``["run", segment]``, ``["spawn", task]``, ``["call", task]``, ``["wait"]``, and ``["lock", number]``
and the other synchronisation ops) and the tasks that wait for it (``then``). Kernels and regions are referred to by
name; tasks, segments, synchronisation objects (``words``) and ranges by position. A key that is left out has the
default of `json_models`; without ``phases`` all tasks that no task spawns start together.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from numasim.errors import InputError
from numasim.files.bounded_json import read_json
from numasim.files.file_kinds import GRAPH
from numasim.files.writer import write_text
from numasim.parts.yaml.nodes import shown
from numasim.workload.graph import Workload
from numasim.workload.graph_rules import validate
from numasim.workload.json_models import GraphFile, to_file, to_workload


def write(workload: Workload, path: Path) -> None:
    """Write ``workload`` to ``path``; an `InputError` if that cannot be done."""
    write_text(path, json.dumps(to_file(workload), separators=(",", ":")) + "\n")


def read(path: Path) -> Workload:
    """The checked workload in ``path``; every `InputError` names the file, and the line or the field."""
    document = read_json(path, GRAPH)
    try:
        workload = to_workload(GraphFile.model_validate(document))
        validate(workload)
    except ValidationError as problem:
        raise _placed(_first(problem, document), path) from None
    except InputError as problem:
        raise _placed(problem, path) from None
    return workload


def _first(problem: ValidationError, document: Any) -> InputError:
    """The first error of pydantic as an `InputError`."""
    error = problem.errors(include_url=False, include_context=False)[0]
    path = tuple(error["loc"])
    if error["type"] == "extra_forbidden":
        known = GraphFile.known_keys(path)
        return InputError(
            f"there is no key {path[-1]!r}",
            path=path,
            expected=f"one of {', '.join(known)}",
            value=path[-1],
            known=known,
        )
    message = error["msg"].removeprefix("Value error, ")
    return InputError(f"{message[0].lower()}{message[1:]}, not {shown(error['input'])}", path=path)


def _placed(problem: InputError, path: Path) -> InputError:
    problem.place = problem.place or str(path)
    return problem
