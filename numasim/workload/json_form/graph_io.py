"""Task graphs as JSON files: reading, checking and writing. A graph that is written and read again has equal arrays.

A task has ``ops``, the steps of its program, such as ``["run", segment]``, ``["spawn", task]`` or ``["wait"]``, and
``then`` lists the tasks that wait for it. A graph refers to kernels and regions by name, and to tasks, segments,
synchronisation objects (``words``) and ranges by their places in lists. Without ``phases`` all tasks that no task
spawns or calls start together. A walk reads a text entry by entry; a batch is a list of entries checked together.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from numasim.errors import InputError
from numasim.files.bounded_json import json_errors
from numasim.files.reader import GRAPH, read_text
from numasim.files.walked_json import WINDOW, Batch, JsonWalk, LongValueError
from numasim.files.writer import write_text
from numasim.parts.base import Model
from numasim.parts.choices import known_keys
from numasim.parts.yaml.nodes import FieldPath, shown
from numasim.workload.graph import Workload
from numasim.workload.graph_rules import validate
from numasim.workload.json_form.from_json_form import (
    Columns,
    SegmentColumns,
    TaskColumns,
    columns_of,
    many,
    to_workload,
)
from numasim.workload.json_form.graph_models import ENTRIES, GraphFile, PhaseEntry
from numasim.workload.json_form.to_json_form import text_of

__all__ = ["of_text", "parsed", "read", "text_of", "unchecked", "write"]

T = TypeVar("T")
E = TypeVar("E", bound=Model)
MOST_ENTRIES = 100_000  # of regions, phases, ranges or synchronisation objects; tasks and segments may be more


def write(workload: Workload, path: Path) -> None:
    """Write ``workload`` to ``path``; raise `InputError` if the file cannot be written."""
    write_text(path, text_of(workload))


def read(path: Path) -> Workload:
    """Return the checked workload in ``path``; every `InputError` names the file, and the line or the field."""
    return of_text(read_text(path, GRAPH), str(path))


def of_text(text: str, name: str) -> Workload:
    """Return the checked workload of ``text``, the contents of the file ``name``; InputError as for `read`."""
    file, columns = parsed(text, name)
    try:
        workload = to_workload(file, columns)
        validate(workload)
    except InputError as problem:
        problem.place = problem.place or name
        raise
    return workload


def unchecked(document: Mapping[str, Any]) -> Workload:
    """Return the workload of a document whose entries are checked one by one; `validate` is not called."""
    return to_workload(*parsed(json.dumps(document), "this document"))


def parsed(text: str, name: str) -> tuple[GraphFile, Columns]:
    """Return (the document without tasks and segments, tasks and segments as columns) of the text of the file ``name``.

    Raise `InputError` for a wrong text.
    """
    expected = f"{GRAPH.name}; numasim workload import reads other forms"
    with json_errors(text, name, expected), _without_collection():
        return _walked(JsonWalk(text))


@contextmanager
def _without_collection() -> Iterator[None]:
    """Suspend Python's garbage collector meanwhile: it would double the time of reading and find no garbage."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _walked(walk: JsonWalk) -> tuple[GraphFile, Columns]:
    """Return the result of `parsed`: the walk reads and checks the text entry by entry."""
    if not walk.begins("{"):
        _checked(GraphFile.model_validate, _sample(walk), ())
    parts: dict[str, Any] = {}
    tasks, segments = TaskColumns(), SegmentColumns()
    for key in walk.members():
        model, columns = ENTRIES.get(key), {"tasks": tasks, "segments": segments}.get(key)
        if key not in GraphFile.model_fields:
            _checked(GraphFile.model_validate, {key: None}, ())
        if columns and walk.begins("["):
            for number in walk.elements(columns.take):
                columns.add([_entry(walk, columns.model, (key, number))])
        elif model and walk.begins("["):
            parts[key] = []
            for number in walk.elements():
                if number == MOST_ENTRIES:
                    raise InputError(f"there are more than {MOST_ENTRIES:,}", path=(key,), expected="fewer")
                parts[key].append(_entry(walk, model, (key, number)))
        else:
            parts[key] = _value(walk, (key,))
    walk.end()
    return _checked(GraphFile.model_validate, parts, ()), columns_of(tasks, segments)


def _entry(walk: JsonWalk, model: type[E], path: FieldPath) -> E:
    """Return the checked entry at the position of the walk; the lists of a long entry are read item by item."""
    try:
        return _checked(model.model_validate, walk.value(WINDOW), path)
    except LongValueError:
        pass
    if not walk.begins("{"):
        _checked(model.model_validate, _sample(walk), path)
    parts: dict[str, Any] = {}
    lists: dict[str, list[Any]] = {}
    for key in walk.members():
        field = model.model_fields.get(key)
        if field and get_origin(field.annotation) is list and walk.begins("["):
            parts[key], lists[key] = [], _long_list(walk, get_args(field.annotation)[0], (*path, key))
        else:
            parts[key] = _value(walk, (*path, key))
    return _checked(model.model_validate, parts, path).model_copy(update=lists)


def _long_list(walk: JsonWalk, item: Any, path: FieldPath) -> list[Any]:
    """Return the checked items of a long list, such as the ops of a task that spawns a million tasks."""
    if item is PhaseEntry:
        return [_entry(walk, item, (*path, number)) for number in walk.elements()]
    found: list[Any] = []

    def take(batch: Batch) -> bool:
        try:
            found.extend(many(item).validate_python(batch.values))
        except ValidationError:
            return False
        return True

    check = TypeAdapter(item).validate_python
    for number in walk.elements(None if isinstance(item, type) else take):  # items that are objects come one by one
        found.append(_checked(check, _value(walk, (*path, number)), (*path, number)))
    return found


def _value(walk: JsonWalk, path: FieldPath) -> Any:
    """Return the value at the position of the walk, which is at ``path``."""
    try:
        return walk.value()
    except LongValueError as error:
        error.path = path
        raise


def _sample(walk: JsonWalk) -> Any:
    """Return the value that stands where an object is needed, for the error message; ``[[]]`` if it is too long."""
    try:
        return walk.value()
    except LongValueError:
        return [[]]


def _checked(check: Callable[[Any], T], value: Any, path: FieldPath) -> T:
    """Return the result of ``check`` for ``value`` at ``path``."""
    try:
        return check(value)
    except ValidationError as problem:
        raise _first(problem, path) from None


def _first(problem: ValidationError, path: FieldPath) -> InputError:
    """Return the first error of pydantic in the value at ``path`` as an `InputError`.

    Unknown keys come before missing keys, since an unknown key may be the missing key with a typing error.
    """
    errors = problem.errors(include_url=False, include_context=False)
    error = next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])
    path += tuple(error["loc"])
    if error["type"] == "extra_forbidden":
        known = known_keys(GraphFile, path[:-1])
        return InputError(f"there is no key {path[-1]!r}", path=path, value=path[-1], known=known)
    if error["type"] == "missing":
        return InputError("this key is missing", path=path, expected="a value for it")
    message = "a whole number is needed here" if error["type"] == "int_type" else error["msg"]
    return InputError(f"{message[0].lower()}{message[1:]}, not {shown(error['input'])}", path=path)
