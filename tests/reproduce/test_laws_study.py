"""LAWS as a study: what is published, what is fitted, bounds and null models that follow from what is printed."""

from __future__ import annotations

import hashlib
import importlib.util
import math
import re
import sys
from statistics import fmean

import pandas as pd
import pytest

from numasim.reproduce.load import read_study
from numasim.reproduce.programs import Wanted
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import Study
from numasim.reproduce.table_cells import Role
from numasim.spec.single_part import read_machine

STENCILS = ("Heat", "SOR", "9P", "6P", "25P")
SAVED = "execution_time_reduction_percent"
OTHERS = "mean_of_the_others_percent"
FITTED = {("times-amd", "Heat-ir 1k"), ("times-intel", "SOR-ir 2k")}


@pytest.fixture(scope="module")
def study() -> Study:
    return read_study("laws")


def test_no_digit_of_the_published_values_has_changed(study: Study) -> None:
    folder = study.folder / "published"
    listed = dict(re.findall(r"\| `([\w.]+\.csv)` \|.*\| `([0-9a-f]{32})` \|", (folder / "README.md").read_text()))
    assert listed == {path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:32] for path in folder.glob("*.csv")}


def test_two_values_are_fitted_one_a_server(study: Study) -> None:
    columns = [(table, spec) for table in study.tables.values() for spec in table.columns.values()]
    assert {(table.id, row) for table, spec in columns for row in spec.fitted} == FITTED
    assert not [table.id for table, spec in columns if spec.role is Role.FITTED]
    parameters = (*study.parameters, *study.refused)
    assert {(each.table, row) for each in parameters for row in each.fitted_rows} == FITTED
    assert {each.field for each in parameters} == {"workload.ps_per_1000_ops"}


def test_the_fitted_time_saves_what_is_recorded(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """The AMD server's, as `calibrate.py` found it: the saving that is printed, but for the recorded rest."""
    spec = importlib.util.spec_from_file_location("calibrate_laws", study.folder / "calibrate.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "calibrate_laws", script)  # dataclasses look for their module
    spec.loader.exec_module(script)
    (fitted,) = study.parameters
    machine = script.MACHINES[0]
    printed = float(study.published(machine.table, SAVED)[machine.row])
    saved = fmean(script.saved_percent(study, machine, int(fitted.value), 3))
    assert abs(printed - saved) / printed == pytest.approx(float(fitted.residual), abs=1e-4)


def test_nothing_is_fitted_where_cilks_misses_are_compared(study: Study) -> None:
    programs = {table.program for table in study.tables.values() if table.id.startswith("cilk-misses")}
    assert programs == {"amd-assumed"}
    assert not [each for each in (*study.parameters, *study.refused) if "amd-assumed" in each.programs]


@pytest.mark.parametrize("table", ["times-amd", "times-intel"])
def test_the_null_model_knows_the_other_three(study: Study, table: str) -> None:
    printed, others = (study.published(table, column) for column in (SAVED, OTHERS))
    for row in printed:
        rest = [value for other, value in printed.items() if other != row]
        assert others[row] == pytest.approx(fmean(rest), rel=1e-3)


def logarithms(study: Study, table: str) -> list[float]:
    return [abs(math.log(value)) for column in ("cats", "laws") for value in study.published(table, column).values()]


def test_the_bounds_of_misses_are_half_of_what_no_change_has(study: Study) -> None:
    stencils, elimination = logarithms(study, "misses-stencils"), logarithms(study, "misses-ge")
    scores = {rule.name: rule for rule in study.rules}
    for name, values in (("misses", stencils + elimination), ("misses, stencils", stencils)):
        bound = scores[name].bound
        assert bound is not None
        assert float(bound) == pytest.approx(fmean(values) / 2, rel=0.01)


def test_the_sizes_are_those_of_section_6_2(study: Study) -> None:
    """8096 rows; lines of 64 bytes, a quarter of an array a socket, give 11 quarters an iteration for Heat."""
    workload = Setting(study).spec(Wanted(study.programs["amd"], "Heat", "cilk")).workload.model_dump()
    assert (workload["x"], workload["y"], workload["sweeps"], workload["leaf_rows"]) == (8096, 1024, 200, 8)
    quarter = workload["x"] * workload["y"] * workload["element_bytes"] / 64 / 4
    assert round(5.72e8 / 200 / quarter) == 11
    every = [f"{name}{kind}" for kind in ("", "-ir") for name in ("Heat", "SOR", "GE", "9P", "6P", "25P")]
    assert [*study.programs["amd"].rows] == every
    assert [*study.programs["intel"].rows] == [name for name in every if not name.startswith("GE")]


def test_the_stencils_of_both_blocks_are_compared(study: Study) -> None:
    assert study.tables["cilk-misses-regular"].labels == STENCILS
    assert study.tables["misses-stencils"].labels == (*STENCILS, *(f"{name}-ir" for name in STENCILS))


@pytest.mark.parametrize("program", ["amd", "amd-sizes", "intel", "intel-sizes"])
def test_only_cats_has_its_data_on_all_nodes_page_by_page(study: Study, program: str) -> None:
    """Section 6.1 says so of CATS; under LAWS and Cilk whoever touches a page first has it."""
    setting, (row, *_) = Setting(study), study.programs[program].rows
    variants = study.programs[program].variants
    policies = {name: setting.spec(Wanted(study.programs[program], row, name)).strategy.placement for name in variants}
    assert {name for name, placement in policies.items() if placement and placement.policy == "interleave"} == {"cats"}


def pair(reader: int, home: int, read: int, owned: int = 0, cache: int = 0) -> dict[str, int]:
    return {"node_from": reader, "node_to": home, "bytes_read": read, "bytes_ownership": owned, "bytes_cache": cache}


def test_the_straggler_waits_longest_and_not_for_the_most_lines(study: Study) -> None:
    """On the thesis' machine, a line of the other node takes 124.7 ns and one of the own 77.3 ns."""
    machine, straggler = read_machine("xeon-e5-2620-2s"), study.part("straggler").straggler
    found = straggler(machine, [pair(0, 0, 64 * 120), pair(1, 0, 64 * 70, owned=64 * 30)])
    assert found == (100, 0)
    found = straggler(machine, [pair(0, 0, 64 * 200), pair(1, 1, 64 * 3), pair(1, 0, 64)])
    assert found == (200, 200)
    found = straggler(machine, [pair(0, 1, 0, cache=640), pair(0, 0, 64)])  # lines of other caches are of no memory
    assert found == (11, 1)


def test_laws_saves_a_cacheful_of_misses_in_each_sweep(study: Study) -> None:
    """What Table IV has of the ten stencils: see the page on LAWS."""
    cache, quarter = 6 * 2**20, {True: 8096 * 1024 * 8 // 4, False: 8096 * 64 * 64 * 8 // 4}
    printed = pd.read_csv(study.folder / "published" / "laws_table_4_l3_misses_stencils.csv", index_col="program")
    cilk, laws = printed["cilk"], printed["laws"]
    saved, error, unchanged = [], [], []
    for row in printed.index:
        heat = "Heat-ir" if row.endswith("-ir") else "Heat"
        turns = 2 if row.startswith("SOR") else 1  # half sweeps
        data = 2 * quarter[row.split("-")[0] not in ("6P", "25P")]  # the lines of a sweep, in bytes
        sweeps = turns * cilk[heat] * 64 / (2 * quarter[True])
        saved.append((cilk[row] - laws[row]) * 64 / sweeps)
        unchanged.append(math.log(laws[row] / cilk[row]))
        error.append(unchanged[-1] - math.log(1 - cache / data))
    assert fmean(saved) / 2**20 == pytest.approx(6.2, abs=0.05)
    assert fmean(map(abs, error)) == pytest.approx(0.042, abs=5e-4)
    assert fmean(map(abs, unchanged)) == pytest.approx(0.125, abs=5e-4)
