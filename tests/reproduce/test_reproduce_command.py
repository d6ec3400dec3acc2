"""The command on the small study: its output, its files and its scores."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from small_study import write_study

from numasim.cli import BAD_INPUT, OK, main
from numasim.reproduce.findings import findings_of
from numasim.reproduce.load import read_study
from numasim.reproduce.reproduce import reproduce

Capture = pytest.CaptureFixture[str]
CALIBRATED = """\
parameters:
  - name: polling interval
    set: runtime.poll_ns
    programs: trees
    rows: large
    value: 90
    unit: ns
    table: "1.1"
    columns: plain_s
    residual: 0.02
"""


def ran(study: Path, output: Path, capture: Capture, *options: str) -> str:
    assert main(["reproduce", str(study), "-o", str(output), "--jobs", "1", *options]) == OK
    return capture.readouterr().out


def scores(output: Path) -> list[dict[str, str]]:
    with open(output / "scores.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_the_command_prints_tables_and_scores_and_leaves_a_report(
    small_study: Path, tmp_path: Path, capsys: Capture
) -> None:
    out = ran(small_study, tmp_path / "out", capsys)
    for text in ("1.1  Times", "1.3  Steals again", "figure-1  Gains", "the first table contradicts itself", "times"):
        assert text in out
    assert out.splitlines()[-1] == f"report: {tmp_path / 'out' / 'index.html'}"
    page = (tmp_path / "out" / "index.html").read_text()
    assert "A small study" in page
    assert "model.cache: none" in page  # the ablations are part of the command
    (row,) = (row for row in scores(tmp_path / "out") if row["table"] == "all")
    assert (row["quantity"], row["metric"], row["cells"], row["bound"]) == ("times", "mape", "2", "0.15")
    # the null model predicts the plain times for the domain times
    assert float(row["null"]) == pytest.approx(((4 - 2) / 2 + (9 - 3) / 3) / 2)


def test_a_part_is_done_without_ablations_and_says_how(small_study: Path, tmp_path: Path, capsys: Capture) -> None:
    out = ran(small_study, tmp_path / "out", capsys, "--table", "1.1", "--quick")
    assert "1.3" not in out
    page = (tmp_path / "out" / "index.html").read_text()
    assert "numasim reproduce small --table 1.1 --quick" in page
    assert "model.cache: none" not in page
    assert "left out of the quick reproduction" in page


def test_another_machine_is_compared_but_not_scored(small_study: Path, tmp_path: Path, capsys: Capture) -> None:
    out = ran(small_study, tmp_path / "out", capsys, "--machine", "opteron-8380-4s", "--table", "1.1")
    assert "Scores" not in out
    assert not [row for row in scores(tmp_path / "out") if row["table"] == "all"]
    page = " ".join((tmp_path / "out" / "index.html").read_text().split())
    assert "this page simulates <code>opteron-8380-4s</code>" in page


def test_what_was_fitted_is_told_with_its_data(small_study: Path, tmp_path: Path) -> None:
    (small_study / "calibrated.yaml").write_text(CALIBRATED)
    found = findings_of(reproduce(read_study(str(small_study), ["1.1"]), tmp_path / "out", jobs=1))
    (parameter,) = found.calibration.parameters
    assert (parameter.value, parameter.unit, parameter.field) == (90, "ns", "runtime.poll_ns")
    assert (parameter.runs, parameter.data, parameter.residual) == ("trees (large)", "table 1.1: plain s", 0.02)


def test_the_machine_with_nothing_fitted_but_rates_is_scored_too(small_study: Path, tmp_path: Path) -> None:
    """The poll interval is not a rate: without the fitted interval the scores are those of an uncalibrated study."""
    study = read_study(str(small_study), ["1.1"])
    bare = findings_of(reproduce(study, tmp_path / "bare", jobs=1))
    assert bare.only_rates == bare.scores
    (small_study / "calibrated.yaml").write_text(CALIBRATED)
    found = findings_of(reproduce(read_study(str(small_study), ["1.1"]), tmp_path / "out", jobs=1))
    assert found.only_rates == bare.scores


def test_ablations_are_scored_without_their_mechanism(small_study: Path, tmp_path: Path) -> None:
    found = findings_of(reproduce(read_study(str(small_study)), tmp_path / "out", jobs=1, ablations=True))
    nothing, ablation = found.ablations
    assert (nothing.mechanism, nothing.fields) == ("nothing", "")
    assert (ablation.mechanism, ablation.fields) == ("caches", "model.cache: none")
    assert [score.name for score in ablation.scores] == [score.name for score in found.scores] == ["times"]


def test_a_class_that_cannot_be_scored_is_refused_before_anything_is_run(tmp_path: Path, capsys: Capture) -> None:
    study = write_study(tmp_path / "bad", '"mape"', '"maep"')
    assert main(["reproduce", str(study), "-o", str(tmp_path / "out")]) == BAD_INPUT
    assert "there is no metric 'maep'" in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "out").exists()
