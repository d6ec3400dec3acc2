"""The text of reference pages: links to the model, types, units, defaults."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "_extensions"))

from markdown_text import prose, table
from model_links import readings, register, sections, slug, with_links
from reference_models import rows_of, title_of

from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.runtime_model import CostSpec, RuntimeSpec
from numasim.parts.models.search_model import LevelSpec


def test_sections_of_the_model_become_links_from_any_folder() -> None:
    page, name = sections()["2.5"]
    assert page == "model/machine.md"
    assert name == slug("2.5 The time of a segment, and contention") == "25-the-time-of-a-segment-and-contention"
    assert with_links("See model 2.5.", "reference/run") == f"See [model 2.5](../{page}#{name})."
    assert with_links("See A-7.", "glossary") == "See [A-7](model/scheduling.md#a-7)."
    assert with_links("a task (2.5)", "glossary") == f"a task ([2.5]({page}#{name}))"


def test_lists_of_sections_become_links_to_their_chapters() -> None:
    reference, lock = sections()["2.9"].name, sections()["5.2"].name
    text = with_links("model 2.9 and 5.2, of 12 workers", "concepts/stealing")
    assert text == f"[model 2.9](../model/machine.md#{reference}) and [5.2](../model/locks.md#{lock}), of 12 workers"


def test_chapters_of_the_model_link_to_each_other() -> None:
    sharing, locks = sections()["2.9"].name, sections()["5.2"].name
    assert with_links("shared (2.9; A-4), see section 5.2.", "model/machine") == (
        f"shared ([2.9](#{sharing}); [A-4](scheduling.md#a-4)), see [section 5.2](locks.md#{locks})."
    )
    assert with_links("LAWS, section 5.2, and (Souris 2020, section 2.9)", "model/time") == (
        "LAWS, section 5.2, and (Souris 2020, section 2.9)"
    )


def test_rows_of_readings_are_places_and_make_the_register() -> None:
    assert with_links("| A-4 | who | 1 |", "model/scheduling") == "| [A-4]{#a-4} | who | 1 |"
    lines = register().splitlines()
    assert len(lines) == 2 + len(readings())
    assert lines[2].startswith("| [A-1](workloads.md#a-1) | Who creates")


@pytest.mark.parametrize(
    "text",
    ["`model 2.5`", "[model 2.5](x.md)", "# Model 2.5", "```text\nmodel 2.5\n```", "the year (2.5)", "model 99.9"],
)
def test_code_links_headings_and_other_numbers_stay(text: str) -> None:
    assert with_links(text, "start/index") == text


def test_columns_without_text_are_left_out() -> None:
    assert (
        table(("a", "b", "c"), [("1", "", "x|y"), ("2", "", "")])
        == "| a | c |\n| --- | --- |\n| 1 | x\\|y |\n| 2 |  |\n"
    )


def test_prose_keeps_literals_and_no_other_markup() -> None:
    assert prose("``max`` and *S* of `min_x`, <b>") == "`max` and \\*S\\* of `min_x`, \\<b\\>"


def row(model: type, field: str) -> tuple[str, ...]:
    return next(row for row in rows_of(model) if row[0] == f"`{field}`")


def test_a_field_is_shown_as_users_write_it() -> None:
    assert row(LevelSpec, "from")[1:4] == ("word or [vicinity](#vicinity)", "needed", "")
    assert row(LevelSpec, "leave")[1:4] == ("whole number from 0 below 32,768", "`0`", "")
    assert row(CostSpec, "line")[1:4] == ("word", "`no`", "")
    assert row(CostSpec, "probe_ns")[2:4] == ("`100`", "ns")
    assert row(MachineSpec, "page")[1:4] == ("whole number or size", "`4KiB`", "B")
    assert "<br>`lifo-fifo`: " in row(RuntimeSpec, "queue_order")[4]
    assert title_of(LevelSpec) == "Level"
