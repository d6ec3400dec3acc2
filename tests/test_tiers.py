"""Every test belongs to exactly one tier, and a tier can be run without importing the modules of the others."""

from __future__ import annotations

import re

import pytest
from tiers import FOLDERS, LONGEST, MODULES, SLOW, TESTS, TIERS, asked_for, is_slow, tier_of

ALL = sorted(TESTS.rglob("test_*.py"))
OWN_MARKER = re.compile(rf"pytest\.mark\.({'|'.join(TIERS)})\b")


def test_every_module_has_a_tier() -> None:
    assert {tier_of(module) for module in ALL} == set(TIERS)


def test_every_entry_is_of_use() -> None:
    names = {module.relative_to(TESTS).as_posix(): module for module in ALL}
    assert MODULES.keys() <= names.keys()
    assert {*LONGEST} <= names.keys()
    assert FOLDERS.keys() == {module.parent.relative_to(TESTS).as_posix() for module in ALL}
    assert [
        name for name, tier in MODULES.items() if tier == FOLDERS[names[name].parent.relative_to(TESTS).as_posix()]
    ] == []


def test_no_module_gives_its_tests_a_tier_itself() -> None:
    assert [module.name for module in ALL if OWN_MARKER.search(module.read_text())] == []


def test_every_test_has_one_marker_of_a_tier(request: pytest.FixtureRequest) -> None:
    for item in request.session.items:
        assert [marker.name for marker in item.iter_markers() if marker.name in TIERS] == [tier_of(item.path)]


def test_slow_tests_exist() -> None:
    """An entry of a test that was renamed would put that test among the fast ones."""
    sources = {module.relative_to(TESTS).as_posix(): module.read_text() for module in ALL}
    for entry in SLOW:
        module, _, test = entry.partition("::")
        assert f"def {test.partition('[')[0]}" in sources[module], entry


def test_a_slow_test_is_one_that_begins_with_an_entry() -> None:
    assert is_slow(TESTS / "runtime/test_threads.py", "test_every_strategy_runs_every_task_once[tied]")
    assert not is_slow(TESTS / "runtime/test_threads.py", "test_eight_threads_never_hang")


@pytest.mark.parametrize(
    ("expression", "module", "selected"),
    [
        ("unit", "engine/test_joins.py", True),
        ("equality", "engine/test_joins.py", False),
        ("unit or equality", "engine/test_joins.py", True),
        ("equality or theory", "engine/test_joins.py", False),
        ("slow", "engine/test_joins.py", False),
        ("not slow", "engine/test_joins.py", True),
        ("not slow", "package/test_wheel.py", False),
        ("slow", "package/test_wheel.py", True),
        ("slow", "runtime/test_threads.py", True),
        ("not slow", "runtime/test_threads.py", True),
        ("(unit or theory) and not slow", "package/test_wheel.py", False),
        ("(equality or theory) and not slow", "engine/test_joins.py", False),
        (
            "equality or theory and not slow",
            "package/test_wheel.py",
            True,
        ),  # not of the usual forms: nothing is left out
        ("", "package/test_wheel.py", True),
    ],
)
def test_only_modules_that_cannot_be_selected_are_left_out(expression: str, module: str, selected: bool) -> None:
    assert asked_for(TESTS / module, expression) == selected
