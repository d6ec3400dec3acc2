"""The commands and examples of README.md work, and no file of the project names a folder of an author's machine."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from numasim.cli import main
from numasim.parts.models.effects_model import ModelSpec
from numasim.runtime.runtime_program import PROGRAM
from numasim.spec.one_run import load_run

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
PLACES = (
    "README.md",
    "CONTRIBUTING.md",
    "CITATION.cff",
    "pyproject.toml",
    ".ci",
    "configs",
    "docs",
    "experiments",
    "notebooks",
    "numasim",
    "tests",
)


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def command(heading: str) -> str:
    """Return the only line of the only shell block below a heading."""
    section = README.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    (block,) = blocks("sh", section)
    (line,) = block.splitlines()
    return line


def test_run_it_is_one_line_that_leaves_figures() -> None:
    assert command("Run it").endswith("numasim sweep quickstart -o results/quickstart --plot")


@pytest.mark.parametrize("tool", ["ruff check", "ruff format --check", "mypy", "pytest"])
def test_test_it_is_one_line_that_checks_everything(tool: str) -> None:
    assert f"/{tool}" in command("Test it")


@pytest.mark.parametrize(("first", "slow"), [(0, 0), (3, 0), (0, 4)])
def test_ci_runs_the_test_command_and_then_the_slow_tests(tmp_path: Path, first: int, slow: int) -> None:
    """Both commands run in a copy of the tree, the slow tests also after a failure; any failure fails the script."""
    tree = tmp_path / "tree"
    (tree / ".ci").mkdir(parents=True)
    (tree / ".ci" / "run").write_bytes((ROOT / ".ci" / "run").read_bytes())
    (tree / "made").write_text(f"#!/bin/sh\necho with $*\nexit {slow}\n")
    made = "mkdir -p .venv/bin && cp made .venv/bin/pytest && chmod +x .venv/bin/pytest"
    command = f"pwd && ls && cat && {made} && (exit {first})"
    (tree / "README.md").write_text(
        f"## Run it\n\n```sh\nfalse\n```\n\n## Test it\n\n```sh\n{command}\n```\n\n## More\n"
    )
    browser = tmp_path / "browser" / "chromium"  # so that the script need not install a browser
    browser.parent.mkdir()
    browser.symlink_to("/bin/true")
    environment = {**os.environ, "PATH": f"{browser.parent}:{os.environ['PATH']}"}
    script = ["bash", str(tree / ".ci" / "run")]
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
    where, *said = done.stdout.splitlines()
    assert said[:2] == ["README.md", "made"]
    assert said[2].startswith(f"the test command: status {first},")
    assert said[3] == "with -n 2 -m slow"
    assert done.returncode == (first or slow)
    assert Path(where) != tree
    assert not Path(where).exists(), "the copy is removed"


def test_the_strategy_can_be_shown_and_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (strategy,) = blocks("yaml")
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(strategy)
    show, run = next(block for block in blocks("sh") if "mine.yaml" in block).splitlines()
    small = ["--set", "workload.blocks=4", "--json"]
    assert main(show.split()[1:]) == 0
    assert main([*run.split()[1:], *small]) == 0
    assert '"strategy": "mine"' in capsys.readouterr().out


def test_the_effects_are_all_told_with_their_defaults(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "concepts" / "contention.md").read_text()
    effects = page.split("\nmodel:\n")[1].split("```")[0]
    file = tmp_path / "spec.yaml"
    file.write_text(
        f"machine: opteron-8380-4s\nworkload: {{name: fib, n: 4}}\nstrategy: ring\nworkers: 2\nmodel:\n{effects}"
    )
    assert load_run(file).model == ModelSpec()
    assert set(re.findall(r"^  (\w+):", effects, re.MULTILINE)) == set(ModelSpec.model_fields) - {"skip"}


def text_files() -> Iterator[Path]:
    """Yield the files of the project, except pictures and compiled files."""
    for name in PLACES:
        for path in (ROOT / name).rglob("*") if (ROOT / name).is_dir() else [ROOT / name]:
            if path.is_file() and "__pycache__" not in path.parts and path.suffix not in {".png", ".svg", ".so"}:
                yield path


def test_no_file_names_a_place_on_the_machine_it_was_written_on() -> None:
    homes = "|".join(("work", "root", "home", "Users", "tmp/w"))
    place = re.compile(rf"(?<![\w.$<>*])/(?:{homes})/[\w.]+")
    found = {
        str(path.relative_to(ROOT)): place.findall(path.read_text("utf-8", errors="ignore"))
        for path in text_files()
        if path != PROGRAM
    }
    assert len(found) > 500
    assert {name: places for name, places in found.items() if places} == {}
