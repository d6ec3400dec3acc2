"""Reads the parts of a run (machine, strategy, runtime) as a specification gives them: by a shipped name, a path, or a
mapping.

A mapping or file with ``like: NAME`` starts from the part NAME, over which its own keys are laid
(`numasim.spec.part_merge`). In a specification, ``{name: NAME, ...}`` with a shipped NAME means the same. A machine or
strategy that is a Python object stands for the mapping that describes the object, also behind ``like``. A document is a
YAML text as a tree of values with their places.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from numasim.errors import InputError
from numasim.files.reader import is_file
from numasim.parts import catalog
from numasim.parts.base import Model
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.runtime_model import RuntimeSpec
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.python_function import PythonFunction, is_python_function
from numasim.parts.validation import placed
from numasim.parts.yaml.document import load
from numasim.parts.yaml.nodes import Held, Node, from_python, shown
from numasim.spec.part_merge import laid_over
from numasim.strategy.control.loaded_controller import PATH, check_source
from numasim.strategy.control.task_control import check_labels

# ---- The functions that a strategy names -----------------------------------------------------------------------------
#
# A strategy may name a function of labels (which says for which unit each task is meant), registered by name, and a
# controller, called between two iterations. A file names a controller by a path from the file's folder. Reading the
# strategy turns this path into a name that is valid in any folder, and executes no code.


def with_named_functions(part: str, document: Node) -> Node:
    """Return ``document`` of a ``part``, in which a strategy's ``tune.python`` names the controller by its file.

    Raises InputError if there is no such controller, if it takes other arguments, or if the strategy's ``labels`` name
    no registered function. A value of ``tune.python`` that is no name of a function stays as it is.
    """
    if part != "strategy":
        return document
    labels = document.child("labels")
    if labels is not None and isinstance(labels.content, str):
        try:
            check_labels(labels.content)
        except InputError as error:
            raise placed(error, document, (part,)) from None
    return _with_located_controller(document)


def _with_located_controller(document: Node) -> Node:
    node = document.follow(PATH)
    if node is None or not isinstance(node.content, str) or not is_python_function(node.content):
        return document
    try:
        function = PythonFunction.of(node.content, node.place.source.folder)
        check_source(function)
    except InputError as error:
        error.path = PATH
        raise placed(error, document, ("strategy",)) from None
    tune = document.mapping()["tune"]
    located = tune.replaced("python", Node(function.text, node.place), tune.keys["python"])
    return document.replaced("tune", located, document.keys["tune"])


PARTS: dict[str, type[Model]] = {"machine": MachineSpec, "strategy": StrategySpec, "runtime": RuntimeSpec}
CATALOG = {"machine": "machines", "strategy": "strategies", "runtime": "runtimes"}


@cache
def _shipped_document(file: Path, _changed_ns: int) -> Node:
    """Return the document in a shipped file, which is read again only after a change."""
    return load(file)


def is_shipped_file(file: Path) -> bool:
    """Return whether a file is in a folder of shipped parts."""
    return file.parent in map(catalog.folder, CATALOG.values())


def shipped_file(part: str, node: Node) -> Path | None:
    """Return the shipped file that ``node`` names, or None if ``node`` is no shipped name."""
    if not isinstance(node.content, str) or catalog.is_path(node.content):
        return None
    file = catalog.folder(CATALOG[part]) / f"{node.content}.yaml"
    return file if is_file(file) else None


@dataclass
class PartReader:
    """Expands parts to whole mappings, without ``like``; every file is read once."""

    files: dict[Path, Node] = field(default_factory=dict)

    def expand(self, part: str, node: Node) -> Node:
        """Return the mapping of a ``part`` (machine, strategy, runtime) that ``node`` names or is, without ``like``."""
        return with_named_functions(part, self._whole(part, node))

    def _whole(self, part: str, node: Node) -> Node:
        if isinstance(node.content, str | Held):
            return self._named(part, node, (part,), ())
        content = node.mapping((part,), f"the name of a {part}, a path or a mapping")
        name = content.get("name")
        shipped = name if name and name.content in catalog.names(CATALOG[part]) else None
        return self._onto(part, node, content.get("like") or shipped, ())

    def _onto(self, part: str, node: Node, base: Node | None, chain: tuple[Path, ...]) -> Node:
        if base is None:
            return node
        return laid_over(self._named(part, base, (part, "like"), chain), node.without("like"), PARTS[part])

    def _named(self, part: str, name: Node, path: tuple[str, ...], chain: tuple[Path, ...]) -> Node:
        if isinstance(name.content, Held) and name.content.part == part:
            return from_python(name.content.specified(), name.place)
        if not isinstance(name.content, str):
            expected = f"the name of a {part} or a path"
            raise InputError(f"got {shown(name.plain())}", path=path, place=name.place, expected=expected)
        try:
            file = catalog.find(CATALOG[part], name.content, name.place.source.folder)
        except InputError as error:
            raise placed(error, name, path) from None
        document = self._read(file, name)
        here = Path(os.path.realpath(file))
        if here in chain:
            circle = " -> ".join(each.stem for each in (*chain[chain.index(here) :], here))
            problem = f"the {part} refers to itself in a cycle: {circle}"
            raise InputError(problem, path=path, place=name.place, expected="a chain of like that ends")
        whole = self._onto(part, document, document.mapping((part,)).get("like"), (*chain, here))
        if "name" in document.mapping():
            return whole
        return whole.replaced("name", Node(file.stem, whole.place), whole.place)

    def _read(self, file: Path, name: Node) -> Node:
        if file not in self.files:
            shipped = is_shipped_file(file) and is_file(file)
            self.files[file] = _shipped_document(file, file.stat().st_mtime_ns) if shipped else load(file, name.place)
        return self.files[file]
