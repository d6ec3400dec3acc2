"""The page that leads to the reports of several studies: the scores of each, beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numasim
from numasim.report.figures.embedded import embedded, svg_text
from numasim.reproduce.figures.score_figure import score_figure
from numasim.reproduce.findings import Findings
from numasim.reproduce.pages.learned_text import filled
from numasim.reproduce.pages.report_environment import report_environment
from numasim.reproduce.pages.report_folder import PAGE


@dataclass(frozen=True)
class Reported:
    """A study whose report is in the folder of its name, beside the page."""

    name: str
    findings: Findings

    @property
    def page(self) -> str:
        """Where the report is."""
        return f"{self.name}/{PAGE}"

    @property
    def learned(self) -> tuple[str, ...]:
        """What to say first."""
        return filled(self.findings.learned, self.findings.scores)

    @property
    def picture(self) -> str:
        """The score sheet."""
        return embedded(svg_text(score_figure(self.findings.scores)))


def studies_page(reported: Sequence[Reported]) -> str:
    """The page of these studies, in their order."""
    quick = any(each.findings.quick for each in reported)
    page = report_environment(escaped=True).get_template("studies.html.jinja")
    return page.render(reported=reported, quick=quick, version=numasim.__version__)
