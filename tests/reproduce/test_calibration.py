"""Searches of calibrations against closed forms, published values that calibrations read, and calibrated.yaml."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numasim.errors import InputError
from numasim.reproduce.calibration_file import (
    Calibration,
    FittedParameter,
    RefusedParameter,
    StepScore,
    read_calibration,
)
from numasim.reproduce.programs import Wanted
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import read_study

sys.path.append(str(Path(__file__).resolve().parents[2] / "experiments"))

from parameter_search import (
    Axis,
    Evidence,
    Explored,
    Point,
    Reading,
    Readings,
    Verdict,
    calibration_yaml,
    fit,
    identified_root,
    joined,
    lowest,
    of_steps,
    rising_root,
    root_at,
)

# ---- The searches ----

AXES = (Axis("x", 10, 0, 100, 16, 1), Axis("y", 90, -20, 90, 8, 2))


@given(st.integers(-30, 130), st.integers(-40, 110))
@settings(max_examples=60)
def test_the_lowest_point_of_a_bowl_is_found_and_no_point_is_asked_for_twice(x: int, y: int) -> None:
    def cost(a: int, b: int) -> int:
        return (a - x) ** 2 + 3 * (b - y) ** 2

    asked: list[Point] = []
    told: list[float] = []

    def costs(points: Sequence[Point]) -> list[float]:
        asked.extend(points)
        return [cost(*point) for point in points]

    point, least = lowest(AXES, Explored(costs), lambda _, better: told.append(better))
    assert cost(*point) == least == told[-1] == min(cost(a, b) for a in range(101) for b in range(-20, 91, 2))
    assert told == sorted(set(told), reverse=True)
    assert len(asked) == len(set(asked))
    assert all(axis.low <= number <= axis.high for each in asked for axis, number in zip(AXES, each, strict=True))


def test_a_search_ends_at_a_cost_that_is_enough() -> None:
    costs = Explored(lambda points: [float(abs(a - 37)) for a, _ in points])
    found = lowest(AXES, costs, start=(50, 0), enough=6)
    assert found == ((34, 0), 3)


@given(st.integers(1, 10**7), st.integers(1, 10**7), st.floats(0.01, 100))
def test_the_root_of_a_line_is_found(root: int, start: int, slope: float) -> None:
    assert rising_root(lambda number: slope * (number - root) / root, start, tolerance=0) == root


@given(st.integers(1, 5000), st.integers(1, 5000))
def test_a_jump_over_zero_is_bisected(edge: int, start: int) -> None:
    found = rising_root(lambda number: -0.1 if number < edge else 0.4, start, tolerance=0, most=40)
    assert found < edge or edge == 1


# ---- Which parameters the data identify ----

X, Y, Z = (Axis(name, 30, 0, 100, 16, 1) for name in "xyz")
FIVE = Evidence(5)  # five values, one parameter: at residual 1 sigma^2 is 5 / 4, and 3.84 * sigma^2 / 5 is 0.96


def fitted(excess: Callable[..., float], *axes: Axis, evidence: Evidence = FIVE) -> tuple[Verdict, ...]:
    """Return the verdict on each parameter if the squared residual at a point is 1 + ``excess`` of the point."""
    asked: list[Point] = []

    def costs(points: Sequence[Point]) -> list[float]:
        asked.extend(points)
        return [math.sqrt(1 + excess(*point)) for point in points]

    found = fit(axes, costs, evidence)
    assert len(asked) == len(set(asked))
    return found


def found_of(verdicts: Iterable[Verdict], *, refused: bool) -> dict[str, int]:
    return {verdict.axis.name: verdict.found for verdict in verdicts if verdict.refused is refused}


@pytest.mark.parametrize(
    ("evidence", "deviation", "limit"),
    [
        (Evidence(5), math.sqrt(5 / 4), math.sqrt(1.96)),
        (Evidence(10, others=4), math.sqrt(2), math.sqrt(1 + 0.384 * 2)),
        (Evidence(5, noise=2), 2, math.sqrt(1 + 3.84 * 4 / 5)),
        # no degree of freedom is left, so only the noise counts
        (Evidence(2, others=1, noise=0.5), 0.5, math.sqrt(1 + 3.84 / 8)),
    ],
)
def test_the_limit_follows_from_noise_or_from_the_residual(evidence: Evidence, deviation: float, limit: float) -> None:
    assert evidence.deviation(1, 1) == pytest.approx(deviation)
    assert evidence.limit(1, 1) == pytest.approx(limit)


@given(st.integers(0, 100), st.integers(1, 60), st.sampled_from([(FIVE, 0.96), (Evidence(5, noise=2), 3.072)]))
@settings(max_examples=60)
def test_the_interval_of_a_parabola_is_its_closed_form(lowest: int, width: int, data: tuple[Evidence, float]) -> None:
    (found,) = fitted(lambda x: ((x - lowest) / width) ** 2, X, evidence=data[0])
    reach = math.floor(math.sqrt(data[1]) * width)
    assert (found.low, found.found, found.high) == (max(0, lowest - reach), lowest, min(100, lowest + reach))
    assert found.refused is (found.low == 0 or found.high == 100)


@pytest.mark.parametrize(
    ("excess", "interval"),
    [
        (lambda x: (100 - x) / 10, (91, 100)),  # the excess falls to the end of the range
        (lambda _: 0, (0, 100)),  # the excess is flat
        (lambda x: max(0, 60 - x) / 10, (51, 100)),  # no upper limit
        # The search stops in the hollow at 28. The profile looks at the end of the range, which is lower.
        (lambda x: {28: 4.0, 100: 0.0}.get(x, 5 + abs(x - 28) / 100), (100, 100)),
    ],
)
def test_an_interval_that_reaches_an_end_is_refused(excess: Callable[[int], float], interval: tuple[int, int]) -> None:
    (found,) = fitted(excess, X)
    assert found.refused
    assert (found.low, found.high) == interval
    assert found.reason in found.text


def test_two_parameters_that_trade_off_are_both_refused_though_each_alone_is_identified() -> None:
    def excess(x: int, y: int) -> float:
        return (x + y - 100) ** 2 / 25

    both = fitted(excess, X, Y)
    assert found_of(both, refused=True).keys() == {"x", "y"}
    (alone,) = fitted(excess, X, Y.held(30))
    assert (alone.low, alone.found, alone.high) == (66, 70, 74)
    assert not alone.refused


def test_an_identified_parameter_is_found_again_with_refused_parameters_at_their_starts() -> None:
    """The residual is least wherever x + z = 110, so that x is not identified: x is refused and stays at 30."""

    def excess(x: int, z: int) -> float:
        return max(0, 60 - x) / 10 + (x - 60) / 1000 + ((z - 50 + min(20, x - 30) // 2) / 10) ** 2

    found = fitted(excess, X, Z)
    assert found_of(found, refused=True).keys() == {"x"}
    assert found_of(found, refused=False) == {"z": 50}  # z is fitted with x at 30


def test_a_parameter_beside_two_that_trade_off_is_accepted() -> None:
    found = fitted(lambda x, y, z: (x + y - 100) ** 2 / 25 + ((z - 40) / 2) ** 2 + (x + y - 60) ** 2, X, Y, Z)
    assert found_of(found, refused=True).keys() == {"x", "y"}
    assert found_of(found, refused=False) == {"z": 40}


# ---- Roots ----

TIME = Axis("time", 50, 0, 1000, 10, 1)


@pytest.mark.parametrize(
    ("error", "noise", "found", "low", "high"),
    [
        (lambda time: time / 100 - 1, 0.05, 100, 91, 109),  # 1.96 * 0.05 = 0.098
        # A jump over zero leaves an error of 0.2 or -0.3: 1.96 * 0.2 = 0.392 covers both, so that no time is excluded.
        (lambda time: -0.3 if time < 100 else 0.2, 0.001, None, 0, 1000),
        (lambda time: min(time, 100) / 100 - 1, 0.05, 100, 91, 1000),  # beyond 100 a longer time changes nothing
        (lambda time: 0.5 + time / 1000, 0.01, 1, 0, None),  # too large everywhere
        (lambda time: -0.5 - 1 / (time + 1), 0.01, 1000, None, 1000),  # too small everywhere
    ],
)
def test_a_root_has_the_numbers_that_noise_explains(
    error: Callable[[int], float], noise: float, found: int | None, low: int | None, high: int | None
) -> None:
    root = identified_root(error, TIME, noise, tolerance=0)
    expected = ((found, root.found), (low, root.low), (high, root.high))
    assert [value for wanted, value in expected if wanted is not None] == [e for e, _ in expected if e is not None]
    assert root.refused is (root.low == 0 or root.high == 1000)


def test_a_known_root_keeps_its_number() -> None:
    root = root_at(lambda time: time / 100 - 1, TIME, 101, 0.05)
    assert (root.found, root.residual) == (101, pytest.approx(0.01))
    assert root.low < 101 < root.high


# ---- A calibration that reads a prediction is caught ----


def test_every_reading_is_kept(small_study: Path) -> None:
    readings = Readings(read_study(str(small_study)))
    assert readings.values("1.1", "plain_s") == {"small": 4, "large": 9}
    assert readings.values("1.2", "attempts", ["2"]) == {"2": 10}
    assert readings.done == [Reading("1.1", "plain_s", ("small", "large")), Reading("1.2", "attempts", ("2",))]
    with pytest.raises(InputError, match=r"table 1\.1 has no row 'smal'.*did you mean 'small'"):
        readings.values("1.1", "plain_s", ["smal"])


def test_the_rounding_follows_from_the_last_printed_digit(small_study: Path) -> None:
    path = small_study / "published" / "times.csv"
    path.write_text("program,plain_s,domains_s\nsmall,4.50,2\nlarge,120,3\n")
    found = Readings(read_study(str(small_study))).rounding("1.1", "plain_s")
    assert found == {"small": pytest.approx(0.01 / 4.5 / 12**0.5), "large": pytest.approx(1 / 120 / 12**0.5)}


# ---- The file ----


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
    scores=(StepScore(step=1, rms=0.5, errors={"small, plain_s": -0.5}),),
)


def test_the_text_is_read_again_and_a_mistake_in_it_has_its_place(tmp_path: Path) -> None:
    path, text = tmp_path / "calibrated.yaml", calibration_yaml(CALIBRATION, "made\nby hand")
    path.write_text(text)
    assert text.startswith("# made\n# by hand\nparameters:\n")
    assert read_calibration(path) == CALIBRATION
    assert read_calibration(tmp_path / "none.yaml") == Calibration()
    path.write_text(text.replace("residual", "residuum", 1))
    with pytest.raises(InputError, match=r"calibrated\.yaml:\d+:\d+.*residuum.*did you mean 'residual'"):
        read_calibration(path)


def test_steps_are_taken_out_and_put_back_in_their_order() -> None:
    first, second = of_steps(CALIBRATION, [1]), of_steps(CALIBRATION, {2})
    assert [each.name for each in first.parameters] == ["overlap"]
    assert [len(each.refused) for each in (first, second)] == [0, 1]
    assert joined(second, first) == CALIBRATION


def test_a_study_runs_with_what_was_fitted_and_not_with_what_was_refused(small_study: Path) -> None:
    (small_study / "calibrated.yaml").write_text(calibration_yaml(CALIBRATION, ""))
    study = read_study(str(small_study))
    assert study.refused == (REFUSED,)
    assert (CALIBRATION.parameters[1].runs, REFUSED.data) == ("trees (small)", "table 1.1: domains s")
    rows = [(only, row) for only, row in itertools.product((False, True), ("small", "large"))]
    specs = [Setting(study, only_rates=only).spec(Wanted(study.programs["trees"], row, "plain")) for only, row in rows]
    assert [float(each.model.overlap) for each in specs] == [0.35, 0.35, 0.5, 0.5]
    assert [each.runtime.capacity for each in specs] == [64, 256, 256, 256]
    assert specs[0].runtime.backoff.first_ns == "task"
    assert {float(each.workload.leaf_ns) for each in specs} == {100.0}  # type: ignore[union-attr]
    assert float(Setting(study).spec(Wanted(study.programs["grid"])).model.overlap) == 1


def test_a_parameter_of_no_program_is_a_mistake(small_study: Path) -> None:
    refused = REFUSED.model_copy(update={"programs": ("treees",)})
    (small_study / "calibrated.yaml").write_text(calibration_yaml(Calibration(refused=(refused,)), ""))
    with pytest.raises(InputError, match=r"no program 'treees'.*did you mean 'trees'"):
        read_study(str(small_study))
