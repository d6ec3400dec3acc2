"""The table of defects fits the sources, and a few are caught; `verification/seed_defects.py` goes through all."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "verification"))

from defect_table import DEFECTS, Defect  # isort: skip
from seed_defects import REPOSITORY, catch, passes_without_defect  # isort: skip

CHEAP = ("the latch of an announced queue is lost", "a probe looks before the work of its instant ends")


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_the_text_to_be_changed_occurs_once(defect: Defect) -> None:
    assert (REPOSITORY / defect.file).read_text().count(defect.old) == 1
    assert defect.old != defect.new
    assert all((REPOSITORY / "tests" / "engine" / test).exists() for test in defect.tests)


def test_names_are_distinct() -> None:
    assert len({defect.name for defect in DEFECTS}) == len(DEFECTS)


def test_the_untouched_copy_passes() -> None:
    passes_without_defect([defect for defect in DEFECTS if defect.name in CHEAP])


@pytest.mark.parametrize("name", CHEAP)
def test_a_seeded_defect_is_caught(name: str) -> None:
    (defect,) = [each for each in DEFECTS if each.name == name]
    assert catch(defect) is not None
