"""Readings of a source: which runs they concern, which choice is in force, and what overrides them."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_study import FILES, write_study

from numasim.errors import InputError
from numasim.parts.yaml.nodes import from_python
from numasim.reproduce.plan.setting import Change, Setting, Wanted
from numasim.reproduce.study.contents import Study
from numasim.reproduce.study.study import read_study
from numasim.spec.overrides import from_mapping
from numasim.spec.single_part import NOWHERE

READINGS = """\
readings:
  workers of domains:
    question: How many workers had the second column?
    role: input
    programs: trees
    variants: domains
    scored: one on each core
    choices:
      one on each core: {says: section 3, set: {workers: cores}}
      one on each thread: {says: section 4, set: {workers: threads}}
      all but one: {says: nobody, set: {workers: 23}}
  steals:
    question: What was counted?
    role: chosen
    tables: "1.2"
    scored: attempts
    choices:
      attempts: {says: section 5}
      successes: {says: section 6}
"""


def with_readings(folder: Path, readings: str = READINGS) -> Path:
    """The small study with readings behind its last line."""
    last = FILES["study.yaml"].splitlines(keepends=True)[-1]
    return write_study(folder / "study", {"study.yaml": (last, last + readings)})


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return read_study(str(with_readings(tmp_path)))


def workers(setting: Setting, variant: str, **wanted: object) -> int:
    return setting.spec(Wanted(setting.study.programs["trees"], "small", variant, **wanted)).workers  # type: ignore[arg-type]


def test_a_reading_concerns_the_runs_that_it_names(study: Study) -> None:
    setting = Setting(study)
    assert workers(setting, "domains") == 12  # the cores of two Xeon E5-2620
    assert workers(setting, "plain") == 24
    assert setting.spec(Wanted(study.programs["grid"])).workers == 24


def test_another_choice_takes_the_place_of_the_scored_one(study: Study) -> None:
    assert workers(Setting(study, readings={"workers of domains": "all but one"}), "domains") == 23


def test_workers_on_each_core_follow_the_machine(study: Study) -> None:
    elsewhere = Setting(study, machine="xeon-x7560-4s")
    assert (workers(elsewhere, "domains"), workers(elsewhere, "plain")) == (32, 32)  # it has no second threads


def test_a_column_overrides_a_reading(study: Study) -> None:
    assert workers(Setting(study), "domains", changes=tuple(from_mapping({"workers": 5}))) == 5


def test_a_reading_of_a_table_leaves_other_tables_alone(tmp_path: Path) -> None:
    of_table = READINGS.replace("variants: domains", 'tables: "1.1"')
    study = read_study(str(with_readings(tmp_path, of_table)))
    assert workers(Setting(study), "plain", table="1.1") == 12
    assert workers(Setting(study), "plain", table="1.2") == 24
    assert workers(Setting(study), "plain") == 24


def test_choices_that_set_the_same_are_no_alternatives(study: Study) -> None:
    readings = study.file.readings
    assert readings["workers of domains"].others == ("one on each thread", "all but one")
    assert readings["steals"].others == ()


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


@pytest.mark.parametrize(
    ("old", "new", "at", "says"),
    [
        (
            "scored: attempts",
            "scored: attempt",
            "question: What",
            "scored names one of the choices, attempts, successes",
        ),
        ("role: chosen", "role: predicted", "role: predicted", "'predicted'"),
        ("variants: domains", "variants: domain", "variants: domain", "no variant 'domain'.*did you mean 'domains'"),
        ('tables: "1.2"', 'tables: "1.4"', 'tables: "1.4"', "no table '1.4'"),
        ("{says: section 3, set", "{say: section 3, set", "say: section 3", "no field 'say'"),
        ("{workers: cores}", "{wokers: cores}", "wokers", "no field 'wokers'.*did you mean 'workers'"),
    ],
)
def test_mistakes_in_a_reading(tmp_path: Path, old: str, new: str, at: str, says: str) -> None:
    folder = with_readings(tmp_path, READINGS.replace(old, new))
    with pytest.raises(InputError, match=says) as caught:
        workers(Setting(read_study(str(folder))), "domains")
    lines = (folder / "study.yaml").read_text().splitlines()
    (number,) = (number for number, line in enumerate(lines, 1) if at in line)
    assert f"study.yaml:{number}:" in str(caught.value)


def test_fields_of_changes_are_in_force_over_readings(study: Study) -> None:
    change = Change(from_python({"workers": 3}, NOWHERE))
    assert workers(Setting(study, changes=(change,)), "domains") == 3


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("{metric: mape, bound: 0.15}", "{metric: mape, question: one-stp}", "no question 'one-stp'.*'one-step'"),
        ("{metric: mape, bound: 0.15}", "{metric: mape, null: {table: '1.1', column: plain}}", "no column 'plain'"),
        ("{metric: mape, bound: 0.15}", "{metric: median-factor, null: best-constant}", "no single number scores best"),
        ("ablations:", "lead: time\nablations:", "no score 'time'.*'times'"),
        ("ablations:", "learned: ['{tmes} is off']\nablations:", "no score 'tmes'.*'times'"),
        ("ablations:", "learned: ['{times/nul} is off']\nablations:", "no part of a score 'nul'.*'null'"),
        (
            "ablations:",
            "tried:\n  - {score: tims, hypothesis: a, change: b, before: 1, after: 2, seen: no, kept: no}\nablations:",
            "no score 'tims'.*'times'",
        ),
    ],
)
def test_mistakes_in_what_is_asked_and_told(tmp_path: Path, old: str, new: str, says: str) -> None:
    folder = write_study(tmp_path / "study", {"study.yaml": (old, new)})
    with pytest.raises(InputError, match=says) as caught:
        read_study(str(folder))
    assert "study.yaml:" in str(caught.value)


def test_scores_range_over_readings_and_parameters(tmp_path: Path) -> None:
    from small_sensitivity import write_sensitivity

    from numasim.reproduce.reproduce import reproduce
    from numasim.reproduce.score.scoring import findings_of

    folder = with_readings(tmp_path)
    write_sensitivity(folder)
    found = reproduce(read_study(str(folder), ["1.1"]), tmp_path / "out", jobs=1)
    names = {(side.name, side.label) for side, _ in found.alternatives}
    assert {("workers of domains", "one on each thread"), ("workers of domains", "all but one")} < names
    findings = findings_of(found)
    (times,) = (score for score in findings.scores if score.name == "times")
    others = [each.value for choice in findings.readings[0].choices for each in choice.scores]
    assert len(others) == 2
    assert times.readings is not None
    assert (times.readings.low, times.readings.high) == (min(times.value, *others), max(times.value, *others))
    assert {("polling", "x 0.5"), ("polling", "x 2")} < names
    assert times.parameters is not None
    assert times.parameters.low <= times.value <= times.parameters.high
    quick = reproduce(read_study(str(folder), ["1.1"]), tmp_path / "quick", jobs=1, quick=True)
    assert quick.alternatives == ()
