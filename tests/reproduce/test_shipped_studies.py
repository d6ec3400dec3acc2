"""The shipped studies: published values, fitted parameters, and rules for the runs of each study."""

from __future__ import annotations

import csv
import hashlib
import heapq
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pandas as pd
import pytest
from cells_by_hand import fitted_cells

from numasim.engine.simulate import simulate_spec
from numasim.machine.build_machine import build
from numasim.plan.build_plan import build_plan
from numasim.reproduce.programs import Wanted
from numasim.reproduce.reproduce import reproduce
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import Study, read_study, study_names
from numasim.reproduce.study_tables import PlannedTable, cells_of
from numasim.reproduce.table_cells import Role
from numasim.spec.overrides import from_mapping
from numasim.spec.single_part import read_machine
from numasim.workload.registry import generate

HOME, LAWS, PHOENIX, SKELAFF, THESIS = STUDIES = [read_study(name) for name in study_names()]
STAMP = SKELAFF.programs["stamp"]


# ---- published values ----


@pytest.mark.parametrize("study", [LAWS, THESIS], ids=lambda study: study.name)
def test_no_digit_of_the_published_values_has_changed(study: Study) -> None:
    folder = study.folder / "published"
    listed = dict(re.findall(r"\| `([\w.]+\.csv)` \|.*\| `([0-9a-f]{32})` \|", (folder / "README.md").read_text()))
    assert listed == {path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:32] for path in folder.glob("*.csv")}


def test_every_published_value_is_shown_by_the_table_that_claims_it() -> None:
    for table in THESIS.tables.values():
        if table.id.startswith("figure-"):
            continue
        with table.file.open(newline="") as lines:
            rows = list(csv.DictReader(lines))
        shown = {
            name: THESIS.published(table.id, name) for name, column in table.columns.items() if not column.published
        }
        assert set(shown) == set(rows[0]) - set(table.keys)
        for row in rows:
            label = ", ".join(row[key] for key in table.keys)
            assert {name: values[label] for name, values in shown.items()} == {name: float(row[name]) for name in shown}


def test_a_simple_rule_of_laws_knows_all_other_savings_of_the_server() -> None:
    (rule,) = (rule for rule in LAWS.score_rules if rule.name == "time reductions")
    cells = [
        each
        for table in ("times-amd", "times-intel")
        for each in cells_of(Setting(LAWS), LAWS.tables[table])
        if each.role is Role.PREDICTED
    ]
    guessed = rule.simple["the mean of the other savings of the server"](None, cells)
    assert dict(zip((each.row for each in cells), guessed, strict=True)) == pytest.approx(
        {"6P 1k": 119.8 / 3, "Heat-ir 16k": 112.8 / 3, "6P 16k": 110.6 / 3}
        | {"9P 2k": 119.9 / 3, "SOR-ir 32k": 112.1 / 3, "9P 32k": 130.1 / 3}
    )


@pytest.mark.parametrize(("shape", "without"), [("equal-prob", set()), ("disjoint", {"112", "116"})])
def test_mean_ratios_are_those_of_the_tables(shape: str, without: set[str]) -> None:
    times = {policy: PHOENIX.published(f"parade-32-{shape}", f"{policy}_s") for policy in ("interleave", "locality")}
    rows = times["interleave"].keys() - without
    mean = fmean(times["locality"][row] / times["interleave"][row] for row in rows)
    printed = PHOENIX.published(f"mean-ratio-{shape}", f"{shape.replace('-', '_')}_mean_ratio")
    assert printed["locality"] == pytest.approx(mean, abs=5e-5)


# ---- fitted values ----


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_no_fitted_value_is_called_a_prediction(study: Study) -> None:
    fitted = fitted_cells(study.parameters)
    assert fitted
    for table, name, row in fitted:
        column = study.tables[table].columns[name]
        assert column.role is Role.FITTED or row in column.fitted


def test_the_fitted_time_saves_what_is_recorded() -> None:
    """On the AMD server the simulated saving of time equals the printed saving up to the residual that is recorded."""
    script = LAWS.part("calibrate")
    (fitted,) = LAWS.parameters
    machine = script.MACHINES[0]
    printed = LAWS.published(machine.table, script.COLUMN)[machine.row]
    saved = fmean(script.saved_percent(LAWS, machine, int(fitted.value), 3))
    assert fitted.residual is not None
    assert abs(printed - saved) / printed == pytest.approx(float(fitted.residual), abs=1e-4)


def test_the_fitted_objects_are_the_most_that_come_nearest() -> None:
    """With one more object than fitted, the fastest run has a number of workers further from the printed number."""
    script = SKELAFF.part("calibrate")
    printed = SKELAFF.published("2", "scalable_up_to_cores")
    for fitted in SKELAFF.parameters:
        (row,) = fitted.rows
        at = script.TRIED.index(fitted.value)
        here, beyond = (
            abs(math.log2(script.fastest_at(SKELAFF, row, objects) / printed[row]))
            for objects in script.TRIED[at : at + 2]
        )
        assert here == fitted.residual < beyond


# ---- runs ----


def planned(setting: Setting, table: str) -> PlannedTable:
    return setting.study.tables[table].kind.plan(setting, setting.study.tables[table])


def test_columns_that_say_the_same_are_simulated_by_the_same_runs() -> None:
    setting = Setting(THESIS, quick=True)

    def runs(table: str) -> dict[str, str]:
        return {run.run_id: run.spec.strategy.name for run in planned(setting, table).runs}

    assert runs("3.4") == runs("3.5")
    assert set(runs("3.6")) < set(runs("3.4"))
    assert set(runs("4.4")) < set(runs("4.5")) & set(runs("5.2"))
    assert set(runs("5.3")) < set(runs("5.2"))
    assert {runs("6.6")[run] for run in runs("6.6").keys() - runs("5.2").keys()} == {"numa-oblivious", "affinity-aware"}


def test_every_ablation_makes_other_runs_of_scored_tables() -> None:
    def runs(*without: str) -> set[str]:
        setting = Setting(THESIS, quick=True, without=without, repeat=1)
        return {run.run_id for table in ("3.4", "5.2") for run in planned(setting, table).runs}

    for name in THESIS.ablations:
        assert runs(name) - runs(), name


def test_home_test_is_as_its_text_says_but_for_the_average_of_a_single_tile(tmp_path: Path) -> None:
    chosen = replace(HOME, chosen=("figure-4-claims", "figure-1-claims", "figure-1-gain"))
    sparselu, claims, gain = reproduce(chosen, tmp_path / "out", quick=True, jobs=1).tables
    assert [cell.mean for cell in sparselu.cells] == [1] * 6
    assert [cell.row for cell in claims.cells if cell.mean < 1] == ["a single tile is a little better than hashing"]
    assert [round(cell.mean) for cell in gain.cells] == [43]


def test_with_one_thread_both_tournaments_are_interleave_once_and_twice() -> None:
    """One thread has nothing to merge: `vertical` does what `interleave` does, `horizontal` builds each table twice."""
    setting, program = Setting(PHOENIX), PHOENIX.programs["paragon"]

    def time(variant: str) -> float:
        spec = setting.spec(Wanted(program, "1", f"equal-prob {variant}"))
        return float(simulate_spec(spec, spec.seed).counters["makespan_ps"])

    assert time("vertical") == pytest.approx(time("interleave"), rel=0.01)
    assert time("horizontal") == pytest.approx(2 * time("interleave"), rel=0.01)


def test_simple_rules_of_phoenix_count_the_keys_of_tournaments() -> None:
    """Four threads on four nodes have 7/16 of all keys in pairs, and 175/256 together, merged once and put out once."""
    simple = PHOENIX.part("simple")
    assert [simple.horizontal_keys(threads) for threads in (1, 4)] == [2, 1 + 256 / 175]
    assert [simple.vertical_keys(threads) for threads in (1, 2, 4)] == [1, 2 * 3 / 4, 7 / 16 + 2 * 175 / 256]


def pair(reader: int, home: int, read: int, owned: int = 0, cache: int = 0) -> dict[str, int]:
    return {"node_from": reader, "node_to": home, "bytes_read": read, "bytes_ownership": owned, "bytes_cache": cache}


def test_the_straggler_waits_longest_and_not_for_the_most_lines() -> None:
    """On the thesis' machine a cache line of the other node takes 124.7 ns, and a line of the own node 77.3 ns."""
    machine, straggler = read_machine("xeon-e5-2620-2s"), LAWS.part("straggler").straggler
    assert straggler(machine, [pair(0, 0, 64 * 120), pair(1, 0, 64 * 70, owned=64 * 30)]) == (100, 0)
    assert straggler(machine, [pair(0, 0, 64 * 200), pair(1, 1, 64 * 3), pair(1, 0, 64)]) == (200, 200)
    # lines that come from another cache do not count as memory reads
    assert straggler(machine, [pair(0, 1, 0, cache=640), pair(0, 0, 64)]) == (11, 1)


COUNTED = {  # of a unit, as the paper counted: ns at one instruction per cycle of 2.27 GHz, lines read, MiB of data
    "intruder": (2146, 64, 51),
    "kmeans": (4985, 2, None),
    "vacation": (7217, 64, 36),
    "yada": (33_134, 48, None),
}
SCALE = 16  # data and caches of the study are scaled down by this factor


@pytest.mark.parametrize("row", COUNTED)
def test_units_of_stamp_are_as_counted(row: str) -> None:
    mean_ns, lines, data = COUNTED[row]
    units = Setting(SKELAFF).spec(Wanted(STAMP, row, "numa32 baseline")).workload
    given = units.model_dump()
    mean = generate(units).segment_compute_ps.sum() / 1000 / given["units"]
    assert mean - float(given["alone_ns"]) / given["units"] == pytest.approx(mean_ns, rel=0.05)
    assert given["lookups"] * given["record_bytes"] == 64 * lines
    if data:
        assert given["records"] * given["record_bytes"] * SCALE == pytest.approx(data * 2**20, rel=0.01)


@pytest.mark.parametrize(("row", "missed"), [("intruder", 36), ("vacation", 23)])
def test_a_cache_of_24_mib_misses_as_counted(row: str, missed: int) -> None:
    """With full caches a unit of work reads 64 lines from memory; the paper counted 68."""
    changes = {"workers": 1, "workload.units": 40_000}
    spec = Setting(SKELAFF).spec(Wanted(STAMP, row, "numa32 baseline", tuple(from_mapping(changes))))
    counters = simulate_spec(spec, spec.seed).counters
    lines = (counters["bytes_local"] + counters["bytes_remote"]) / 64 / 40_000
    assert lines == pytest.approx(missed * 64 / 68, rel=0.06)


@pytest.mark.parametrize(("row", "published", "aborts"), [("intruder", 4, 1), ("vacation", 16, 0), ("yada", 16, 1)])
def test_stamp_aborts_and_scales_as_table_2_says(row: str, published: int, aborts: bool) -> None:
    spec = Setting(SKELAFF).spec(Wanted(STAMP, row, "numa32 baseline"))
    ratio = simulate_spec(spec, spec.seed).row()["abort_ratio"]
    assert ratio > 0.6 if aborts else ratio < 0.07
    times = {}
    for workers in (2, 4, 8, 16, 32):
        spec = Setting(SKELAFF).spec(Wanted(STAMP, row, "numa32 baseline", tuple(from_mapping({"workers": workers}))))
        times[workers] = simulate_spec(spec, spec.seed).counters["makespan_ps"]
    assert min(times, key=times.__getitem__) in (published, 2 * published)


def test_the_heuristic_is_figure_7_of_skelaff() -> None:
    """Pages are dealt to nodes cyclically; if threads add units of work, pages are on the node that allocates them.
    Helper threads are used if an idle core shares the cache.
    """
    for machine, workers in (("numa16", 8), ("numa16", 16), ("numa32", 16), ("numa32", 32)):
        for row in STAMP.rows:
            wanted = Wanted(STAMP, row, f"{machine} skelaff", tuple(from_mapping({"workers": workers})))
            plan = build_plan(Setting(SKELAFF).spec(wanted))
            placed, nodes = plan.placement.drawn(0), plan.machine.nodes
            assert placed.page_homes(0)[:nodes].tolist() == list(range(nodes))
            assert plan.placement.unplaced.tolist() == [False, True][: len(plan.workload.regions)]
            assert (len(plan.workload.regions) == 2) == (row == "yada")
            assert (plan.helpers is not None) == ((machine, workers) == ("numa32", 16))


def test_vacation_gains_by_cyclic_pages_on_numa16() -> None:
    """Sixteen workers demand more bytes than the controller of the first node delivers, so the baseline takes at least
    the time of this controller. With pages on all nodes, the run takes less time than one controller would.
    """
    changes = tuple(from_mapping({"workers": 16}))
    specs = [
        Setting(SKELAFF).spec(Wanted(STAMP, "vacation", f"numa16 {name}", changes)) for name in ("baseline", "skelaff")
    ]
    found = [simulate_spec(spec, spec.seed).counters for spec in specs]
    baseline, cyclic = (
        (each["bytes_local"] + each["bytes_remote"]) * 10**12 // int(build(spec.machine).imc_bytes_per_s[0])
        for each, spec in zip(found, specs, strict=True)
    )
    makespans = [each["makespan_ps"] for each in found]
    assert baseline <= makespans[0] < 1.1 * baseline
    assert makespans[1] < cyclic


# ---- evidence that pages refer to ----


def test_laws_saves_a_cacheful_of_misses_in_each_sweep() -> None:
    """The test checks the formula of `docs/reproductions/laws.md` for the ten stencils of Table IV of LAWS."""
    cache, quarter = 6 * 2**20, {True: 8096 * 1024 * 8 // 4, False: 8096 * 64 * 64 * 8 // 4}
    printed = pd.read_csv(LAWS.folder / "published" / "laws_table_4_l3_misses_stencils.csv", index_col="program")
    cilk, laws = printed["cilk"], printed["laws"]
    saved, error, unchanged = [], [], []
    for row in printed.index:
        heat = "Heat-ir" if row.endswith("-ir") else "Heat"
        turns = 2 if row.startswith("SOR") else 1  # SOR passes over its data twice, in half sweeps
        data = 2 * quarter[row.split("-")[0] not in ("6P", "25P")]  # the lines of a sweep, in bytes
        sweeps = turns * cilk[heat] * 64 / (2 * quarter[True])
        saved.append((cilk[row] - laws[row]) * 64 / sweeps)
        unchanged.append(math.log(laws[row] / cilk[row]))
        error.append(unchanged[-1] - math.log(1 - cache / data))
    assert fmean(saved) / 2**20 == pytest.approx(6.2, abs=0.05)
    assert fmean(map(abs, error)) == pytest.approx(0.042, abs=5e-4)
    assert fmean(map(abs, unchanged)) == pytest.approx(0.125, abs=5e-4)


Order = Callable[[int, int], int]  # (core, time) of a request -> key; the least key is served first


def ends(tasks: int, requests: int, think: int, serve: int, order: Order) -> list[int]:
    """Return the end time of each task. A task thinks, then asks one server. The server is never idle while a task
    asks.
    """
    coming = [(think, core) for core in range(tasks)]
    left, waiting, now, done = [requests] * tasks, [], 0, [0] * tasks
    while coming or waiting:
        while coming and (not waiting or coming[0][0] <= now):
            at, core = heapq.heappop(coming)
            now = max(now, at)
            heapq.heappush(waiting, (order(core, at), core))
        _, core = heapq.heappop(waiting)
        now += serve
        left[core] -= 1
        done[core] = now
        if left[core]:
            heapq.heappush(coming, (now + think, core))
    return done


@pytest.mark.parametrize("serve", [1, 2, 3, 8, 40])
@pytest.mark.parametrize(
    "order", [lambda core, at: at, lambda core, at: core], ids=["in turn", "always the same first"]
)
def test_the_last_task_at_a_single_server_takes_less_than_three_times_the_average(serve: int, order: Order) -> None:
    """A task of 30 requests takes T = 30 * (40 + s) alone, of which S = 30 s are served. With n tasks the last end is
    at most T + (n - 1) S; the average end is at least T and at least S (n + 1) / 2.
    """
    tasks, requests, think = 64, 30, 40
    found = ends(tasks, requests, think, serve, order)
    alone, busy, mean = requests * (think + serve), requests * serve, sum(found) / tasks
    assert max(found) <= alone + (tasks - 1) * busy
    assert 2 * mean >= max(2 * alone, busy * (tasks + 1)) * (1 - 1e-9)
    assert max(found) < 3 * mean
