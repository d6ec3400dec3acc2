"""From a study to its tables: cells, their roles (fitted or not), and runs: shared, stored, left out, ordered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from numasim.draws import repeat_seed
from numasim.errors import InputError
from numasim.reproduce.findings import findings_of
from numasim.reproduce.reproduce import Reproduction, _union, reproduce
from numasim.reproduce.scores import class_scores
from numasim.reproduce.setting import Setting
from numasim.reproduce.study import read_study
from numasim.reproduce.table_cells import Cell, Role

Make = Callable[..., Reproduction]


@pytest.fixture
def make(small_study: Path, tmp_path: Path) -> Make:
    def made(*tables: str, **options: object) -> Reproduction:
        return reproduce(read_study(str(small_study), tables), tmp_path / "out", jobs=1, **options)  # type: ignore[arg-type]

    return made


def edit(study: Path, old: str, new: str) -> None:
    text = (study / "study.py").read_text()
    assert old in text
    (study / "study.py").write_text(text.replace(old, new))


def cells(found: Reproduction, table: str) -> dict[tuple[str, str], Cell]:
    (one,) = (each for each in found.tables if each.id == table)
    return {(cell.row, cell.column): cell for cell in one.cells}


def simulated_alone(repeat: int, **spec: object) -> float:
    base = {"machine": "xeon-e5-2620-2s", "runtime": "ompi", "workers": 24, "seed": 3}
    from numasim.engine.simulate import simulate_spec
    from numasim.spec.run_spec import resolve

    return simulate_spec(resolve({**base, **spec}), repeat_seed(3, repeat)).row()["makespan_ps"] / 1e12  # type: ignore[no-any-return]


def test_a_cell_has_what_its_runs_say_alone_one_for_each_seed(make: Make) -> None:
    cell = cells(make("1.1"), "1.1")["large", "domains_s"]
    spec = {"workload": {"name": "fib", "n": 9}, "strategy": "topology-aware"}
    assert cell.simulated == tuple(simulated_alone(repeat, **spec) for repeat in (0, 1))
    assert (cell.published, cell.null, cell.baseline) == (3.0, 9.0, "plain_s")
    assert (cell.role, cell.score, cell.variant, cell.unit) == (Role.PREDICTED, "times", "domains", "s")


def test_what_the_machine_cannot_hold_is_not_simulated(make: Make) -> None:
    cell = cells(make("1.2"), "1.2")["32", "attempts"]
    assert cell.simulated == ()
    assert cell.note == "the machine has 24 hardware threads"
    bigger = cells(make("1.2", machine="xeon-x7560-4s"), "1.2")["32", "attempts"]
    assert len(bigger.simulated) == 2


def test_a_machine_that_is_named_may_be_too_small_for_the_workers_of_a_program(make: Make, small_study: Path) -> None:
    """The program itself asks for 24 workers; `opteron-8380-4s` has only four sockets of four cores."""
    edit(small_study, '"workers": "threads"', '"workers": 24')
    found = make("1.1", "1.2", machine="opteron-8380-4s")
    assert {(cell.simulated, cell.note) for cell in cells(found, "1.1").values()} == {
        ((), "the machine has 16 hardware threads")
    }
    assert {row: len(cell.simulated) for (row, _), cell in cells(found, "1.2").items()} == {"2": 2, "24": 0, "32": 0}


def test_a_machine_that_leaves_no_run_is_refused_before_anything_is_written(
    make: Make, small_study: Path, tmp_path: Path
) -> None:
    edit(small_study, '"workers": "threads"', '"workers": 24')
    with pytest.raises(InputError, match="'opteron-8380-4s' has 16 hardware threads, and every run"):
        make("1.1", machine="opteron-8380-4s")
    assert not (tmp_path / "out").exists()


def test_too_many_workers_for_the_study_own_machine_are_a_mistake_of_the_study(make: Make, small_study: Path) -> None:
    edit(small_study, '"workers": "threads"', '"workers": 32')
    with pytest.raises(InputError, match=r"program trees: .*got 32 workers, but 'xeon-e5-2620-2s' has 24"):
        make("1.1")


def test_another_machine_is_as_its_own_file_says(make: Make, small_study: Path) -> None:
    """Fields of machines that the study sets do not apply to another machine: `tilepro64` has no last-level cache whose
    size could be changed.
    """
    edit(small_study, '{"strategy": "topology-aware"}', '{"strategy": "topology-aware", "machine.caches.llc": "1MiB"}')
    cell = cells(make("1.1", machine="tilepro64"), "1.1")["small", "domains_s"]
    fib = {"workload": {"name": "fib", "n": 6}, "strategy": "topology-aware"}
    assert cell.simulated[0] == simulated_alone(0, **fib, machine="tilepro64", workers=64)


def test_the_study_own_machine_may_be_named_and_changes_nothing(make: Make, small_study: Path) -> None:
    edit(small_study, '"workers": 24}', '"machine": "xeon-6130-2s", "workers": 24}')
    assert make("1.2", machine="xeon-e5-2620-2s").tables == make("1.2").tables


def test_quick_leaves_rows_out_and_makes_programs_smaller(make: Make, small_study: Path) -> None:
    found = make(quick=True)
    assert cells(found, "1.1")["large", "plain_s"].note == "left out of the quick reproduction"
    assert len(cells(found, "1.1")["small", "plain_s"].simulated) == 1
    table = found.study.tables["1.3"]
    plan = table.kind.plan(Setting(found.study, quick=True), table)
    assert {run.spec.workload.n for run in plan.runs} == {16}  # type: ignore[union-attr]


def test_quick_runs_of_another_size_are_predictions_of_which_nothing_was_fitted(make: Make) -> None:
    """In quick runs Table 1.2 has a smaller program, to which nothing was fitted; Table 1.1 only has fewer rows."""
    found = make(quick=True)
    assert {cell.role for cell in cells(found, "1.2").values()} == {Role.PREDICTED}
    assert cells(found, "1.1")["small", "plain_s"].role is Role.FITTED
    assert cells(make("1.2"), "1.2")["2", "attempts"].role is Role.FITTED


CALIBRATED = """\
parameters:
  - {name: leaves, set: workload.leaf_ns, programs: [trees], value: 120, alone: 130, step: 1}
  - {name: overlap, set: model.worker_spread, programs: [trees], value: 0.05, step: 2}
"""


def test_scored_tables_are_made_once_more_with_nothing_fitted_but_rates(make: Make, small_study: Path) -> None:
    (small_study / "calibrated.yaml").write_text(CALIBRATED)
    found = make()
    (table,) = found.only_rates
    # the runs of the study, and one of each program and variant of the scored table
    assert (table.id, found.runs) == ("1.1", 12 + 4)
    fib = {"workload": {"name": "fib", "n": 9, "leaf_ns": 130}, "strategy": "topology-aware"}
    (cell,) = (each for each in table.cells if (each.row, each.column) == ("large", "domains_s"))
    assert cell.simulated == (simulated_alone(0, **fib),)
    assert cell.simulated != cells(found, "1.1")["large", "domains_s"].simulated[:1]
    assert findings_of(found).only_rates == class_scores([table], found.study.score_rules)


def test_without_a_mechanism_its_fields_are_on_top(make: Make) -> None:
    found = make("1.1", without=["caches"])
    spec = {"workload": {"name": "fib", "n": 6}, "strategy": "randomized", "model": {"cache": "none"}}
    assert cells(found, "1.1")["small", "plain_s"].simulated[0] == simulated_alone(0, **spec)
    with pytest.raises(InputError, match=r"no mechanism 'cahces'; .* did you mean 'caches'"):
        make("1.1", without=["cahces"])


def test_ablations_are_of_the_scored_tables_as_a_quick_reproduction_has_them(make: Make) -> None:
    found, quick = make(ablations=True), make(quick=True)
    assert list(found.ablations) == ["nothing", "caches"]
    for tables in found.ablations.values():
        (ablated,) = tables
        assert ablated.id == "1.1"
        assert {len(cell.simulated) for cell in ablated.cells if cell.simulated} == {1}
    (whole,) = found.ablations["nothing"]
    assert whole == next(table for table in quick.tables if table.id == "1.1")
    scored = [(each.mechanism, each.fields, len(each.scores)) for each in findings_of(found).ablations]
    assert scored == [("nothing", "", 1), ("caches", "model.cache: none", 1)]


def test_tables_that_share_runs_do_them_once(small_study: Path) -> None:
    study = read_study(str(small_study))
    plans = [table.kind.plan(Setting(study), table) for table in study.tables.values()]
    runs = _union(plans)
    assert len({run.run_id for run in runs}) == len(runs)
    # two programs x two variants x two seeds, plus two worker counts x two seeds; all other cells use these runs, too
    assert len(runs) == 8 + 4 < sum(len(plan.runs) for plan in plans)
    kinds = [run.spec.workload.contents_json for run in runs]
    assert len(set(kinds)) == sum(before != after for before, after in zip([None, *kinds], kinds, strict=False))


def test_a_second_call_does_no_run_again(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = make()
    monkeypatch.setattr("numasim.reproduce.reproduce.simulate_spec", refused)
    assert make().tables == first.tables
    assert make("1.1").tables == tuple(table for table in first.tables if table.id == "1.1")


def refused(*_: object) -> None:
    raise AssertionError("this run was done before")


def test_a_run_that_fails_leaves_its_cells_empty_and_says_why(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numasim.reproduce.reproduce.simulate_spec", refused)
    found = cells(make("1.1"), "1.1")["small", "plain_s"]
    assert found.simulated == ()
    assert found.note == "failed: AssertionError: this run was done before"
    monkeypatch.undo()
    assert len(cells(make("1.1"), "1.1")["small", "plain_s"].simulated) == 2
