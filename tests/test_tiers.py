"""Every test belongs to exactly one tier, and a tier can be run without importing the modules of the others."""

from __future__ import annotations

import re

import pytest
from tiers import FOLDERS, LONGEST, MODULES, TESTS, TIERS, asked_for, tier_of

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


@pytest.mark.parametrize(
    ("expression", "tiers"),
    [
        ("unit", {"unit"}),
        ("unit or theory", {"unit", "theory"}),
        ("", TIERS),
        ("not system", TIERS),
        ("unit and not theory", TIERS),
    ],
)
def test_only_what_cannot_be_selected_is_left_out(expression: str, tiers: set[str]) -> None:
    assert asked_for(expression) == set(tiers)
