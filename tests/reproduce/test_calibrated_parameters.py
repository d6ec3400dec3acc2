"""What a calibration fitted is in the runs that it was fitted for, under what a table itself sets."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from numasim.errors import InputError
from numasim.reproduce.kinds import KINDS
from numasim.reproduce.plan.setting import Setting
from numasim.reproduce.study.study import read_study
from numasim.spec.run_spec import RunSpec

CALIBRATED = """\
parameters:
  - {name: overlap, set: model.mlp, programs: [trees], value: "0.8", unit: "1", table: "1.1", step: 2, residual: "0.1"}
  - {name: leaves, set: workload.leaf_ns, programs: [trees], rows: [large], value: 120, unit: ns, step: 1}
  - {name: memory, set: machine.nodes.imc_bandwidth_gbs, programs: [trees, grid], value: "21.5", unit: GB/s, step: 2}
  - {name: capacity, set: runtime.capacity, programs: [grid], value: 300, unit: tasks, step: 3}
scores: [{step: 1, rms: 0.01, errors: {}}]
"""


def specs(folder: Path, table: str, machine: str | None = None) -> list[RunSpec]:
    study = read_study(str(folder))
    plan = KINDS["runs"].plan(Setting(study, machine=machine), study.tables[table])
    return [run.spec for run in plan.runs]


@pytest.fixture
def calibrated(small_study: Path) -> Path:
    (small_study / "calibrated.yaml").write_text(CALIBRATED)
    return small_study


def test_a_parameter_is_set_in_its_programs_alone(calibrated: Path) -> None:
    assert {spec.model.mlp for spec in specs(calibrated, "1.1")} == {Decimal("0.8")}
    assert {spec.model.mlp for spec in specs(calibrated, "1.2")} == {Decimal(1)}
    assert {spec.runtime.capacity for spec in specs(calibrated, "1.2")} == {300}
    assert {spec.runtime.capacity for spec in specs(calibrated, "1.1")} == {256}


def test_a_parameter_of_some_rows_is_set_in_these_alone(calibrated: Path) -> None:
    leaves = {(spec.workload.n, spec.workload.leaf_ns) for spec in specs(calibrated, "1.1")}  # type: ignore[union-attr]
    assert leaves == {(6, Decimal(100)), (9, Decimal(120))}


def test_another_machine_is_as_its_own_file_describes_it(calibrated: Path) -> None:
    def bandwidths(machine: str | None) -> set[Decimal]:
        return {spec.machine.nodes.imc_bandwidth_gbs for spec in specs(calibrated, "1.2", machine)}  # type: ignore[misc]

    assert bandwidths(None) == {Decimal("21.5")}
    assert Decimal("21.5") not in bandwidths("xeon-x7560-4s")
    assert {spec.runtime.capacity for spec in specs(calibrated, "1.2", "xeon-x7560-4s")} == {300}


def test_what_a_column_sets_is_on_top(calibrated: Path) -> None:
    path = calibrated / "tables" / "table-1-1.yaml"
    path.write_text(path.read_text().replace("{variant: plain,", "{variant: plain, set: {model.mlp: 0.5},"))
    found = {(spec.strategy.name, spec.model.mlp) for spec in specs(calibrated, "1.1")}
    assert found == {("randomized", Decimal("0.5")), ("topology-aware", Decimal("0.8"))}


def test_a_parameter_of_no_program_is_refused(small_study: Path) -> None:
    (small_study / "calibrated.yaml").write_text(CALIBRATED.replace("[trees, grid]", "[trees, gird]"))
    with pytest.raises(InputError, match=r"calibrated\.yaml:4.*no program 'gird'.*did you mean 'grid'"):
        read_study(str(small_study))
