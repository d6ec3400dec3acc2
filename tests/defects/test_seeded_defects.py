"""The table of defects fits the sources, and a few are caught; `verification/seed_defects.py` goes through all."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "verification"))

from defect_table import Defect  # isort: skip
from native_defects import NATIVE_DEFECTS  # isort: skip
from seed_defects import REFERENCE_DEFECTS, REPOSITORY, catch, copy_to, passes_without_defect  # isort: skip

CHEAP = ("the latch of an announced queue is lost", "a probe looks before the work of its instant ends")


@pytest.mark.parametrize("defect", [*REFERENCE_DEFECTS, *NATIVE_DEFECTS], ids=lambda defect: defect.name)
def test_the_text_to_be_changed_occurs_once(defect: Defect) -> None:
    assert (REPOSITORY / defect.file).read_text().count(defect.old) == 1
    assert defect.old != defect.new
    assert all((REPOSITORY / "tests" / "engine" / test).exists() for test in defect.tests)


@pytest.mark.parametrize("table", [REFERENCE_DEFECTS, NATIVE_DEFECTS], ids=["Python", "C and C++"])
def test_names_are_distinct(table: tuple[Defect, ...]) -> None:
    assert len({defect.name for defect in table}) == len(table)


def test_a_few_are_caught_and_the_untouched_copy_passes(tmp_path: Path) -> None:
    few = [defect for defect in REFERENCE_DEFECTS if defect.name in CHEAP]
    assert len(few) == len(CHEAP)
    copy_to(tmp_path)
    passes_without_defect(few, tmp_path)
    for defect in few:
        assert catch(defect, tmp_path) is not None
    passes_without_defect(few, tmp_path)
