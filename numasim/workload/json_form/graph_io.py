"""Task graphs as JSON files: read, check, write; what is read equals what was written, array for array.

A task is its ops (``["run", segment]``, ``["spawn", task]``, ``["call", task]``, ``["wait"]``, ``["group"]``,
``["end_group"]``, and ``["lock", number]`` and the other synchronisation ops) and the tasks that wait for it
(``then``). Kernels and regions are referred to by name; tasks, segments, synchronisation objects (``words``) and ranges
by position. A key that is left out has the default of `graph_models`; without ``phases`` all tasks that no task spawns
start together.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

import numpy as np
from pydantic import TypeAdapter, ValidationError

from numasim.errors import InputError
from numasim.files.bounded_json import json_errors
from numasim.files.reader import GRAPH, read_text
from numasim.files.walked_json import WINDOW, Batch, JsonWalk, LongValueError
from numasim.files.writer import write_text
from numasim.parts.base import Model
from numasim.parts.yaml.nodes import FieldPath, shown
from numasim.workload.graph import Workload
from numasim.workload.graph_rules import validate
from numasim.workload.json_form.from_json_form import Columns, to_workload
from numasim.workload.json_form.graph_columns import (
    SegmentColumns,
    TaskColumns,
    UnusualError,
    columns_of,
    indices,
    op_columns,
    segment_entry,
    task_entry,
)
from numasim.workload.json_form.graph_models import (
    ENTRIES,
    GraphFile,
    Index,
    OpEntry,
    PhaseEntry,
    SegmentEntry,
    TaskEntry,
)
from numasim.workload.json_form.to_json_form import text_of

__all__ = ["of_text", "parsed", "read", "text_of", "unchecked", "write"]

T = TypeVar("T")
E = TypeVar("E", bound=Model)
MOST_ENTRIES = 100_000  # regions, phases, ranges or synchronisation objects; of tasks and segments there may be more
PLAIN: dict[Any, Callable[[list[Any]], Any]] = {Index: indices, OpEntry: op_columns}  # items and their columns


def write(workload: Workload, path: Path) -> None:
    """Write ``workload`` to ``path``; an `InputError` if that cannot be done."""
    write_text(path, text_of(workload))


def read(path: Path) -> Workload:
    """The checked workload in ``path``; every `InputError` names the file, and the line or the field."""
    return of_text(read_text(path, GRAPH), str(path))


def of_text(text: str, name: str) -> Workload:
    """The checked workload of ``text``, the contents of the file ``name``; InputError as for `read`."""
    file, columns = parsed(text, name)
    try:
        workload = to_workload(file, columns)
        validate(workload)
    except InputError as problem:
        problem.place = problem.place or name
        raise
    return workload


def unchecked(document: Mapping[str, Any]) -> Workload:
    """The workload of a document whose entries are right; whether it is well-formed as a whole, `validate` says."""
    return to_workload(*parsed(json.dumps(document), "this document"))


def parsed(text: str, name: str) -> tuple[GraphFile, Columns]:
    """The entries of ``text``, the file ``name``, tasks and segments as columns; an `InputError` for wrong ones."""
    expected = f"{GRAPH.name}; numasim workload import reads other forms"
    with json_errors(text, name, expected), _without_collection():
        return _walked(JsonWalk(text))


@contextmanager
def _without_collection() -> Iterator[None]:
    """Let Python not look for circles of references again and again while it makes a million entries, which have none:
    that takes as long as everything else.
    """
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _walked(walk: JsonWalk) -> tuple[GraphFile, Columns]:
    """The file; each entry is checked before those after it, and tasks and segments are columns."""
    if not walk.begins("{"):
        _checked(GraphFile.model_validate, _sample(walk), ())
    parts: dict[str, Any] = {}
    tasks, segments = TaskColumns(), SegmentColumns()
    for key in walk.members():
        model = ENTRIES.get((key,))
        if key not in GraphFile.model_fields:
            _checked(GraphFile.model_validate, {key: None}, ())
        if model is TaskEntry and walk.begins("["):
            for number in walk.elements(tasks.take):
                _add_task(walk, tasks, (key, number))
        elif model is SegmentEntry and walk.begins("["):
            for number in walk.elements(segments.take):
                segments.add(segment_entry(_entry(walk, SegmentEntry, (key, number))))
        elif model and walk.begins("["):
            parts[key] = [_entry(walk, model, (key, number)) for number in _few(walk.elements(), key)]
        else:
            parts[key] = _value(walk, (key,))
    walk.end()
    return _checked(GraphFile.model_validate, parts, ()), columns_of(tasks, segments)


def _few(numbers: Iterator[int], key: str) -> Iterator[int]:
    """The same numbers; `InputError` for too many."""
    for number in numbers:
        if number == MOST_ENTRIES:
            raise InputError(f"there are more than {MOST_ENTRIES:,}", path=(key,), expected="fewer")
        yield number


def _add_task(walk: JsonWalk, tasks: TaskColumns, path: FieldPath) -> None:
    try:
        tasks.add(task_entry(_checked(TaskEntry.model_validate, walk.value(WINDOW), path)))
    except LongValueError:
        parts, lists = _long_entry(walk, TaskEntry, path)
        tasks.add_long(parts.get("kind", "task"), lists.get("ops", ()), lists.get("then", ()))


def _entry(walk: JsonWalk, model: type[E], path: FieldPath) -> E:
    try:
        return _checked(model.model_validate, walk.value(WINDOW), path)
    except LongValueError:
        parts, lists = _long_entry(walk, model, path)
        if "roots" in lists:
            lists["roots"] = np.concatenate([indices([]), *lists["roots"]]).tolist()
        return _checked(model.model_validate, parts, path).model_copy(update=lists)


def _long_entry(walk: JsonWalk, model: type[Model], path: FieldPath) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """An entry that is not composed as a whole, with empty lists, and what `_long_list` has of these."""
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
    _checked(model.model_validate, parts, path)
    return parts, lists


def _long_list(walk: JsonWalk, item: Any, path: FieldPath) -> list[Any]:
    """The items of a list, such as the ops of a task that spawns a million, each checked by itself: as models, or in
    columns, many at once.
    """
    check = TypeAdapter(item).validate_python
    if item not in PLAIN:
        return [_item(walk, item, check, (*path, number)) for number in walk.elements()]
    columns_of_items = PLAIN[item]
    found: list[Any] = []

    def take(batch: Batch) -> bool:
        try:
            found.append(columns_of_items(batch.values))
        except (UnusualError, TypeError, KeyError, OverflowError):
            return False
        return True

    for number in walk.elements(take):
        value = _value(walk, (*path, number))
        _checked(check, value, (*path, number))
        found.append(columns_of_items([value]))
    return found


def _item(walk: JsonWalk, item: Any, check: Callable[[Any], Any], path: FieldPath) -> Any:
    return _entry(walk, item, path) if item is PhaseEntry else _checked(check, _value(walk, path), path)


def _value(walk: JsonWalk, path: FieldPath) -> Any:
    """The value at ``path``, at which the walk is."""
    try:
        return walk.value()
    except LongValueError as error:
        error.path = path
        raise


def _sample(walk: JsonWalk) -> Any:
    """What is there in place of an object, or something that an error calls the same."""
    try:
        return walk.value()
    except LongValueError:
        return [[]]


def _checked(check: Callable[[Any], T], value: Any, path: FieldPath) -> T:
    """What ``check`` makes of ``value``, which stands at ``path``."""
    try:
        return check(value)
    except ValidationError as problem:
        raise _first(problem, path) from None


def _first(problem: ValidationError, path: FieldPath) -> InputError:
    """The first error of pydantic in the value at ``path`` as an `InputError`; an unknown key before one that is
    missing, whose name it may be meant for.
    """
    errors = problem.errors(include_url=False, include_context=False)
    error = next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])
    path += tuple(error["loc"])
    if error["type"] == "extra_forbidden":
        known = GraphFile.known_keys(path)
        return InputError(
            f"there is no key {path[-1]!r}",
            path=path,
            expected=f"one of {', '.join(known)}",
            value=path[-1],
            known=known,
        )
    if error["type"] == "missing":
        return InputError("this key is missing", path=path, expected="a value for it")
    message = error["msg"].removeprefix("Value error, ")
    return InputError(f"{message[0].lower()}{message[1:]}, not {shown(error['input'])}", path=path)
