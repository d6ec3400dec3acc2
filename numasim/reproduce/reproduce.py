"""Reproduces a study: the runs of all its tables are planned, run once each, and filled into cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from numasim.engine.simulate import DEFAULT_ENGINE, require_engine, simulate_spec
from numasim.errors import InputError
from numasim.files.owned_folder import FolderKind, owned_folder
from numasim.files.reader import OWN, read_bytes
from numasim.reproduce.setting import Setting, Side, parameter_sides, reading_sides
from numasim.reproduce.study import Study
from numasim.reproduce.study_tables import PlannedTable
from numasim.reproduce.table_cells import Table
from numasim.sweep.collection import Collected, collect_runs
from numasim.sweep.planned_runs import PlannedRun

NOTHING = "nothing"  # is switched off

# ---- The folder of a report; the stored runs are a folder of their own in it ----

PAGE, MARKDOWN, SCORES = "index.html", "report.md", "scores.csv"
TABLES, FIGURES = "tables", "figures"
LEAD, SCORE_SHEET, ABLATIONS = "lead", "scores", "ablations"
RUNS = "runs"
_MARKS = {  # in the files of versions without manifests
    PAGE: b"beside those of <strong>numasim</strong>",
    MARKDOWN: b"beside those of numasim",
    SCORES: b"table,quantity,metric,",
    TABLES: b"row,column,variant,",
    FIGURES: b"matplotlib",
}


def report_files(tables: Iterable[str]) -> list[str]:
    """The files that a report on these tables may have."""
    stems = [file_stem(table) for table in tables]
    return [
        PAGE,
        MARKDOWN,
        SCORES,
        *map(table_file, stems),
        *map(figure_file, (LEAD, SCORE_SHEET, ABLATIONS, *stems)),
    ]


def file_stem(table: str) -> str:
    """Return the name of a table's files: ``table-3-4`` for 3.4; others have the name of their id."""
    return f"table-{table.replace('.', '-')}" if table[:1].isdigit() else table


def table_file(stem: str) -> str:
    """The cells of a table."""
    return f"{TABLES}/{stem}.csv"


def figure_file(stem: str) -> str:
    """The figure of that name."""
    return f"{FIGURES}/{stem}.svg"


def _earlier(directory: Path) -> list[str] | None:
    """The report of a version without manifests, in a folder that has its page or its runs."""
    if not (_has_mark(directory, PAGE) or (directory / RUNS / "provenance.json").is_file()):
        return None
    stems = sorted(path.stem for path in (directory / TABLES).glob("*.csv"))
    stems = [stem for stem in stems if _has_mark(directory, table_file(stem))]
    figures = map(figure_file, (SCORE_SHEET, ABLATIONS, *stems))
    found = [name for name in (PAGE, MARKDOWN, SCORES, *figures) if _has_mark(directory, name)]
    return [*found, *map(table_file, stems)]


def _has_mark(directory: Path, name: str) -> bool:
    path = directory / name
    return path.is_file() and _MARKS[name.partition("/")[0]] in read_bytes(path, OWN)


REPORT = FolderKind("numasim reproduce", earlier=_earlier)
STUDIES = FolderKind("numasim reproduce all")  # a page, and beside it a folder for each report


# ---- The reproduction ----


@dataclass(frozen=True)
class Reproduction:
    """The chosen tables of a study.

    ``only_rates`` has the scored tables once more with nothing fitted but rates; on another machine than the study's
    there are none. ``alternatives`` has them under each other choice of a reading and at both ends of the range of each
    fitted parameter, with the first seed; ``ablations`` those of a quick reproduction without each mechanism. Those
    under `NOTHING`, also quick, have all mechanisms; the others are compared with them.
    """

    study: Study
    setting: Setting
    tables: tuple[Table, ...]
    only_rates: tuple[Table, ...]
    alternatives: tuple[tuple[Side, tuple[Table, ...]], ...]
    ablations: Mapping[str, tuple[Table, ...]]
    runs: int  # from which all tables are filled


def reproduce(
    study: Study,
    directory: str | Path,
    *,
    quick: bool = False,
    machine: str | None = None,
    without: Sequence[str] = (),
    ablations: bool = False,
    jobs: int | None = None,
    engine: str = DEFAULT_ENGINE,
    progress: bool = False,
) -> Reproduction:
    """Simulate the chosen tables of ``study``; its runs are stored in ``directory/runs`` and never repeated.

    ``directory`` is new or empty, or one of an earlier reproduction.

    ``quick`` runs the study's smaller variant for a first look, without alternatives; ``machine`` simulates another
    machine than the study's, and the study's own changes nothing; ``without`` switches mechanisms off, ``ablations``
    each of them in turn, in the smaller variant. Raises `InputError` for a name that the study does not have, a field
    that no run has, a machine that is too small for every run, a bad directory.
    """
    require_engine(engine)
    main = Setting(study, quick, None if machine == study.machine else machine, tuple(without))
    if main.machine:
        require_runs(main)
    published = scored(study) if comparable(main) else ()
    others = () if quick or not published else (*reading_sides(study), *parameter_sides(study))
    ablated = _ablated(main) if ablations else {}
    wanted = [
        (main, study.chosen),
        (replace(main, only_rates=True), published),
        *((each, scored(study)) for each in (*(side.of(main) for side in others), *ablated.values())),
    ]
    with owned_folder(Path(directory), REPORT, report_files(study.chosen)):
        (tables, only_rates, *rest), runs = simulate(wanted, directory, jobs=jobs, engine=engine, progress=progress)
    return Reproduction(
        study,
        main,
        tables,
        only_rates=only_rates,
        alternatives=tuple(zip(others, rest[: len(others)], strict=True)),
        ablations=dict(zip(ablated, rest[len(others) :], strict=True)),
        runs=runs,
    )


def comparable(setting: Setting) -> bool:
    """Whether the machine is the study's: of another nothing was published."""
    return setting.machine is None


def require_runs(setting: Setting) -> None:
    """Raise InputError if the machine is too small for all runs of the chosen tables, none of which needs no run."""
    nothing = Collected({}, {})
    plans = _plans(setting, setting.study.chosen)
    if any(plan.runs or any(cell.simulated for cell in plan.fill(nothing).cells) for plan in plans):
        return
    raise InputError(
        f"the machine {setting.machine!r} has {setting.threads} hardware threads, and every run that is asked of the"
        f" study {setting.study.name!r} has more workers",
        expected="a larger machine",
    )


def simulate(
    wanted: Iterable[tuple[Setting, Sequence[str]]],
    directory: str | Path,
    *,
    jobs: int | None = None,
    engine: str = DEFAULT_ENGINE,
    progress: bool = False,
) -> tuple[list[tuple[Table, ...]], int]:
    """Make the named tables of each setting, and count the runs; runs that settings share are run once."""
    plans = [_plans(setting, tables) for setting, tables in wanted]
    runs = _union(table for plan in plans for table in plan)
    done = collect_runs(
        runs, Path(directory) / RUNS, jobs=jobs, engine=engine, runner=simulate_spec, progress=progress, pairs=True
    )
    return [_filled(plan, done) for plan in plans], len(done.counters)


def _union(tables: Iterable[PlannedTable]) -> list[PlannedRun]:
    """The runs of all tables, each once; runs of one workload follow each other, so that it is generated once."""
    runs = {run.run_id: run for table in tables for run in table.runs}
    workloads: dict[str, list[PlannedRun]] = {}
    for run in runs.values():
        workloads.setdefault(run.spec.workload.contents_json, []).append(run)
    return [run for alike in workloads.values() for run in alike]


def scored(study: Study) -> tuple[str, ...]:
    """Those of the chosen tables that have a scored column."""
    tables = (study.tables[table] for table in study.chosen)
    return tuple(table.id for table in tables if any(column.score for column in table.columns.values()))


def _ablated(main: Setting) -> dict[str, Setting]:
    mechanisms = [name for name in main.study.ablations if name not in main.without]
    off = {NOTHING: main.without} | {name: (*main.without, name) for name in mechanisms}
    return {
        name: Setting(main.study, True, main.machine, without, repeat=1, resolver=main.resolver)
        for name, without in off.items()
    }


def _plans(setting: Setting, tables: Sequence[str]) -> list[PlannedTable]:
    chosen = (setting.study.tables[table] for table in tables)
    return [table.kind.plan(setting, table) for table in chosen]


def _filled(plans: Sequence[PlannedTable], done: Collected) -> tuple[Table, ...]:
    return tuple(plan.fill(done) for plan in plans)
