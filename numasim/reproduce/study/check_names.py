"""Checks that every table, column, row, program, variant, quantity and score named in the files of a study exists.

A mistake is an `InputError` with file and line, what is expected and the nearest name.
"""

from __future__ import annotations

from collections.abc import Collection

from numasim.errors import InputError
from numasim.parts.validation import placed
from numasim.parts.yaml.nodes import FieldPath
from numasim.reproduce.kinds import KINDS
from numasim.reproduce.kinds.kind import options
from numasim.reproduce.published_quantities import QUANTITIES
from numasim.reproduce.study.check_ceilings import check_ceilings
from numasim.reproduce.study.check_readings import check_readings
from numasim.reproduce.study.check_scores import check_scores
from numasim.reproduce.study.contents import Study, StudyTable
from numasim.reproduce.study.names import check_names
from numasim.reproduce.study.study_files import NOTHING, ColumnSpec, ElsewhereSpec, QuotientSpec


def check_study(study: Study) -> None:
    """Raise `InputError` for the first unknown name, and for a published value that is not a number."""
    check_readings(study)
    check_scores(study)
    for program in study.programs.values():
        check_names(program.document, ("quick", "without"), "row", program.file.quick.without, program.file.rows)
        check_names(program.document, ("exceptions",), "variant", program.file.exceptions, program.file.variants)
        for variant, rows in program.file.exceptions.items():
            check_names(program.document, ("exceptions", variant), "row", rows, program.file.rows)
    for name, contribution in study.file.contributions.items():
        path = ("contributions", name)
        if name in study.file.scores:
            raise placed(
                InputError(f"{name!r} is a score, too", path=path, expected="a name of its own"), study.document
            )
        check_names(study.document, (*path, "program"), "program", [contribution.program], study.programs)
        variants = study.programs[contribution.program].file.variants
        for key, variant in (("variant", contribution.variant), ("over", contribution.over)):
            check_names(study.document, (*path, key), "variant", [variant], variants)
    for number, each in enumerate(study.file.inconsistencies):
        check_names(study.document, ("inconsistencies", number, "tables"), "table", each.tables, study.tables)
    for table in study.tables.values():
        _check_table(study, table)
    for table in study.tables.values():
        for name, column in table.file.columns.items():
            study.published(table.id, name)  # reads every number
            study.null(table.id, column)
    check_ceilings(study)


def _check_table(study: Study, table: StudyTable) -> None:
    document = table.document
    check_names(document, ("kind",), "kind of table", [table.file.kind], KINDS)
    kind = KINDS[table.file.kind]
    options(kind.options, table)
    if kind.needs_program:
        check_names(document, ("program",), "program", [table.file.program or ""], study.programs)
    if kind.by_row and table.file.rows.field is None:
        known = study.programs[str(table.file.program)].file.rows
        check_names(document, ("rows",), f"row in program {table.file.program}:", table.labels, known)
    for name, column in table.file.columns.items():
        _check_column(study, table, name, column)
    _check_all_claimed(table)
    kind.check(study, table)


def _check_column(study: Study, table: StudyTable, name: str, column: ColumnSpec) -> None:
    document, path = table.document, ("columns", name)
    check_names(document, (*path, "quantity"), "quantity", [column.quantity], known_quantities(table))
    check_names(document, (*path, "score"), "score", [column.score] if column.score else (), study.file.scores)
    check_names(document, (*path, "fitted"), "row", column.fitted, table.labels)
    baseline = [column.baseline] if column.baseline else ()
    check_names(document, (*path, "baseline"), "column", baseline, table.file.columns)
    if column.variant is not None:
        variants = study.programs[table.file.program].file.variants if table.file.program else ()
        check_names(document, (*path, "variant"), "variant", [column.variant], variants)
    for where, source in (("published", column.published or name), ("null_from", column.null_from)):
        _check_source(study, table, (*path, where), source)


def known_quantities(table: StudyTable) -> Collection[str]:
    """The quantities that a column of ``table`` may have."""
    return KINDS[table.file.kind].units or QUANTITIES


def _check_source(
    study: Study, table: StudyTable, path: FieldPath, source: str | QuotientSpec | ElsewhereSpec | None
) -> None:
    if isinstance(source, ElsewhereSpec):
        check_names(table.document, (*path, "table"), "table", [source.table], study.tables)
        other = study.tables[source.table]
        own = [name for name, each in other.file.columns.items() if not isinstance(each.published, ElsewhereSpec)]
        check_names(table.document, (*path, "column"), "column with values of its own", [source.column], own)
    elif isinstance(source, QuotientSpec):
        check_names(table.document, path, "column", [source.over, source.under], table.published.columns)
    elif source not in (None, NOTHING):
        check_names(table.document, path, f"column in {table.file.published}:", [source], table.published.columns)


def _check_all_claimed(table: StudyTable) -> None:
    """Every published column must be shown by a column of a table, so that none is left out unnoticed."""
    shown = set(table.file.rows.key)
    for name, column in table.file.columns.items():
        source = column.published or name
        shown |= {source.over, source.under} if isinstance(source, QuotientSpec) else {source}  # type: ignore[arg-type]
    for name in table.published.columns:
        if name not in shown:
            problem = f"the column {name!r} of {table.file.published} is not shown"
            raise placed(InputError(problem, path=("columns",), expected="an entry for it"), table.document)
