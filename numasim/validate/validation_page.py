"""The report of a validation as files: validation.csv, and index.html, which needs no other file.

Each file is whole or absent; the page is written last.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from numasim.files.owned_folder import owned_folder
from numasim.html.page_templates import page_environment
from numasim.report.figures.embedded import embedded, svg_text
from numasim.validate import verdict_text
from numasim.validate.comparison_tables import validation_csv
from numasim.validate.figure import comparison_figure
from numasim.validate.measured_on import measurement_origin
from numasim.validate.run_store import PAGE, TABLE, VALIDATION
from numasim.validate.run_validation import PartFindings
from numasim.validate.validated_quantities import QUANTITIES

TEMPLATES = Path(__file__).with_name("templates")


def write_pages(every: Sequence[PartFindings], directory: Path) -> Path:
    """Write table and page to ``directory``, and return the page. InputError where that cannot be done."""
    with owned_folder(directory, VALIDATION) as folder:
        folder.write({TABLE: validation_csv(every).encode(), PAGE: page(every).encode()})
    return directory / PAGE


def page(every: Sequence[PartFindings]) -> str:
    """Return the whole page."""
    pictures = {found.part.name: embedded(svg_text(comparison_figure(found))) for found in every if found.comparisons}
    environment = page_environment(TEMPLATES)
    environment.globals |= {"texts": verdict_text, "QUANTITIES": QUANTITIES}
    return environment.get_template("validation.html.jinja").render(
        every=every, pictures=pictures, where=measurement_origin(), met=all(found.met for found in every)
    )
