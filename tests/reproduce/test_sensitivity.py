"""One thing changed at a time: every value is that of runs that were put together by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cells_by_hand import cell, table
from small_sensitivity import write_sensitivity

from numasim.draws import repeat_seed
from numasim.engine.simulate import simulate_spec
from numasim.errors import InputError
from numasim.reproduce.score.contribution_effects import effect, speedup_gain
from numasim.reproduce.score.robustness import HEADINGS, robustness
from numasim.reproduce.score.sensitivity import EFFECT, SEEDS, Conclusion, Influence, Sensitivity, Side, sensitivity
from numasim.reproduce.study.sensitivity_file import read_ranges
from numasim.reproduce.study.study import read_study
from numasim.reproduce.study.study_files import ContributionSpec, ReadingSpec
from numasim.spec.run_spec import resolve

PUBLISHED_S = 2.0  # of the only row that is not left out
STRATEGIES = {"plain": "randomized", "domains": "topology-aware"}


@pytest.fixture
def look(small_study: Path, tmp_path: Path) -> Callable[..., Sensitivity]:
    write_sensitivity(small_study)
    return lambda **options: sensitivity(read_study(str(small_study)), tmp_path / "out", jobs=1, **options)


def time_s(variant: str, repeat: int = 0, strategy: str = "", poll_ns: int = 400, **workload: Any) -> float:
    spec = {
        "machine": "xeon-e5-2620-2s",
        "workload": {"name": "fib", "n": 6, **workload},
        "runtime": {"like": "ompi", "poll_ns": poll_ns},
        "strategy": strategy or STRATEGIES[variant],
        "workers": 24,
        "seed": 3,
    }
    return float(simulate_spec(resolve(spec), repeat_seed(3, repeat)).row()["makespan_ps"]) / 1e12


def by_hand(repeat: int = 0, **changes: Any) -> dict[str, float]:
    plain, domains = (time_s(variant, repeat, **changes) for variant in STRATEGIES)
    return {"stealing domains": plain / domains - 1, "times": abs(domains - PUBLISHED_S) / PUBLISHED_S}


def test_as_modelled_every_seed_is_what_its_runs_say(look: Callable[..., Sensitivity]) -> None:
    found = {each.name: each for each in look(only=["leaf"]).conclusions}
    assert {name: (each.metric, each.bound) for name, each in found.items()} == {
        "stealing domains": (EFFECT, 0.0),
        "times": ("mape", 0.15),
    }
    for name, each in found.items():
        assert each.seeds == pytest.approx([by_hand(repeat)[name] for repeat in range(SEEDS)], abs=1e-12)
        assert each.value == each.seeds[0]


def test_each_side_changes_one_thing_alone(look: Callable[..., Sensitivity]) -> None:
    sides = {
        (influence.name, end): (side.label, side.values)
        for influence in look().influences
        for end, side in influence.sides.items()
    }
    domains_at_random = time_s("domains", strategy="randomized")
    expected = {
        ("polling", "low"): ("x 0.5", by_hand(poll_ns=200)),
        ("polling", "high"): ("x 2", by_hand(poll_ns=800)),
        ("leaf", "low"): ("700", by_hand(leaf_ns=700)),
        ("leaf", "high"): ("2000", by_hand(leaf_ns=2000)),
        ("domains of small trees", "low"): (
            "none",
            {"stealing domains": 0.0, "times": abs(domains_at_random - PUBLISHED_S) / PUBLISHED_S},
        ),
        ("size of matrices", "high"): ("32", by_hand()),
    }
    assert sides.keys() == expected.keys()
    for key, (label, values) in expected.items():
        assert sides[key] == (label, pytest.approx(values, abs=1e-12)), key


def test_kinds_and_sources_are_told(look: Callable[..., Sensitivity]) -> None:
    found = look(only=["polling", "leaf"])
    told = [(each.name, each.kind, each.source) for each in found.influences]
    assert told == [("polling", "fitted", "a guess"), ("leaf", "vendor", "a data sheet")]


def test_what_moves_nothing_has_no_bar(look: Callable[..., Sensitivity]) -> None:
    found = look()
    for conclusion in found.conclusions:
        moving = found.sorted_for(conclusion)
        assert "size of matrices" not in {each.name for each in moving}
        reaches = [each.reach(conclusion) for each in moving]
        assert reaches == sorted(reaches, reverse=True)
        assert all(reaches)


def test_only_some_rows(look: Callable[..., Sensitivity]) -> None:
    assert look(only=["leaf"], rows=["large"]).conclusions == ()  # which a quick reproduction leaves out
    assert look(only=["leaf"], rows=["small"]).conclusions == look(only=["leaf"]).conclusions


# ---- by hand ----


def made_up() -> Sensitivity:
    gain = Conclusion("locks", EFFECT, 0.02, (0.02, 0.03, -0.01), 0.0)
    times = Conclusion("times", "mape", 0.12, (0.12, 0.12, 0.12), 0.15)
    first = {"low": Side("1", {"locks": -0.04, "times": 0.2}), "high": Side("9", {"locks": 0.05, "times": 0.1})}
    second = {"low": Side("no", {"locks": 0.03, "times": math.nan})}
    return Sensitivity(
        (gain, times), (Influence("second", "reading", "?", second), Influence("first", "fitted", "?", first)), 10
    )


def test_the_reach_of_a_bar_includes_the_value_as_modelled() -> None:
    found = made_up()
    second, first = found.influences
    gain, times = found.conclusions
    assert (first.reach(gain), second.reach(gain)) == pytest.approx((0.09, 0.01))
    assert (first.reach(times), second.reach(times)) == pytest.approx((0.1, 0.0))
    assert [each.name for each in found.sorted_for(gain)] == ["first", "second"]
    assert [each.name for each in found.sorted_for(times)] == ["first"]


def test_a_conclusion_holds_while_sign_or_verdict_stay() -> None:
    gain, times = made_up().conclusions
    assert [gain.holds(value) for value in (0.1, 0.0, -0.1, math.nan)] == [True, False, False, False]
    assert [times.holds(value) for value in (0.15, 0.16)] == [True, False]
    assert Conclusion("times", "mape", 0.12, (), None).holds(9.0)


def test_the_table_tells_range_and_how_often_a_conclusion_holds() -> None:
    locks, times = robustness(made_up())
    assert len(locks) == len(HEADINGS)
    assert locks == ("locks", "2.0%", "-1.0% to 3.0%", "-4.0% (first: 1)", "5.0% (first: 9)", "2 of 3")
    assert times == ("times", "12.0%", "12.0% to 12.0%", "10.0% (first: 9)", "20.0% (first: 1)", "1 of 2")


def test_an_effect_is_the_geometric_mean_over_rows_with_both_times() -> None:
    times = {("a", "old"): 4.0, ("a", "new"): 2.0, ("b", "old"): 1.0, ("b", "new"): 2.0, ("c", "old"): 5.0}
    cells = [cell(row, 1.0, time, variant=variant) for (row, variant), time in times.items()]
    cells.append(cell("b", 1.0, 900.0, variant="new", quantity="serial_s"))
    one = ContributionSpec(program="any", variant="new", over="old")
    assert effect([table(cells[:3]), table(cells[3:])], one) == pytest.approx(0.0)
    assert speedup_gain([4.0, 9.0], [1.0, 1.0]) == pytest.approx(5.0)
    assert math.isnan(effect([table(cells[4:])], one))


# ---- errors ----


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ('["1.1"]', '["1.7"]', 1, ("no table '1.7'", "did you mean '1.")),
        ("poll interval", "pol interval", 3, ("no fitted parameter 'pol interval'", "'poll interval'")),
        ("low: 0.5", "low: 1.5", 3, ("low must be below 1", "1.5 and 2")),
        ("low: 0.5", "low: 0", 3, ("got 0",)),
        ("kind: vendor", "kind: vender", 5, ("vender", "vendor")),
        ("rows: small", "rows: smal", 8, ("no row 'smal'", "'small'")),
        ("variants: domains", "variants: domain", 9, ("no variant 'domain'", "'domains'")),
        ("programs: grid", "programs: grit", 13, ("no program 'grit'", "'grid'")),
        (", high: {workload.n: 32}", "", 13, ("either low or high",)),
        ("name: leaf", "name: polling", 5, ("two ranges named 'polling'",)),
        ("source: a guess", "sauce: a guess", 3, ("sauce",)),
    ],
)
def test_a_mistake_has_its_line(old: str, new: str, line: int, says: tuple[str, ...], small_study: Path) -> None:
    write_sensitivity(small_study, old, new)
    with pytest.raises(InputError) as error:
        read_ranges(read_study(str(small_study)))
    assert f"sensitivity.yaml:{line}:" in str(error.value)
    assert all(text in str(error.value) for text in says), error.value


def test_a_field_that_no_run_has_is_an_error_before_anything_runs(small_study: Path, tmp_path: Path) -> None:
    write_sensitivity(small_study, "workload.leaf_ns: 700", "workload.leave_ns: 700")
    with pytest.raises(InputError, match=r"sensitivity.yaml:5:.*no field 'leave_ns'.*'leaf_ns'"):
        sensitivity(read_study(str(small_study)), tmp_path / "out", jobs=1)
    assert not (tmp_path / "out").exists()


def test_a_range_that_is_not_there_is_an_error(look: Callable[..., Sensitivity], small_study: Path) -> None:
    with pytest.raises(InputError, match=r"there is no range 'leav'; .* did you mean 'leaf'"):
        look(only=["leav"])
    (small_study / "sensitivity.yaml").unlink()
    with pytest.raises(InputError, match=r"sensitivity\.yaml"):
        look()


def test_every_range_of_the_thesis_changes_some_run() -> None:
    from numasim.reproduce.kinds import KINDS
    from numasim.reproduce.plan.alternatives import planned_sides
    from numasim.reproduce.plan.setting import Setting

    study = read_study("thesis")
    ranges = read_ranges(study)

    def runs(**changes: Any) -> set[str]:
        setting = Setting(study, quick=True, repeat=1, **changes)
        plans = [KINDS["runs"].plan(setting, study.tables[name]) for name in ranges.file.tables]
        return {run.run_id for plan in plans for run in plan.runs}

    base = runs()
    changing = {
        side.name for side in planned_sides(study, ranges) if runs(changes=side.changes, readings=side.readings) - base
    }

    def looked_at(reading: ReadingSpec) -> bool:
        tables = not reading.tables or not set(reading.tables).isdisjoint(ranges.file.tables)
        return tables and (not reading.programs or "bots" in reading.programs)

    readings = {name for name, each in study.file.readings.items() if each.others and looked_at(each)}
    assert changing == {*ranges.names, *readings}
