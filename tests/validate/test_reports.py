"""The page of reports has the table that its program computes, and the sweeps are short."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "verification"))

from reports import FOLDER, HEADER, REPORTS, line, rows  # noqa: E402

PAGE = (ROOT / "docs" / "validation" / "reports.md").read_text("utf-8")


def test_rows_have_the_direction_and_the_numbers_of_the_page() -> None:
    computed = list(rows([]))
    assert len(computed) == len(REPORTS)
    assert [report.name for report, ratio in computed if (ratio > 1) != report.right] == []
    assert "\n".join([HEADER, *(line(*row) for row in computed)]) in PAGE


def test_each_sweep_is_short_and_on_the_page() -> None:
    sweeps = sorted(path.name for path in FOLDER.glob("*.yaml"))
    assert sweeps == sorted({f"{report.name}.yaml" for report in REPORTS})
    for name in sweeps:
        assert len((FOLDER / name).read_text("utf-8").splitlines()) <= 15
        assert f"{{literalinclude}} reports/{name}" in PAGE
