"""The modules of the reference engine import each other in the order of the list in the package's docstring.

Ruff checks that no component uses private parts of another component, and that only the clock and actors know SimPy.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numasim.engine.reference

INSIDE = "numasim.engine.reference."
REFERENCE = Path(numasim.engine.reference.__file__).parent


def steps() -> dict[str, int]:
    """Return the number of the step of the page in which each module is named first."""
    page = numasim.engine.reference.__doc__
    assert page is not None
    numbered = page[page.index("1. ") : page.index("Three calls")]
    found: dict[str, int] = {}
    for number, part in enumerate(re.split(r"^\d+\. ", numbered, flags=re.MULTILINE)[1:]):
        for name in re.findall(r"`([a-z_/]+)`", part):
            found.setdefault(name, number)
    return found


def test_a_module_knows_only_steps_that_are_read_before() -> None:
    step = steps()
    modules = {path: path.relative_to(REFERENCE).with_suffix("").as_posix() for path in REFERENCE.rglob("[!_]*.py")}
    assert sorted(step) == sorted(modules.values())
    for path, name in modules.items():
        nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        known = [
            str(node.module).removeprefix(INSIDE).replace(".", "/") for node in nodes if INSIDE in f"{node.module}."
        ]
        assert all(step[other] <= step[name] for other in known), name
