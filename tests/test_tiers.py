"""Every test belongs to exactly one tier, and every entry of `tiers.py` is of use."""

from __future__ import annotations

from tiers import FOLDERS, LONGEST, MODULES, SLOW, TESTS, TIERS, tier_of

ALL = sorted(TESTS.rglob("test_*.py"))


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


def test_slow_tests_exist() -> None:
    """If a test is renamed and its entry is not, the test counts as fast."""
    sources = {module.relative_to(TESTS).as_posix(): module.read_text() for module in ALL}
    for entry in SLOW:
        module, _, test = entry.partition("::")
        assert f"def {test.partition('[')[0]}" in sources[module], entry
