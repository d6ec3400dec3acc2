"""Every notebook runs from top to bottom and shows what it talks about; its two forms say the same."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import numasim

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.py"))
LONGEST_S = 1800  # of any step, only so that nothing hangs
FIGURE = re.compile(r"\bns\.plot\.\w+\(|\b\w+_figure\(")
SMALLER = {  # what takes the place of their parameters
    "contributions": """
machines = ["xeon-e5-2620-2s", "opteron-8380-4s"]
cases = [Case("Strassen 256", "Strassen-2048", {"workload.n": 256})]
repeat = 2
""",
    "remote_bytes": """
study = read_study("./small-thesis", ["5.3"])
row = "Strassen-2048"
variants = ["randomized", "threshold", "topology-aware", "locality-binding"]
""",
    "sensitivity": """
study = read_study("./small-thesis")
rows = ["Strassen-2048"]
only = ["link bandwidth", "join"]
""",
}
SIZES = {  # of the programs in the small form of the thesis' study
    "n: 2048": "n: 256",
    "n: 4096": "n: 512",
    "n: 8192": "n: 1024",
    "n: 33554432": "n: 65536",
    "{name: sparselu-single}": "{name: sparselu-single, blocks: 8}",
    "{name: sparselu-for}": "{name: sparselu-for, blocks: 8}",
}


def write_small_study(folder: Path) -> None:
    """The thesis' study with smaller programs of the Barcelona OpenMP tasks, under the names of the large ones."""
    shutil.copytree(ROOT / "experiments" / "thesis", folder)
    programs = folder / "programs" / "bots.yaml"
    text = programs.read_text()
    for published, small in SIZES.items():
        assert text.count(published) == 1
        text = text.replace(published, small)
    programs.write_text(text)


def contents(notebook: Any) -> list[tuple[str, str]]:
    return [(cell["cell_type"], cell["source"]) for cell in notebook["cells"]]


def read(path: Path) -> Any:
    import jupytext  # half a second of every collection of tests

    return jupytext.read(path)


def reduced(path: Path) -> Any:
    """The notebook with less to do: the cell tagged ``parameters`` is replaced."""
    notebook = read(path)
    if path.stem in SMALLER:
        (cell,) = (cell for cell in notebook["cells"] if "parameters" in cell["metadata"].get("tags", ()))
        cell["source"] = SMALLER[path.stem]
    return notebook


def test_there_are_notebooks() -> None:
    assert {"quickstart", "steals", "remote_bytes", "contributions", "sensitivity"} <= {path.stem for path in NOTEBOOKS}
    assert set(SMALLER) <= {path.stem for path in NOTEBOOKS}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_both_forms_are_the_same_and_without_output(path: Path) -> None:
    script, notebook = read(path), read(path.with_suffix(".ipynb"))
    assert contents(script) == contents(notebook)
    assert not [cell for cell in notebook["cells"] if cell.get("outputs") or cell.get("execution_count")]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_and_shows_a_figure_for_every_plot(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", str(Path(numasim.__file__).parents[1]))  # the notebook imports what is tested here
    write_small_study(tmp_path / "small-thesis")
    notebook = reduced(path)
    here = {"metadata": {"path": str(tmp_path)}}
    limits = {"timeout": LONGEST_S, "startup_timeout": LONGEST_S, "iopub_timeout": LONGEST_S}
    NotebookClient(notebook, **limits, kernel_name="python3", resources=here).execute()
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    plots = sum(len(FIGURE.findall(cell["source"])) for cell in code)
    images = [output for cell in code for output in cell["outputs"] if "image/png" in output.get("data", {})]
    assert len(images) == plots > 0
