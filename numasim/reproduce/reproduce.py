"""Reproduce a study: plan the runs of all tables, simulate each run once, and fill the cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from numasim.engine.simulate import DEFAULT_ENGINE, require_engine, simulate_spec
from numasim.errors import InputError
from numasim.files.owned_folder import FolderKind, owned_folder
from numasim.reproduce.setting import Setting, Side, reading_sides
from numasim.reproduce.study import Study
from numasim.reproduce.study_tables import PlannedTable
from numasim.reproduce.table_cells import Table
from numasim.sweep.planned_runs import PlannedRun
from numasim.sweep.run_sweep import Collected, collect_runs

NOTHING = "nothing"  # the name of the ablation in which no mechanism is switched off

# ---- The folder of a report. Its subfolder `runs` has the stored runs ----

PAGE, MARKDOWN, SCORES = "index.html", "report.md", "scores.csv"
TABLES, FIGURES = "tables", "figures"
LEAD, SCORE_SHEET, ABLATIONS = "lead", "scores", "ablations"
RUNS = "runs"


def report_files(tables: Iterable[str]) -> list[str]:
    """Return the names of all files that a report on these tables may have."""
    stems = [file_stem(table) for table in tables]
    return [
        PAGE,
        MARKDOWN,
        SCORES,
        *map(table_file, stems),
        *map(figure_file, (LEAD, SCORE_SHEET, ABLATIONS, *stems)),
    ]


def file_stem(table: str) -> str:
    """Return the stem of a table's file names: ``table-3-4`` for 3.4, otherwise the id."""
    return f"table-{table.replace('.', '-')}" if table[:1].isdigit() else table


def table_file(stem: str) -> str:
    """Return the path of the cells of a table."""
    return f"{TABLES}/{stem}.csv"


def figure_file(stem: str) -> str:
    """Return the path of the figure of that name."""
    return f"{FIGURES}/{stem}.svg"


REPORT = FolderKind("numasim reproduce")
STUDIES = FolderKind("numasim reproduce all")  # a page, and a folder for each report beside the page


# ---- The reproduction ----


@dataclass(frozen=True)
class Reproduction:
    """The chosen tables of a study.

    ``only_rates`` has the scored tables with only rates fitted, on the study's own machine. ``alternatives`` has the
    scored tables with another choice of one reading, or with one fitted parameter at an end of its range. Both are of
    the first seed. ``ablations`` has the scored tables of a quick reproduction without each mechanism in turn; the
    tables under the key `NOTHING` have all mechanisms, for comparison.
    """

    study: Study
    setting: Setting
    tables: tuple[Table, ...]
    only_rates: tuple[Table, ...]
    alternatives: tuple[tuple[Side, tuple[Table, ...]], ...]
    ablations: Mapping[str, tuple[Table, ...]]
    runs: int  # the number of runs of all tables


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
    """Simulate the chosen tables of ``study``. Runs are stored in ``directory/runs`` and never repeated.

    ``directory`` is new, empty, or the directory of an earlier reproduction. With ``quick`` the quick form of the study
    is simulated, without alternatives. ``machine`` names another machine to simulate. ``without`` names mechanisms to
    switch off. With ``ablations`` each mechanism is switched off in turn, in the quick form. Raise InputError for a
    name that the study does not have, a field that no run has, a machine that is too small for every run, or a bad
    directory.
    """
    require_engine(engine)
    main = Setting(study, quick, None if machine == study.machine else machine, tuple(without))
    if main.machine:
        require_runs(main)
    published = scored(study) if comparable(main) else ()
    others = () if quick or not published else (*reading_sides(study), *study.fitted_sides(study))
    ablated = _ablated(main) if ablations else {}
    wanted = [
        (main, study.chosen),
        (replace(main, only_rates=True, repeat=1), published),
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
    """Return whether the simulated machine is the study's own machine, the only machine with published values."""
    return setting.machine is None


def require_runs(setting: Setting) -> None:
    """Raise InputError if the machine is too small for every run, and every chosen table needs runs."""
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
    """Return the named tables of each setting, and the number of runs. A run that settings share is simulated once."""
    plans = [_plans(setting, tables) for setting, tables in wanted]
    runs = _union(table for plan in plans for table in plan)
    done = collect_runs(
        runs, Path(directory) / RUNS, jobs=jobs, engine=engine, runner=simulate_spec, progress=progress, pairs=True
    )
    return [tuple(table.fill(done) for table in plan) for plan in plans], len(done.counters)


def _union(tables: Iterable[PlannedTable]) -> list[PlannedRun]:
    """Return the runs of all tables, each once, grouped by workload, so that each workload is generated once."""
    runs = {run.run_id: run for table in tables for run in table.runs}
    workloads: dict[str, list[PlannedRun]] = {}
    for run in runs.values():
        workloads.setdefault(run.spec.workload.contents_json, []).append(run)
    return [run for alike in workloads.values() for run in alike]


def scored(study: Study) -> tuple[str, ...]:
    """Return the ids of the chosen tables with a scored column."""
    tables = (study.tables[table] for table in study.chosen)
    return tuple(table.id for table in tables if any(column.score for column in table.columns.values()))


def _ablated(main: Setting) -> dict[str, Setting]:
    mechanisms = [name for name in main.study.ablations if name not in main.without]
    off = {NOTHING: main.without} | {name: (*main.without, name) for name in mechanisms}
    return {
        name: Setting(main.study, True, main.machine, without, repeat=1, resolver=main.resolver)
        for name, without in off.items()
    }


def _plans(setting: Setting, names: Sequence[str]) -> list[PlannedTable]:
    tables = (setting.study.tables[name] for name in names)
    return [table.kind.plan(setting, table) for table in tables]
