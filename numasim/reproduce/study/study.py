"""A study as it is on disk: tables with their published values, programs, calibration; everything checked.

experiments/NAME/study.yaml             title, machine, scores, ablations, inconsistencies
experiments/NAME/programs/*.yaml        the programs that tables run
experiments/NAME/tables/*.yaml          one per table or figure; `table-3-4.yaml` is table 3.4, others have their name
experiments/NAME/published/*.csv        the values as printed
experiments/NAME/calibrated.yaml        parameters, fitted and refused, where there are any
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from numasim.errors import InputError
from numasim.files.bounded_bytes import is_file
from numasim.files.legible_text import legible_text
from numasim.parts.catalog import SUFFIXES
from numasim.parts.validation import validate
from numasim.parts.yaml.document import load
from numasim.reproduce.calibration.record import Calibration
from numasim.reproduce.study.check_names import check_study
from numasim.reproduce.study.contents import Program, Study, StudyTable
from numasim.reproduce.study.names import check_known, check_names, unknown_name
from numasim.reproduce.study.published import read_published
from numasim.reproduce.study.study_files import ProgramFile, StudyFile, TableFile

__all__ = ["Program", "Study", "StudyTable", "read_study", "study_names", "study_titles"]

STUDY = "study.yaml"
_PACKAGE = Path(__file__).resolve().parents[2]


def study_names() -> tuple[str, ...]:
    """The names of the shipped studies."""
    return tuple(sorted(path.parent.name for path in _shipped().glob(f"*/{STUDY}")))


def study_titles() -> dict[str, str]:
    """The title of each shipped study by its name."""
    files = {name: load(_shipped() / name / STUDY).mapping() for name in study_names()}
    return {name: str(fields["title"].content) if "title" in fields else "" for name, fields in files.items()}


def read_study(name: str, tables: Collection[str] = ()) -> Study:
    """Read the shipped study ``name``, or that in the folder ``name`` if it is a path; ``tables``: those to reproduce.

    Raises `InputError` with its place for any mistake in any of its files, whatever tables are chosen.
    """
    folder = _folder(name)
    document = load(folder / STUDY)
    file = validate(StudyFile, document)
    programs = {path.stem: _program(path) for path in _files(folder / "programs")}
    found = {_table_id(path): _table(path, folder, file) for path in _files(folder / "tables")}
    ordered = {table: found[table] for table in sorted(found, key=_order)}
    check_known("table", tables, ordered)
    chosen = tuple(table for table in ordered if not tables or table in tables)
    calibration = _calibration(folder, programs)
    study = Study(
        legible_text(folder.name),
        folder,
        file,
        document,
        programs,
        calibration.parameters,
        ordered,
        chosen,
        calibration.refused,
    )
    check_study(study)
    return study


def _shipped() -> Path:
    inside = _PACKAGE / "experiments"
    return inside if inside.is_dir() else _PACKAGE.parent / "experiments"


def _folder(name: str) -> Path:
    if "/" in name or "\\" in name or is_file(Path(name) / STUDY):
        return Path(name)
    if name in study_names():
        return _shipped() / name
    expected = f"one of {', '.join(study_names())}, or a path such as ./mine to a folder with {STUDY}"
    raise InputError(f"there is no study {name!r}", expected=expected, value=name, known=study_names())


def _files(folder: Path) -> list[Path]:
    found = sorted(path for path in folder.glob("*") if path.suffix in SUFFIXES)
    if not found:
        raise InputError("has no YAML files", place=str(folder), expected="one for each program and each table")
    return found


def _program(path: Path) -> Program:
    document = load(path)
    return Program(path.stem, validate(ProgramFile, document), document)


def _table_id(path: Path) -> str:
    kind, _, number = path.stem.partition("-")
    return number.replace("-", ".") if kind == "table" and number else path.stem


def _table(path: Path, folder: Path, study: StudyFile) -> StudyTable:
    document = load(path)
    file = validate(TableFile, document)
    published = read_published(folder / "published" / file.published, str(document.mapping()["published"].place))
    for key in file.rows.key:
        if key not in published.columns:
            problem, place = f"{file.published} has no column {key!r}", str(document.keys["rows"])
            raise unknown_name(problem, key, published.columns, path=("rows",), place=place)
    table = _table_id(path)
    touching = tuple(each.text for each in study.inconsistencies if table in each.tables)
    return StudyTable(table, file, document, published, published.labels(file.rows.key), touching)


def _order(table: str) -> tuple[bool, list[int], str]:
    """Tables by number, then all others by name."""
    numbers = table.split(".")
    numbered = all(number.isdecimal() for number in numbers)
    return not numbered, [int(number) for number in numbers] if numbered else [], table


def _calibration(folder: Path, programs: Mapping[str, Program]) -> Calibration:
    path = folder / "calibrated.yaml"
    if not path.is_file():
        return Calibration()
    document = load(path)
    found = validate(Calibration, document)
    for key, parameters in (("parameters", found.parameters), ("refused", found.refused)):
        for number, each in enumerate(parameters):
            check_names(document, (key, number, "programs"), "program", each.programs, programs)
            rows = [row for program in each.programs for row in programs[program].file.rows]
            check_names(document, (key, number, "rows"), "row", each.rows, rows)
    return found
