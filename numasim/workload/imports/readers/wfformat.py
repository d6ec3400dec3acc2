"""Workflow instances in WfFormat, versions 1.0 to 1.5 (WfCommons, once WorkflowHub).

Versions 1.0 to 1.2 have a list ``jobs``, versions 1.3 and 1.4 a list ``tasks``, with files, time and parents in each
entry. Version 1.5 has tasks and files under ``specification`` and times under ``execution``. The reader tells the
layout by these keys, not by the number of the version. Times are seconds. Sizes are bytes: the schemas before 1.4 say
KB, but WfCommons' own conversion to 1.4 takes the numbers for bytes, and the numbers in their files are bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from numasim.workload.imports.read_graph import UNITS_PS, ReadGraph, Where, shortened

FORMAT = "WfFormat"
KEYS = ("jobs", "tasks", "specification")
TIMES = ("runtimeInSeconds", "runtime")
SIZES = ("sizeInBytes", "size")
WORKFLOW = ("workflow",)
NOT_KNOWN = "which memory tasks use beside their files, nor how busy the cores of a task were"
FILE_USED = {"name", "id", "path", "link", *SIZES}
TASK_USED = {"name", "id", "category", "command", "files", "inputFiles", "outputFiles", "parents", "children", *TIMES}
JsonPath = tuple[str | int, ...]
Entry = tuple[JsonPath, dict[str, Any]]  # an entry of a list, and its path inside the document


def looks_like_wfformat(document: Any) -> bool:
    """Return whether a document of JSON has a workflow and is not one of numasim's own graphs."""
    return isinstance(document, dict) and "workflow" in document and not {"tasks", "segments"} & document.keys()


def read_wfformat(document: dict[str, Any], path: str) -> ReadGraph:
    """Return the graph of a document; raise InputError with the path inside the document for mistakes."""
    given = document.get("name")
    name = given if isinstance(given, str) and given else Path(path).stem
    graph = ReadGraph(path, FORMAT, name, Decimal(UNITS_PS["s"]), "seconds", NOT_KNOWN)
    workflow = object_at(graph, document, "workflow", ())
    if "specification" in workflow:
        _read_specification(graph, workflow)
    else:
        key = next((key for key in KEYS if key in workflow), None)
        if key is None:
            graph.refuse("the workflow has no tasks", f"one of the keys {', '.join(KEYS)}", WORKFLOW)
        _read_tasks(graph, listed(graph, workflow, key, WORKFLOW), (*WORKFLOW, key))
    return graph.finish()


def _read_tasks(graph: ReadGraph, tasks: list[Any], path: JsonPath) -> None:
    """Read versions 1.0 to 1.4, in which an entry has all data of a task."""
    entries = list(_entries(graph, tasks, path))
    called = [str(named(graph, entry, ("name", "id"), where)) for where, entry in entries]
    names = Counter(called)
    for name, (where, entry) in zip(called, entries, strict=True):
        key = name if names[name] == 1 or "id" not in entry else str(text_at(graph, entry, "id", where))
        kind = entry.get("category") or _program(entry) or _kind_of(name)
        task = graph.add_task(name, _first(entry, TIMES), where, str(kind), key)
        graph.take(entry, TASK_USED)
        for at, file in enumerate(listed(graph, entry, "files", where, needed=False)):
            _use_file(graph, task, file, (*where, "files", at))
    for task, (_, entry) in enumerate(entries):  # an id also refers to the task, unless another task has this name
        if isinstance(entry.get("id"), str | int):
            graph.numbers.setdefault(str(entry["id"]), task)
    _add_relatives(graph, entries)


def _use_file(graph: ReadGraph, task: int, file: Any, where: JsonPath) -> None:
    if not isinstance(file, dict):
        graph.refuse(f"got {shortened(file)}", "an object with name, size and link", where)
    graph.take((f"{key} of a file" for key in file), {f"{key} of a file" for key in FILE_USED})
    name = str(named(graph, file, ("name", "id"), where))
    path = file.get("path")
    called = f"{path.rstrip('/')}/{name}" if isinstance(path, str) and path else name
    used = graph.file(called, graph.size(_first(file, SIZES), name, where))
    link = file.get("link")
    if link not in ("input", "output"):
        graph.refuse(f"the link of {shortened(name)} is {shortened(link)}", "input or output", where)
    (used.writers if link == "output" else used.readers).append(task)


def _read_specification(graph: ReadGraph, workflow: dict[str, Any]) -> None:
    """Read version 1.5, in which tasks, files and times have lists of their own."""
    path = (*WORKFLOW, "specification")
    specification = object_at(graph, workflow, "specification", WORKFLOW)
    tasks = listed(graph, specification, "tasks", path)
    execution = object_at(graph, workflow, "execution", WORKFLOW) if workflow.get("execution") is not None else {}
    ran = listed(graph, execution, "tasks", (*WORKFLOW, "execution"), needed=False)
    runs: dict[str, tuple[Where, dict[str, Any]]] = {}
    for where, run in _entries(graph, ran, (*WORKFLOW, "execution", "tasks")):
        key = str(named(graph, run, ("id",), where))
        if key in runs:
            graph.refuse(f"the execution of {shortened(key)} is there twice", "each task once", where)
        runs[key] = where, run
    entries = list(_entries(graph, tasks, (*path, "tasks")))
    for where, entry in entries:
        key = str(named(graph, entry, ("id", "name"), where))
        place, run = runs.pop(key, (where, {}))
        graph.take(entry, TASK_USED)
        graph.take(run, TASK_USED)
        name = entry.get("name")
        kind = _program(run) or _kind_of(name if isinstance(name, str) and name else key)
        graph.add_task(key, graph.time(_first(run, TIMES), key, place), where, kind)
    for key, (place, _) in runs.items():
        graph.task(key, "an entry of the execution", place)
    _use_files(graph, specification, entries, path)
    names = Counter(entry.get("name") for _, entry in entries if isinstance(entry.get("name"), str))
    for task, (_, entry) in enumerate(entries):  # a name of a single task, which is no id, also refers to the task
        if names.get(entry.get("name"), 0) == 1:
            graph.numbers.setdefault(entry["name"], task)
    _add_relatives(graph, entries)


def _use_files(graph: ReadGraph, specification: dict[str, Any], entries: list[Entry], path: JsonPath) -> None:
    sizes = {}
    for where, file in _entries(graph, listed(graph, specification, "files", path, needed=False), (*path, "files")):
        name = str(named(graph, file, ("id", "name"), where))
        sizes[name] = graph.size(_first(file, SIZES), name, where)
    for task, (where, entry) in enumerate(entries):
        for key in ("inputFiles", "outputFiles"):
            for at, name in enumerate(listed(graph, entry, key, where, needed=False)):
                if not isinstance(name, str):
                    graph.refuse(f"got {shortened(name)}", "the id of a file", (*where, key, at))
                used = graph.file(name, sizes.get(name, 0))
                (used.readers if key == "inputFiles" else used.writers).append(task)


def _add_relatives(graph: ReadGraph, entries: list[Entry]) -> None:
    for task, (where, entry) in enumerate(entries):
        for key in ("parents", "children"):
            for at, other in enumerate(listed(graph, entry, key, where, needed=False)):
                place = (*where, key, at)
                found = graph.task(str(other), f"the task {shortened(graph.names[task])}", place)
                if found == task:
                    graph.refuse(f"the task {shortened(other)} waits for itself", "a graph without cycles", place)
                graph.edges.append((found, task) if key == "parents" else (task, found))


def _entries(graph: ReadGraph, entries: list[Any], path: JsonPath) -> Iterator[Entry]:
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            graph.refuse(f"got {shortened(entry)}", "an object", (*path, number))
        yield (*path, number), entry


def _first(entry: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((entry[key] for key in keys if entry.get(key) is not None), None)


def _program(entry: dict[str, Any]) -> str:
    command = entry.get("command")
    program = command.get("program") if isinstance(command, dict) else None
    return program if isinstance(program, str) else ""


def _kind_of(name: str) -> str:
    """Return a task's name without the number at its end."""
    return name.rstrip("0123456789").rstrip("_-. ID") or name


# ---- Parts of a document of JSON, checked for the expected type -----------------------------------------


def object_at(graph: ReadGraph, parent: dict[str, Any], key: str, path: JsonPath) -> dict[str, Any]:
    """Return the object under a key; InputError for anything else."""
    found = parent.get(key)
    if not isinstance(found, dict):
        graph.refuse(f"got {shortened(found)}", "an object", (*path, key))
    return found


def listed(graph: ReadGraph, parent: dict[str, Any], key: str, path: JsonPath, *, needed: bool = True) -> list[Any]:
    """Return the list under a key; an empty list if there is no such key and the list is not ``needed``."""
    found = parent.get(key)
    if found is None and not needed:
        return []
    if not isinstance(found, list):
        graph.refuse("this key is missing" if found is None else f"got {shortened(found)}", "a list", (*path, key))
    return found


def named(graph: ReadGraph, entry: dict[str, Any], keys: tuple[str, ...], path: JsonPath) -> str | int:
    """Return the name of an entry: the text or whole number under the first of ``keys`` in the entry."""
    for key in keys:
        if entry.get(key) not in (None, ""):
            return text_at(graph, entry, key, path)
    graph.refuse(f"this entry has no {keys[0]}", f"the key {keys[0]}", path)


def text_at(graph: ReadGraph, entry: dict[str, Any], key: str, path: JsonPath) -> str | int:
    """Return the text or whole number under a key."""
    found = entry.get(key)
    if isinstance(found, bool) or not isinstance(found, str | int):
        graph.refuse(f"got {shortened(found)}", "a text", (*path, key))
    return found
