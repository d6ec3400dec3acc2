"""The thesis as a study: its published values, which tables show them, what is fitted and what is scored.

What was fitted is listed in model 7.1; the classes of scores and their cells follow the text of the thesis.
"""

from __future__ import annotations

import csv
import hashlib
import re
from pathlib import Path

import pytest

from numasim.reproduce.load import read_study
from numasim.reproduce.programs import Wanted
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import Study
from numasim.reproduce.study_tables import PlannedTable, StudyTable
from numasim.reproduce.table_cells import Role

FITTED = {  # model 7.1, steps 1 to 5
    ("3.1", "false_steal_count"),
    ("3.1", "success_steal_count"),
    ("3.4", "serial_execution_time_s"),
    ("6.4", "numa_oblivious_overhead_ms"),
}
REPEATED = {  # columns that print these once more, or are quotients of them
    ("4.5", "serial_execution_time_s"),
    ("5.2", "serial_execution_time_s"),
    ("6.6", "serial_execution_time_s"),
    ("figure-6-3", "numa_oblivious_overhead_ms"),
}
SCORED = {
    "times": {
        ("3.4", "threshold_constrained_execution_time_s"),
        ("4.5", "topology_aware_execution_time_s"),
        ("5.2", "locality_binding_execution_time_s"),
        ("6.6", "affinity_aware_execution_time_s"),
    },
    "volumes": {("5.3", "topology_aware_remote_gb"), ("5.3", "locality_binding_remote_gb")},
    "steals": {
        ("3.6", "success_steal_count"),
        ("4.2", "average_remote_steal_count"),
        ("4.2", "average_local_steal_count"),
        ("4.3", "remote_steal_count"),
        ("4.3", "local_steal_count"),
    },
    "miss-ratios": {("3.3", "threshold_constrained_average_steal_miss_ratio")},
    "overheads": {("6.4", "affinity_aware_overhead_ms")},
}
INPUTS = {"4.1", "5.1", "6.1", "6.2"}


@pytest.fixture(scope="module")
def study() -> Study:
    return read_study("thesis")


def published(study: Study) -> list[Path]:
    return sorted((study.folder / "published").glob("*.csv"))


def columns(study: Study) -> list[tuple[StudyTable, str]]:
    return [(table, column) for table in study.tables.values() for column in table.columns]


def planned(setting: Setting, table: str) -> PlannedTable:
    return setting.study.tables[table].kind.plan(setting, setting.study.tables[table])


def test_every_table_of_the_thesis_is_there(study: Study) -> None:
    chapters = {3: 6, 4: 5, 5: 3, 6: 6}
    tables = [f"{chapter}.{number}" for chapter, last in chapters.items() for number in range(1, last + 1)]
    figures = [f"figure-{number}" for number in ("3-5", "4-8", "5-4", "6-3", "6-4")]
    assert list(study.tables) == [*tables, *figures, "regression-4-3", "t-test-3-6-1"]


def test_no_digit_of_the_published_values_has_changed(study: Study) -> None:
    readme = (study.folder / "published" / "README.md").read_text()
    listed = dict(re.findall(r"\| `([\w.]+\.csv)` \|.*\| `([0-9a-f]{32})` \|", readme))
    assert listed == {path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:32] for path in published(study)}


def test_every_published_value_is_shown_by_the_table_that_claims_it(study: Study) -> None:
    for table in study.tables.values():
        if table.id.startswith("figure-"):
            continue
        with table.file.open(newline="") as lines:
            rows = list(csv.DictReader(lines))
        shown = {
            column: study.published(table.id, column) for column, spec in table.columns.items() if not spec.published
        }
        assert set(shown) == set(rows[0]) - set(table.keys)
        for row in rows:
            label = ", ".join(row[key] for key in table.keys)
            assert {column: values[label] for column, values in shown.items()} == {
                column: float(row[column]) for column in shown
            }


def test_what_is_fitted_is_what_the_model_says(study: Study) -> None:
    found = {(table.id, name) for table, name in columns(study) if table.columns[name].role == Role.FITTED}
    assert found == FITTED | REPEATED
    rows = {(table.id, name): table.columns[name].fitted for table, name in columns(study)}
    assert {key: fitted for key, fitted in rows.items() if fitted} == {
        ("3.6", "steal_attempt_count"): ("Strassen-4096",)
    }


def test_every_class_is_scored_over_its_columns_and_no_value_twice(study: Study) -> None:
    found: dict[str, set[tuple[str, str]]] = {}
    for table, name in columns(study):
        if score := table.columns[name].score:
            found.setdefault(score, set()).add((table.id, name))
    assert found == SCORED
    assert sum(len(study.tables[table].labels) for table, _ in found["times"]) == 24


def test_columns_that_say_the_same_are_simulated_by_the_same_runs(study: Study) -> None:
    setting = Setting(study, quick=True)

    def runs(table: str) -> dict[str, str]:
        plan = planned(setting, table)
        return {run.run_id: run.spec.strategy.name for run in plan.runs}

    assert runs("3.4") == runs("3.5") == runs("figure-3-5")
    assert set(runs("3.6")) < set(runs("3.4"))
    assert set(runs("4.4")) < set(runs("4.5")) & set(runs("5.2"))
    assert set(runs("5.3")) < set(runs("5.2"))
    strategies = {"randomized", "numa-oblivious", "affinity-aware"}
    assert set(runs("6.6").values()) == strategies
    assert {runs("6.6")[run] for run in runs("6.6").keys() - runs("5.2").keys()} == strategies - {"randomized"}


def test_values_that_stand_in_two_tables_are_alike_but_for_rounding(study: Study) -> None:
    """Table 4.5 repeats 3.4, Table 5.2 repeats 4.5, Table 6.6 repeats 5.2; what differs is on the list."""
    pairs = [
        (("3.4", "randomized_execution_time_s"), ("4.5", "randomized_execution_time_s"), 2e-4),
        (("4.5", "topology_aware_execution_time_s"), ("5.2", "topology_aware_execution_time_s"), 1e-4),
        (("5.2", "locality_binding_execution_time_s"), ("6.6", "numa_oblivious_execution_time_s"), 0),
        (("5.2", "serial_execution_time_s"), ("6.6", "serial_execution_time_s"), 0),
        (("3.4", "serial_execution_time_s"), ("5.2", "serial_execution_time_s"), 7e-4),
    ]
    for first, second, tolerance in pairs:
        assert study.published(*second) == pytest.approx(study.published(*first), rel=tolerance, abs=0)


def test_published_speedups_are_quotients_of_published_times(study: Study) -> None:
    for column in ("randomized", "threshold_constrained"):
        times = study.published("3.4", f"{column}_execution_time_s")
        serial = study.published("3.4", "serial_execution_time_s")
        expected = {row: serial[row] / times[row] for row in times}
        assert study.published("3.5", f"{column}_speedup") == pytest.approx(expected, abs=1e-9)


def test_chapter_3_has_a_worker_on_each_core_and_later_chapters_on_each_hardware_thread(study: Study) -> None:
    bots, setting = study.programs["bots"], Setting(study)
    workers = {variant: setting.spec(Wanted(bots, "Strassen-2048", variant)).workers for variant in bots.variants}
    assert workers == {
        "randomized": 12,
        "threshold": 12,
        "topology-aware": 24,
        "locality-binding": 24,
        "numa-oblivious": 24,
        "affinity-aware": 24,
    }
    syncbench = study.programs["syncbench"]
    assert {setting.spec(Wanted(syncbench, row, "oblivious")).workers for row in syncbench.rows} == {24}


def test_data_lies_where_the_chapters_have_put_it(study: Study) -> None:
    """Section 4.6 distributes the data of Strassen alone, section 5.6.1 that of all; Sort has no shared objects."""
    bots, setting = study.programs["bots"], Setting(study)
    found = {
        row: [setting.spec(Wanted(bots, row, variant)).strategy for variant in ("topology-aware", "locality-binding")]
        for row in bots.rows
    }
    for row, (before, after) in found.items():
        distributed = "parallel-first-touch" if row.startswith("Strassen") else "first-touch"
        assert [before.placement.policies[0].policy, after.placement.policies[0].policy] == [
            distributed,
            "parallel-first-touch",
        ]
        assert ("data" in {rule.target for rule in after.dispatch or ()}) == (not row.startswith("Sort"))


def test_every_ablation_makes_other_runs_of_scored_tables(study: Study) -> None:
    def runs(*without: str) -> set[str]:
        setting = Setting(study, quick=True, without=without, repeat=1)
        plans = [planned(setting, table) for table in ("3.4", "5.2")]
        return {run.run_id for plan in plans for run in plan.runs}

    for name in study.ablations:
        assert runs(name) - runs(), name
