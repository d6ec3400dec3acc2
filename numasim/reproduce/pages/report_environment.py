"""The templates of reports, with the words and numbers that all of them write alike."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from numasim.html.page_templates import page_environment
from numasim.reproduce.figures.table_figure import shown_groups
from numasim.reproduce.pages import number_text, table_layout
from numasim.reproduce.pages.ceiling_text import bound_sentence
from numasim.reproduce.pages.markdown_text import markdown_text
from numasim.reproduce.pages.report_folder import file_stem
from numasim.reproduce.score.metrics import METRICS
from numasim.reproduce.score.questions import QUESTIONS
from numasim.reproduce.table_cells import READING_ROLES, Role

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")


def report_environment(*, escaped: bool) -> Environment:
    """The templates of pages, or of Markdown, which is not escaped."""
    environment = page_environment(TEMPLATES, escaped=escaped)
    environment.globals |= {
        "texts": number_text,
        "layout": table_layout,
        "METRICS": METRICS,
        "QUESTIONS": QUESTIONS,
        "Role": Role,
        "READING_ROLES": READING_ROLES,
        "file_stem": file_stem,
        "shown": shown_groups,
        "bound_sentence": bound_sentence,
        "m": markdown_text,
    }
    return environment
