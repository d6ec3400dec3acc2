"""The page of a sweep as text, and the command that opens the page."""

import base64
import hashlib
import os
import re
from pathlib import Path

import pandas as pd
import pytest

from numasim.cli import BAD_INPUT, OK, main
from numasim.errors import InputError
from numasim.report.answers.question import compare
from numasim.report.sweep_page import page_pictures, sweep_page
from numasim.report.sweep_result import SweepResult, current_page

NO_PAIRS = pd.DataFrame({"run_id": []})
MOST_BYTES = 3_000_000
SPEC = """\
# <b>bold</b>
machine: xeon-e5-2620-2s
workload: {name: cholesky, tiles: 4}
strategy: randomized
workers: 4
repeat: 2
sweep: {strategy: [randomized, nearest-first], workers: [4, 8]}
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return the directory of a complete sweep."""
    folder = tmp_path_factory.mktemp("swept")
    (folder / "sweep.yaml").write_text(SPEC)
    assert main(["sweep", str(folder / "sweep.yaml"), "-o", str(folder / "out"), "--jobs", "1", "--quiet"]) == OK
    return folder / "out"


@pytest.fixture(scope="module")
def text(results):
    return (results / "index.html").read_text()


def test_a_complete_sweep_leaves_a_page_with_all_that_it_answers(text, results):
    for sentence in compare(SweepResult(results)).sentences:
        assert f"<p>{sentence}</p>" in text
    assert "# &lt;b&gt;bold&lt;/b&gt;" in text  # the specification, as text
    assert text.count('<img src="data:image/svg+xml;base64,') >= 1
    assert SweepResult(results).to_frame()["spec_hash"].iloc[0] in text
    assert len(text.encode()) < MOST_BYTES


def test_only_the_scripts_of_the_page_may_run_and_nothing_may_be_fetched(text):
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1].replace("&#39;", "'")
    scripts = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert policy.startswith("default-src 'none'; script-src ")
    assert re.findall(r"'sha256-([^']*)'", policy) == hashes
    assert len(hashes) == 3
    assert "unsafe-eval" not in policy


def test_the_same_sweep_leaves_the_same_page_wherever_and_however_often(results, text, tmp_path):
    spec = str(results.parent / "sweep.yaml")
    arguments = ["sweep", spec, "-o", str(tmp_path / "again"), "--jobs", "1", "--quiet"]
    assert main([*arguments, "--set", "repeat=1"]) == OK  # the whole sweep uses these runs again
    assert main(arguments) == OK
    assert (tmp_path / "again" / "index.html").read_text() == text
    assert (tmp_path / "again" / "answers.csv").read_bytes() == (results / "answers.csv").read_bytes()
    assert sweep_page(*tables(results), (results / "spec.yaml").read_text(), None).count("<figure>") == 0


def tables(results):
    return SweepResult(results).to_frame(), SweepResult(results).node_pairs()


def test_nothing_that_a_sweep_says_is_markup(frame_maker):
    hostile = "<script>alert(1)</script>"
    frame = frame_maker(workers=[2, 4], repeats=2).replace({"strategy": {"threshold": hostile}})
    frame = frame.assign(machine=hostile, spec_hash=hostile, engine=hostile)
    frame.loc[0, "error"] = hostile
    made = sweep_page(frame, NO_PAIRS, hostile, None)
    assert "<script>alert" not in made
    assert made.count("&lt;script&gt;alert(1)") > 8


def test_failed_runs_are_counted_and_a_sweep_of_nothing_else_has_no_plot(frame_maker):
    frame = frame_maker(workers=[2], repeats=2)
    made = sweep_page(frame.assign(error="no memory"), NO_PAIRS, "", None)
    assert "12 runs failed: no memory" in made
    assert 'id="chart"' not in made
    assert "<script" not in made


def test_a_sweep_that_is_not_the_one_of_the_table_has_no_picture(results):
    from numasim.spec.sweep_spec import load_sweep

    sweep = load_sweep(results / "spec.yaml")
    frame, pairs = tables(results)
    assert page_pictures(frame, pairs, sweep)[0][0] == "cholesky, randomized, 8 workers, repeat 0"
    assert page_pictures(frame.iloc[1:], pairs, sweep) == []
    assert page_pictures(frame, pairs.iloc[:0], sweep) == []


def test_view_opens_the_page_and_prints_where_it_is(results, monkeypatch, capsys):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    assert main(["view", str(results)]) == OK
    assert capsys.readouterr().out == f"{results / 'index.html'}\n"
    assert opened == [(results / "index.html").as_uri()]
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    assert main(["view", str(results)]) == OK
    assert "no browser could be started" in capsys.readouterr().err
    assert main(["view", str(results), "--no-browser"]) == OK
    assert not capsys.readouterr().err


def test_a_page_that_is_missing_or_older_than_the_results_is_written_anew(results, text):
    page: Path = results / "index.html"
    page.unlink()
    assert current_page(results).read_text() == text
    long_ago = (results / "results.parquet").stat().st_mtime_ns - 10**9
    page.unlink()
    current_page(results)
    os.utime(page, ns=(long_ago, long_ago))
    assert current_page(results).read_text() == text


def test_a_folder_without_results_has_no_page(tmp_path, capsys):
    assert main(["view", str(tmp_path / "absent")]) == BAD_INPUT
    assert "no sweep has ended here" in capsys.readouterr().err
    with pytest.raises(InputError, match="no sweep has ended here"):
        current_page(tmp_path)
