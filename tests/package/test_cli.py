"""Every command on a small input: the output, the files, and the exit status."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import Mock

import pytest

import numasim as ns
from numasim.cli import BAD_INPUT, CHECK_FAILED, OK, main, runs
from numasim.cli.listing import KINDS
from numasim.engine.result import COLUMNS
from numasim.engine.simulate import ENGINES, NOT_BUILT
from numasim.errors import CheckError
from numasim.files.owned_folder import MANIFEST
from numasim.parts import catalog
from numasim.report.figures.plots import PLOTS, RUN_PLOTS
from numasim.report.sweep_result import SweepResult

SPEC = """\
machine: xeon-e5-2620-2s
workload: {name: fib, n: 8}
strategy: randomized
workers: 4
seed: 7
"""
SWEEP = SPEC + "repeat: 2\nsweep:\n  strategy: [randomized, topology-aware]\n  workers: [2, 4]\n"
SILENCE = {""} if "native" in ENGINES else {"", f"numasim: {NOT_BUILT}\n"}
FIGURES = {f"{name}.{kind}" for name in PLOTS for kind in ("png", "svg")}
FIGURES_AND_MANIFEST = FIGURES | {MANIFEST}

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yaml").write_text(SPEC)
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    return tmp_path


def printed(capture: Capture, *arguments: str) -> str:
    """Return the output of a successful command; on standard error only the notice of a missing engine is allowed."""
    assert main(arguments) == OK
    out, err = capture.readouterr()
    assert err in SILENCE
    return out


def object_of(capture: Capture, *arguments: str) -> dict[str, object]:
    found = json.loads(printed(capture, *arguments))
    assert isinstance(found, dict)
    return found


# ---- run ----


@pytest.mark.usefixtures("here")
def test_run_prints_every_column_as_one_json_object(capsys: Capture) -> None:
    row = object_of(capsys, "run", "spec.yaml", "--json", "--check")
    assert list(row) == [name for name in COLUMNS if name != "spec_hash"] + ["engine_s", "remarks"]
    assert row["tasks"] == 67  # the calls of fib(8): 2 F(9) - 1
    assert (row["workers"], row["strategy"], row["seed"]) == (4, "randomized", 7)


@pytest.mark.usefixtures("here")
def test_a_run_as_a_scheduler_has_its_strategy_and_runtime(capsys: Capture) -> None:
    named = object_of(capsys, "run", "spec.yaml", "--as", "tokio", "--json")
    both = object_of(capsys, "run", "spec.yaml", "--set", "strategy=tokio", "--set", "runtime=tokio", "--json")
    assert (named["run_id"], named["strategy"]) == (both["run_id"], "tokio")
    assert main(["run", "spec.yaml", "--as", "tokyo"]) == BAD_INPUT
    assert capsys.readouterr().err.endswith("; did you mean 'tokio'?\n")


@pytest.mark.usefixtures("here")
def test_run_draws_the_standard_figures_and_how_the_run_develops() -> None:
    assert main(["run", "spec.yaml", "--json", "--plot", "figures"]) == OK
    developing = {f"{name}.{kind}" for name in RUN_PLOTS for kind in ("png", "svg")}
    assert {path.name for path in Path("figures").iterdir()} == FIGURES_AND_MANIFEST | developing


@pytest.mark.usefixtures("here")
def test_a_run_of_many_tasks_leaves_out_how_it_develops(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numasim.report.trace.watched_run.MOST_TASKS", 66)
    assert main(["run", "spec.yaml", "--json", "--plot", "figures"]) == OK
    assert {path.name for path in Path("figures").iterdir()} == FIGURES_AND_MANIFEST
    assert "67 tasks are too many for traces and for tables and figures over time: they are left out" in (
        capsys.readouterr().err
    )


# ---- traces ----


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
@pytest.mark.usefixtures("here")
def test_a_run_leaves_a_trace_and_is_the_same_run(name: str, capsys: Capture) -> None:
    row = object_of(capsys, "run", "spec.yaml", "--json", "--trace", name)
    without = object_of(capsys, "run", "spec.yaml", "--json", "--set", "model.skip=off")
    assert {**without, "engine_s": row["engine_s"]} == row
    assert {path.name for path in Path().iterdir()} == {"spec.yaml", "sweep.yaml", name}


# ---- sweep and plot ----


def test_a_sweep_leaves_tables_and_figures_and_says_what_they_answer(here: Path, capsys: Capture) -> None:
    assert main(["sweep", "sweep.yaml", "-o", "out", "--jobs", "1", "--plot"]) == OK
    out = capsys.readouterr().out
    assert "vs randomized" in out
    assert "out/results.parquet" in out
    frame = SweepResult(here / "out").to_frame()
    assert len(frame) == 2 * 2 * 2
    assert frame["error"].isna().all()
    assert {path.name for path in (here / "out" / "figures").iterdir()} == FIGURES_AND_MANIFEST

    again = [Path(line) for line in printed(capsys, "plot", "out", "-o", "again").splitlines()]
    assert {path.name for path in again} == FIGURES
    assert all(path.read_bytes() == (here / "out" / "figures" / path.name).read_bytes() for path in again)


# ---- shipped parts ----


def test_all_lists_together_name_everything_by_kind(capsys: Capture) -> None:
    blocks = printed(capsys, "list").rstrip("\n").split("\n\n")
    assert [block.splitlines()[0] for block in blocks] == list(KINDS)
    rows = json.loads(printed(capsys, "list", "--json"))
    lines = [line.strip().split(maxsplit=1) for block in blocks for line in block.splitlines()[1:]]
    assert [[row["name"], row["description"]] for row in rows] == lines
    assert printed(capsys, "list", "sweep") == printed(capsys, "list", "sweeps")
    assert json.loads(printed(capsys, "list", "studies", "--json")) == [row for row in rows if row["kind"] == "study"]


def test_whatever_ships_is_shown_by_its_name(capsys: Capture) -> None:
    assert " cells, 12 of each" in printed(capsys, "show", "quickstart")
    assert printed(capsys, "show", "own") == printed(capsys, "runtime", "show", "own")
    assert "push_ns" in printed(capsys, "show", "own")
    assert "\n  idle              " in printed(capsys, "show", "own")  # a rule is shown also where the runtime has none
    assert printed(capsys, "show", "tilepro64") == printed(capsys, "machine", "show", "tilepro64")
    assert printed(capsys, "show", "ring") == printed(capsys, "strategy", "show", "ring")
    assert "3.2 " in printed(capsys, "show", "thesis")
    assert "  n         needed" in printed(capsys, "show", "fib")
    for name in catalog.names("sweeps"):
        assert printed(capsys, "show", name, "--yaml") == catalog.find("sweeps", name).read_text()


@pytest.mark.parametrize("name", catalog.names("machines"))
def test_every_machine_is_shown_and_checked(name: str, capsys: Capture) -> None:
    assert name in printed(capsys, "machine", "show", name)
    assert f"{name}: valid" in printed(capsys, "machine", "check", name)


# ---- workloads ----


@pytest.mark.usefixtures("here")
def test_an_exported_workload_runs_as_the_generated_one(capsys: Capture) -> None:
    main(["workload", "export", "{name: fib, n: 8}", "fib.json"])
    capsys.readouterr()
    run = ("run", "spec.yaml", "--json", "--set", "model.skip=off")  # a run that skips ahead has no event hash
    generated = object_of(capsys, *run)
    imported = object_of(capsys, *run, "--set", "workload={file: fib.json}")
    assert generated["event_hash"]
    for column in ("makespan_ps", "trace_hash", "event_hash", "steal_attempts"):
        assert imported[column] == generated[column]


# ---- exit statuses ----


def test_a_graph_that_says_nothing_of_memory_is_said_to_be_one(here: Path, capsys: Capture) -> None:
    silent, told = ns.Graph("silent"), ns.Graph("told")
    for graph, reads in ((silent, {}), (told, {"reads": [told.region("block", 65_536)]})):
        for _ in range(4):
            graph.task(1000, **reads)
        graph.save(here / f"{graph.name}.json")
    for name, many in (("silent", 1), ("told", 0)):
        spec = SPEC.replace("{name: fib, n: 8}", f"{{file: {name}.json}}")
        (here / "one.yaml").write_text(spec)
        (here / "many.yaml").write_text(spec + "sweep: {workers: [2, 4]}\n")
        for command in (("run", "one.yaml"), ("sweep", "many.yaml", "-o", name)):
            said = " ".join(printed(capsys, *command).split())
            assert said.count(f"{name}.json does not say what memory its tasks access") == many


@pytest.mark.usefixtures("here")
def test_a_failed_check_has_a_status_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numasim.api.run_spec", Mock(side_effect=CheckError("tasks: 3 ran, 4 exist")))
    assert main(["run", "spec.yaml"]) == CHECK_FAILED


def test_what_takes_long_is_announced(here: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(runs, "MANY_RUNS", 8)
    monkeypatch.setattr(runs, "MANY_TASKS", 50)
    (here / "sweep.yaml").write_text(SWEEP.replace("{name: fib, n: 8}", "{name: strassen, n: 256}"))
    assert main(["sweep", "sweep.yaml", "--jobs", "1"]) == OK
    said = capsys.readouterr().err
    assert "numasim: a task graph of up to 57 tasks is built first\n" in said  # 1 + 7 + 49 tasks
    assert "numasim: 8 runs: 4 cells, 2 of each\n" in said
    (here / "run.yaml").write_text(SPEC.replace("{name: fib, n: 8}", "{name: strassen, n: 128}"))
    assert main(["run", "run.yaml"]) == OK
    assert "is built first" not in capsys.readouterr().err  # a graph of eight tasks
