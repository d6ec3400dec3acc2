"""What a calibration found is kept as text and read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from numasim.errors import InputError
from numasim.reproduce.calibration.record import (
    Calibration,
    FittedParameter,
    RefusedParameter,
    StepScore,
    calibration_yaml,
    errors_of,
    read_calibration,
    rms,
    score,
    with_residual,
)
from numasim.reproduce.load import read_study
from numasim.reproduce.programs import Wanted
from numasim.reproduce.setting import Setting


def parameter(
    name: str, field: str, value: float | str, step: int, rows: tuple[str, ...] = (), alone: float | None = None
) -> FittedParameter:
    return FittedParameter(
        name=name, field=field, programs=("trees",), rows=rows, value=value, unit="1", step=step, table="1.1",
        columns=("plain_s",), fitted_rows=("small", "large"), residual=0.0125, interval=(value, value), alone=alone,
    )  # fmt: skip


REFUSED = RefusedParameter(
    name="leaves", field="workload.leaf_ns", programs=("trees",), found=200, searched=(100, 200), interval=(120, 200),
    reason="The best value is an end.", step=2, table="1.1", columns=("domains_s",), fitted_rows=("small",),
)  # fmt: skip


CALIBRATION = Calibration(
    parameters=(
        parameter("overlap", "model.overlap", 0.35, 1, alone=0.5),
        parameter("capacity", "runtime.capacity", 64, 2, ("small",)),
        parameter("back-off", "runtime.backoff.first_ns", "task", 2, ("small",)),
    ),
    refused=(REFUSED,),
    scores=(StepScore(step=1, rms=0.5, errors={"small, plain_s": -0.5}, held_out={"large, plain_s": 0.25}),),
)


def test_the_text_is_read_again_and_is_the_same_every_time(tmp_path: Path) -> None:
    path = tmp_path / "calibrated.yaml"
    path.write_text(calibration_yaml(CALIBRATION, "made\nby hand"))
    assert path.read_text().startswith("# made\n# by hand\nparameters:\n")
    assert read_calibration(path) == CALIBRATION
    assert calibration_yaml(read_calibration(path), "made\nby hand") == path.read_text()
    assert read_calibration(tmp_path / "none.yaml") == Calibration()


def test_a_study_runs_with_what_was_found(small_study: Path) -> None:
    (small_study / "calibrated.yaml").write_text(calibration_yaml(CALIBRATION, ""))
    setting = Setting(study := read_study(str(small_study)))
    small, large = (setting.spec(Wanted(study.programs["trees"], row, "plain")) for row in ("small", "large"))
    assert [float(each.model.overlap) for each in (small, large)] == [0.35, 0.35]
    assert (small.runtime.capacity, small.runtime.backoff.first_ns) == (64, "task")
    assert large.runtime.capacity == 256
    assert float(setting.spec(Wanted(study.programs["grid"])).model.overlap) == 1


def test_a_mistake_in_the_file_has_its_place(tmp_path: Path) -> None:
    path = tmp_path / "calibrated.yaml"
    path.write_text(calibration_yaml(CALIBRATION, "").replace("residual", "residuum", 1))
    with pytest.raises(InputError, match=r"calibrated\.yaml:\d+:\d+.*residuum.*did you mean 'residual'"):
        read_calibration(path)


def test_steps_are_taken_out_and_put_back_in_their_order() -> None:
    first, second = CALIBRATION.of([1]), CALIBRATION.of({2})
    assert [each.name for each in first.parameters] == ["overlap"]
    assert [len(each.scores) for each in (first, second)] == [1, 0]
    assert [len(each.refused) for each in (first, second)] == [0, 1]
    assert second.joined(first) == CALIBRATION
    assert CALIBRATION.value("capacity") == 64


def test_errors_and_scores() -> None:
    errors = errors_of("s", {"a": 3.0, "b": 1.0}, {"a": 2.0, "b": 2.0, "c": 9.0})
    assert errors == {"a, s": 0.5, "b, s": -0.5}
    assert rms([3, 4, 0, 0]) == 2.5
    scored = score(1, {"a, s": 0.30004, "b, s": 0.4}, {"c, s": -1})
    assert (scored.rms, dict(scored.errors), dict(scored.held_out)) == (
        0.3536,
        {"a, s": 0.3, "b, s": 0.4},
        {"c, s": -1},
    )
    found = with_residual(CALIBRATION.of([2]), score(2, {"a, s": 0.3, "b, s": 0.4}))
    assert ({each.residual for each in found.parameters}, [each.step for each in found.scores]) == ({0.3536}, [2])


def test_a_score_is_that_of_the_parameters_of_its_own_step() -> None:
    found = with_residual(CALIBRATION.model_copy(update={"scores": ()}), score(2, {"a, s": 0.5}))
    assert [each.residual for each in found.parameters] == [0.0125, 0.5, 0.5]


def test_with_rates_alone_a_study_has_the_first_step_at_the_values_that_belong_to_it(small_study: Path) -> None:
    (small_study / "calibrated.yaml").write_text(calibration_yaml(CALIBRATION, ""))
    study = read_study(str(small_study))
    wanted = Wanted(study.programs["trees"], "small", "plain")
    fitted, rates = (Setting(study, only_rates=only).spec(wanted) for only in (False, True))
    assert [float(each.model.overlap) for each in (fitted, rates)] == [0.35, 0.5]
    assert [each.runtime.capacity for each in (fitted, rates)] == [64, 256]


def test_a_refused_parameter_is_kept_with_the_study_and_set_nowhere(small_study: Path) -> None:
    (small_study / "calibrated.yaml").write_text(calibration_yaml(CALIBRATION, ""))
    study = read_study(str(small_study))
    assert study.refused == (REFUSED,)
    spec = Setting(study).spec(Wanted(study.programs["trees"], "small", "plain"))
    assert float(spec.workload.leaf_ns) == 100  # type: ignore[union-attr]


def test_a_refused_parameter_of_no_program_is_a_mistake(small_study: Path) -> None:
    refused = REFUSED.model_copy(update={"programs": ("treees",)})
    (small_study / "calibrated.yaml").write_text(calibration_yaml(Calibration(refused=(refused,)), ""))
    with pytest.raises(InputError, match=r"no program 'treees'.*did you mean 'trees'"):
        read_study(str(small_study))
