"""The study of SkelAff: what is printed, what is assumed, and what nobody can say of its gains who knows the others."""

from __future__ import annotations

import importlib.util
import math
import sys
from statistics import fmean

import pytest

from numasim.engine.simulate import simulate_spec
from numasim.machine.build_machine import build
from numasim.plan.build_plan import build_plan
from numasim.reproduce.load import read_study
from numasim.reproduce.programs import Wanted
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import Study
from numasim.reproduce.table_cells import Role
from numasim.spec.overrides import from_mapping
from numasim.workload.generate import generate
from numasim.workload.parameters import WorkloadParameters

PRINTED = "skelaff_gain_percent"
GAINS = ("gains-numa16", "gains-numa32")
VARIANTS = ("baseline", "skelaff")
COUNTED = {  # of a unit: mean time at an instruction a cycle of 2.27 GHz in ns, lines that it reads, MiB of data
    "intruder": (2146, 64, 51),
    "kmeans": (4985, 2, None),
    "vacation": (7217, 64, 36),
    "yada": (33_134, 48, None),
}
SCALE = 16  # data and caches of the study are this part of the real ones


@pytest.fixture(scope="module")
def study() -> Study:
    return read_study("skelaff")


def workload_of(study: Study, row: str) -> WorkloadParameters:
    units = Setting(study).spec(Wanted(study.programs["stamp"], row, "numa32 baseline")).workload
    assert isinstance(units, WorkloadParameters)
    return units


def test_the_null_model_knows_the_other_five_gains(study: Study) -> None:
    gains = {
        (table, row): value for table in GAINS for row, value in study.published(table, "skelaff_gain_percent").items()
    }
    assert sorted(gains.values()) == [1, 7, 7, 13, 14, 46]
    for table in GAINS:
        for row, null in study.published(table, "mean_of_the_others_percent").items():
            assert null == pytest.approx(fmean(value for key, value in gains.items() if key != (table, row)))


def test_only_the_objects_of_programs_that_abort_often_are_fitted_and_these_to_table_2(study: Study) -> None:
    assert {each.field for each in (*study.parameters, *study.refused)} == {"workload.objects"}
    assert {each.table for each in (*study.parameters, *study.refused)} == {"2"}
    assert [each.rows for each in study.parameters] == [("intruder",), ("yada",)]
    assert [each.rows for each in study.refused] == [("kmeans",)]
    columns = [(name, spec) for name, table in study.tables.items() for spec in table.columns.values()]
    assert [name for name, spec in columns if spec.role == Role.FITTED] == ["2"]


def test_the_fitted_objects_are_the_most_that_come_nearest(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `calibrate.py` found them: one more step, and the program is fastest further from what is printed."""
    spec = importlib.util.spec_from_file_location("calibrate_skelaff", study.folder / "calibrate.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "calibrate_skelaff", script)
    spec.loader.exec_module(script)
    printed = study.published("2", "scalable_up_to_cores")
    for fitted in study.parameters:
        (row,), tried = fitted.rows, script.TRIED
        at = tried.index(fitted.value)
        here, next_one = (
            abs(math.log2(script.fastest_at(study, row, objects) / printed[row])) for objects in tried[at : at + 2]
        )
        assert here == fitted.residual < next_one


@pytest.mark.parametrize("row", COUNTED)
def test_units_are_what_was_counted(study: Study, row: str) -> None:
    mean_ns, lines, data = COUNTED[row]
    units = workload_of(study, row)
    graph = generate(units)
    given = units.model_dump()
    mean = graph.segment_compute_ps.sum() / 1000 / given["units"]
    assert mean - float(given["alone_ns"]) / given["units"] == pytest.approx(mean_ns, rel=0.05)
    assert given["lookups"] * given["record_bytes"] == 64 * lines
    if data:
        assert given["records"] * given["record_bytes"] * SCALE == pytest.approx(data * 2**20, rel=0.01)


@pytest.mark.parametrize(("row", "missed"), [("intruder", 36), ("vacation", 23)])
def test_a_cache_of_24_mib_misses_what_was_counted(study: Study, row: str, missed: int) -> None:
    """Of the 64 lines that a unit reads where 68 were counted, once caches are full."""
    changes = {"workers": 1, "workload.units": 40_000}
    spec = Setting(study).spec(Wanted(study.programs["stamp"], row, "numa32 baseline", tuple(from_mapping(changes))))
    counters = simulate_spec(spec, spec.seed).counters
    lines = (counters["bytes_local"] + counters["bytes_remote"]) / 64 / 40_000
    assert lines == pytest.approx(missed * 64 / 68, rel=0.06)


@pytest.mark.parametrize(("row", "many"), [("intruder", True), ("vacation", False), ("yada", True)])
def test_programs_abort_as_often_as_table_2_says(study: Study, row: str, many: bool) -> None:
    spec = Setting(study).spec(Wanted(study.programs["stamp"], row, "numa32 baseline"))
    ratio = simulate_spec(spec, spec.seed).row()["abort_ratio"]
    assert ratio > 0.6 if many else ratio < 0.07


@pytest.mark.parametrize(("row", "published"), [("intruder", 4), ("vacation", 16), ("yada", 16)])
def test_programs_stop_scaling_where_table_2_says_or_a_doubling_later(study: Study, row: str, published: int) -> None:
    program, times = study.programs["stamp"], {}
    for workers in (2, 4, 8, 16, 32):
        wanted = Wanted(program, row, "numa32 baseline", tuple(from_mapping({"workers": workers})))
        spec = Setting(study).spec(wanted)
        times[workers] = simulate_spec(spec, spec.seed).counters["makespan_ps"]
    assert min(times, key=times.__getitem__) in (published, 2 * published)


def test_the_heuristic_is_figure_7(study: Study) -> None:
    """Cyclic, but with who allocates where threads add units; helpers where a core beside the same cache is idle."""
    setting, program = Setting(study), study.programs["stamp"]
    for machine, workers in (("numa16", 8), ("numa16", 16), ("numa32", 16), ("numa32", 32)):
        for row in program.rows:
            wanted = Wanted(program, row, f"{machine} skelaff", tuple(from_mapping({"workers": workers})))
            plan = build_plan(setting.spec(wanted))
            placed = plan.placement.drawn(0)
            nodes = plan.machine.nodes
            assert placed.page_homes(0)[:nodes].tolist() == list(range(nodes))
            assert plan.placement.unplaced.tolist() == [False, True][: len(plan.workload.regions)]
            assert (len(plan.workload.regions) == 2) == (row == "yada")
            assert (plan.helpers is not None) == ((machine, workers) == ("numa32", 16))


def test_vacation_gains_by_cyclic_pages_on_numa16_what_one_node_cannot_serve(study: Study) -> None:
    """Sixteen workers ask more of the first node than it has, so that the baseline takes the time of its controller at
    least; with pages on all nodes they are faster than that.
    """
    changes = tuple(from_mapping({"workers": 16}))
    program, setting = study.programs["stamp"], Setting(study)
    specs = [setting.spec(Wanted(program, "vacation", f"numa16 {name}", changes)) for name in VARIANTS]
    found = [simulate_spec(spec, spec.seed).counters for spec in specs]
    served_ps = [
        (each["bytes_local"] + each["bytes_remote"]) * 10**12 // int(build(spec.machine).imc_bytes_per_s[0])
        for each, spec in zip(found, specs, strict=True)
    ]
    (baseline, cyclic), makespans = served_ps, [each["makespan_ps"] for each in found]
    assert baseline <= makespans[0] < 1.1 * baseline
    assert makespans[1] < cyclic
