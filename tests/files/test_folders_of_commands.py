"""Every command that writes a folder refuses folders of the user and keeps files that the user has changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from small_inputs import RUN
from trees import tree

from numasim.cli import BAD_INPUT, OK, main
from numasim.files.owned_folder import MANIFEST
from numasim.sweep.store.results_store import RESULTS

Capture = pytest.CaptureFixture[str]
ENGINE = ("--engine", "reference")
SPEC = RUN + "seed: 7\n"
STUDY = """\
from pathlib import Path

from numasim.reproduce.programs import Program
from numasim.reproduce.study import Paper, ScoreRule, make_study
from numasim.reproduce.study_tables import Column, StudyTable

HERE = Path(__file__).parent
TREES = Program(
    "trees",
    spec={"runtime": "ompi", "strategy": "randomized", "workers": "threads"},
    rows={"small": {"workload": {"name": "fib", "n": 6}}},
    variants={"plain": {"strategy": "randomized"}},
)
COLUMNS = {"plain_s": Column("makespan_s", "plain", score="times")}
TIMES = StudyTable("1.1", "Times", "section 1", HERE / "published" / "times.csv", "program", COLUMNS, "trees")
RULES = (ScoreRule("times", "mape", 0.15),)
STUDY = make_study(HERE, "xeon-e5-2620-2s", [TIMES], [TREES], Paper("One table", "nobody"), seed=3, rules=RULES)
"""
INPUT = {
    "spec.yaml": SPEC,
    "sweep.yaml": SPEC + "sweep:\n  strategy: [randomized, threshold]\n",
    "study/study.py": STUDY,
    "study/published/times.csv": "program,plain_s\nsmall,0.001\n",
}
COMMANDS = {
    "numasim sweep": ("sweep", "input/sweep.yaml", "--jobs", "1", "--quiet", *ENGINE, "-o"),
    "numasim reproduce": ("reproduce", "input/study", "--jobs", "1", *ENGINE, "-o"),
    "numasim validate": ("validate", "virtual", "--kernel", "fft", "--quick", "-o"),
    "numasim run --plot": ("run", "input/spec.yaml", "--json", *ENGINE, "--plot"),
    "numasim plot": ("plot", "input/results", "-o"),
}
MINE = ("figures/mine.svg", "tables/mine.csv", "notes.txt")


@pytest.fixture(scope="module")
def input_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with specifications, a study and the results of a sweep."""
    folder = tmp_path_factory.mktemp("all") / "input"
    for name, text in INPUT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    sweep = ["sweep", str(folder / "sweep.yaml"), "--jobs", "1", "--quiet", *ENGINE, "-o", str(folder / "results")]
    assert main(sweep) == OK
    return folder


FIGURES = {"speedup", "miss_ratio", "timeline"}  # all other figures are written in the same way


@pytest.fixture
def here(input_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from numasim.report.figures.plots import PLOTS, RUN_PLOTS

    for plots in (PLOTS, RUN_PLOTS):
        for name in plots.keys() - FIGURES:
            monkeypatch.delitem(plots, name)
    shutil.copytree(input_folder, tmp_path / "input")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(command: str, place: str, folder: Path, capture: Capture) -> str:
    """Return the sentence with which the command refuses the place; nothing below ``folder`` changes."""
    before = tree(folder)
    capture.readouterr()
    assert main([*COMMANDS[command], place]) == BAD_INPUT
    before_code = ("native engine is not built", "numasim: executes ")  # messages that every place gets
    sentences = [line for line in capture.readouterr().err.splitlines() if not any(map(line.__contains__, before_code))]
    (sentence,) = sentences
    assert tree(folder) == before
    return sentence


def users_folder(folder: Path) -> Path:
    for name in MINE:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("mine")
    return folder


# ---- refusals ----


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", ["mine", "."])
def test_a_folder_of_the_users_is_refused(here: Path, capsys: Capture, command: str, place: str) -> None:
    users_folder(here / place)
    sentence = refused(command, place, here, capsys)
    assert sentence.startswith(f"numasim: {place}: holds files that `{command}` did not write, ")
    assert sentence.endswith(f"; expected a new or empty folder, or one that `{command}` wrote")


@pytest.mark.parametrize("command", ["numasim sweep", "numasim run --plot", "numasim reproduce"])
def test_a_command_writes_to_its_own_folder_again_and_keeps_to_it(here: Path, capsys: Capture, command: str) -> None:
    arguments = [*COMMANDS[command], "new/out"]
    assert main(arguments) == OK
    users_folder(here / "new" / "out")
    (here / "new" / "mine").write_text("mine")
    before = tree(here)
    assert main(arguments) == OK
    assert tree(here) == before
    assert "mine" not in (here / "new" / "out" / MANIFEST).read_text()
    capsys.readouterr()


CHANGED = {
    "numasim sweep": RESULTS,
    "numasim plot": "speedup.png",
    "numasim reproduce": "tables/table-1-1.csv",
    "numasim run --plot": "timeline.svg",
}


@pytest.mark.parametrize("command", CHANGED)
def test_a_file_that_the_user_changed_is_seen_before_anything_is_done(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    assert main([*COMMANDS[command], "out"]) == OK
    path = here / "out" / CHANGED[command]
    path.write_bytes(b"mine")
    monkeypatch.setattr("numasim.report.figures.plots.drawn", never)
    monkeypatch.setattr("numasim.engine.simulate.simulate_spec", never)
    monkeypatch.setattr("numasim.api.run_spec", never)
    sentence = refused(command, "out", here, capsys)
    assert f"{CHANGED[command]}: was changed after `{command}` wrote it" in sentence


def test_changed_figures_that_a_sweep_would_replace_are_seen_before_it_runs(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([*COMMANDS["numasim sweep"], "out", "--plot"]) == OK
    (here / "out" / "figures" / "speedup.svg").write_text("mine")
    before = tree(here)
    capsys.readouterr()
    monkeypatch.setattr("numasim.engine.simulate.simulate_spec", never)
    assert main([*COMMANDS["numasim sweep"], "out", "--plot", "--set", "repeat=2"]) == BAD_INPUT
    assert "out/figures/speedup.svg: was changed after `numasim plot` wrote it" in capsys.readouterr().err
    assert tree(here) == before


def never(*_: object, **__: object) -> None:
    raise AssertionError("work has begun")


def test_shards_without_their_provenance_are_refused(here: Path, capsys: Capture) -> None:
    assert main([*COMMANDS["numasim sweep"], "out"]) == OK
    (here / "out" / "provenance.json").unlink()
    assert "out/provenance.json: is missing" in refused("numasim sweep", "out", here, capsys)
