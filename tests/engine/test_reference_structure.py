"""The reference engine is composed: no inherited state, one clock, imports in the order of its page.

That no component reaches into another, and that SimPy is known to the clock and its actors alone, ruff holds.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import numasim.engine.reference

ENGINE = Path(__file__).resolve().parents[2] / "numasim" / "engine"
REFERENCE = ENGINE / "reference"
PREFIX = "numasim.engine."
MODULES = sorted(path for path in REFERENCE.rglob("*.py") if path.stem != "__init__")
each_module = pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def engine_imports(path: Path) -> set[str]:
    """The modules of the engine that a module imports, late imports and those for type checking included."""
    nodes = [node for node in ast.walk(tree(path)) if isinstance(node, ast.ImportFrom) and node.module]
    return {str(node.module) for node in nodes if str(node.module).startswith(PREFIX)}


def written(node: ast.AST) -> Iterator[ast.Attribute]:
    """The attributes that a statement writes."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For | ast.NamedExpr):
        targets = [node.target]
    for target in targets:
        yield from (
            each for each in ast.walk(target) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)
        )


# ---- the page ------------------------------------------------------------------------------------------------------


def reading_order() -> list[str]:
    """The modules in the order in which the package's page names them first, as paths below the package."""
    page = numasim.engine.reference.__doc__
    assert page is not None
    numbered = page[page.index("1. ") : page.index("Three calls")]
    return list(dict.fromkeys(re.findall(r"`([a-z_/]+)`", numbered)))


def name_on_the_page(path: Path) -> str:
    return path.relative_to(REFERENCE).with_suffix("").as_posix()


def test_the_page_names_every_module() -> None:
    assert sorted(reading_order()) == sorted(map(name_on_the_page, MODULES))


def steps() -> dict[str, int]:
    """The number of the step of the page in which each module is named first."""
    page = numasim.engine.reference.__doc__
    assert page is not None
    numbered = page[page.index("1. ") : page.index("Three calls")]
    parts = re.split(r"^\d+\. ", numbered, flags=re.MULTILINE)[1:]
    found: dict[str, int] = {}
    for number, part in enumerate(parts):
        for name in re.findall(r"`([a-z_/]+)`", part):
            found.setdefault(name, number)
    return found


@each_module
def test_a_module_knows_only_steps_that_are_read_before(path: Path) -> None:
    step = steps()
    mine = step[name_on_the_page(path)]
    inside = "numasim.engine.reference."
    names = [name.removeprefix(inside).replace(".", "/") for name in engine_imports(path) if name.startswith(inside)]
    assert all(step[name] <= mine for name in names), names


# ---- state ---------------------------------------------------------------------------------------------------------


def classes() -> dict[str, list[ast.ClassDef]]:
    found: dict[str, list[ast.ClassDef]] = {}
    for path in ENGINE.rglob("*.py"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(node)
    return found


def has_state(definition: ast.ClassDef) -> bool:
    """Whether instances get attributes from the class: fields, slots, or what its methods write."""
    if any(isinstance(node, ast.Assign | ast.AnnAssign) for node in definition.body):
        return True
    return any(True for node in ast.walk(definition) for _ in written(node))


def test_no_class_inherits_state_from_another_of_the_engine() -> None:
    known = classes()
    for definitions in known.values():
        for definition in definitions:
            for base in definition.bases:
                for other in known.get(ast.unparse(base).split("[")[0], []):
                    assert not has_state(other), f"{definition.name} inherits the state of {other.name}"


@each_module
def test_the_clock_alone_writes_the_time_and_pending_events(path: Path) -> None:
    names = {attribute.attr for node in ast.walk(tree(path)) for attribute in written(node)}
    theirs = names & {"now", "due", "rank", "callbacks"}
    assert not theirs or path.stem == "clock"
