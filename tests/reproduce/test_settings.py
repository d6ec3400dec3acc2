"""The fields of runs: readings (how a study interprets its paper), fitted parameters, changes, and their order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from small_study import write_study

from numasim.errors import InputError
from numasim.reproduce.findings import findings_of
from numasim.reproduce.programs import Change, Fields, Wanted
from numasim.reproduce.reproduce import reproduce
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import Study, read_study

READINGS = """\
{
    "workers of domains": {
        "question": "How many workers had the second column?", "role": "input", "programs": "trees",
        "variants": "domains", "scored": "one on each core",
        "choices": {
            "one on each core": {"says": "section 3", "set": {"workers": "cores"}},
            "one on each thread": {"says": "section 4", "set": {"workers": "threads"}},
            "all but one": {"says": "nobody", "set": {"workers": 23}},
        },
    },
    "steals": {
        "question": "What was counted?", "role": "chosen", "tables": "1.2", "scored": "attempts",
        "choices": {"attempts": {"says": "section 5"}, "successes": {"says": "section 6"}},
    },
}
"""


def read(folder: Path, readings: str = READINGS, more: str = "") -> Study:
    return read_study(str(write_study(folder, "READINGS = {}", f"READINGS = {readings}", more)))


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return read(tmp_path / "study")


def workers(setting: Setting, variant: str, **wanted: object) -> int:
    return setting.spec(Wanted(setting.study.programs["trees"], "small", variant, **wanted)).workers  # type: ignore[arg-type]


def test_a_reading_concerns_the_runs_that_it_names(study: Study) -> None:
    setting = Setting(study)
    assert workers(setting, "domains") == 12  # the cores of two Xeon E5-2620
    assert workers(setting, "plain") == 24
    assert setting.spec(Wanted(study.programs["grid"])).workers == 24
    of_table = {"table": "1.1"}
    study = read(study.folder, READINGS.replace('"variants": "domains"', '"tables": "1.1"'))
    assert (workers(Setting(study), "plain", **of_table), workers(Setting(study), "plain")) == (12, 24)


def test_later_ones_override_earlier_ones(study: Study) -> None:
    assert workers(Setting(study, readings={"workers of domains": "all but one"}), "domains") == 23
    assert workers(Setting(study), "domains", changes=Fields({"workers": 5}).assignments) == 5
    assert workers(Setting(study, changes=(Change(Fields({"workers": 3})),)), "domains") == 3
    elsewhere = Setting(study, machine="xeon-x7560-4s")  # this machine has one hardware thread per core
    assert (workers(elsewhere, "domains"), workers(elsewhere, "plain")) == (32, 32)


@pytest.mark.parametrize(
    ("readings", "says"),
    [
        ({"workers": "one on each core"}, "no reading 'workers'.*did you mean 'workers of domains'"),
        ({"workers of domains": "one on each cor"}, "no choice .*'one on each cor'.*did you mean 'one on each core'"),
    ],
)
def test_an_unknown_reading_is_refused(study: Study, readings: dict[str, str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Setting(study, readings=readings)


SIDES = """\
MORE["fitted_sides"] = lambda study: [
    Side("polling", side, f"x {factor}", (Change(Fields({"runtime.poll_ns": round(400 * factor)})),))
    for side, factor in (("low", 0.5), ("high", 2))
]
"""


def test_scores_range_over_readings_and_parameters(tmp_path: Path) -> None:
    study = replace(read(tmp_path / "study", more=SIDES), chosen=("1.1",))
    found = reproduce(study, tmp_path / "out", jobs=1)
    names = {(side.name, side.label) for side, _ in found.alternatives}
    workers = {("workers of domains", "one on each thread"), ("workers of domains", "all but one")}
    assert names == workers | {("polling", "x 0.5"), ("polling", "x 2")}
    findings = findings_of(found)
    (times,) = (score for score in findings.scores if score.name == "times")
    others = [each.value for name in workers for each in findings.others[name]]
    assert len(others) == 2
    assert times.readings is not None
    assert (times.readings.low, times.readings.high) == (min(times.value, *others), max(times.value, *others))
    assert times.parameters is not None
    assert times.parameters.low <= times.value <= times.parameters.high
    assert reproduce(study, tmp_path / "quick", jobs=1, quick=True).alternatives == ()
