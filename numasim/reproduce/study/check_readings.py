"""Checks that readings of a study name tables, programs, rows and variants that it has."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from numasim.reproduce.study.contents import Study
from numasim.reproduce.study.names import check_names


def check_readings(study: Study) -> None:
    """Raise `InputError` for the first unknown name in ``readings:``."""
    for name in study.file.readings:
        _check_reading(study, name)


def _check_reading(study: Study, name: str) -> None:
    reading = study.file.readings[name]
    programs = [each.file for key, each in study.programs.items() if not reading.programs or key in reading.programs]
    known: Mapping[str, Collection[str]] = {
        "table": study.tables,
        "program": study.programs,
        "row": [row for each in programs for row in each.rows],
        "variant": [variant for each in programs for variant in each.variants],
    }
    for what, names in known.items():
        check_names(study.document, ("readings", name, f"{what}s"), what, getattr(reading, f"{what}s"), names)
