"""Notebooks are stored with their output (`notebooks/keep.py`), and still print and draw the same output."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import numasim

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "notebooks"))

import keep  # noqa: E402

NOTEBOOKS = [path.stem for path in keep.SOURCES]
QUICK = [name for name in NOTEBOOKS if name not in keep.LONG]
SMALLER = {  # replacements for the parameters of long notebooks
    "contributions": """
machines = ["xeon-e5-2620-2s", "opteron-8380-4s"]
cases = [Case("Strassen 256", "Strassen-2048", {"workload.n": 256})]
repeat = 2
""",
    "remote_bytes": """
study = read_study("./small-thesis", ["5.3"])
row = "Strassen-2048"
variants = ["randomized", "locality-binding"]
""",
    "sensitivity": """
study = read_study("./small-thesis")
rows = ["Strassen-2048"]
only = ["link bandwidth", "join"]
""",
    "today": """
programs = [{"name": "strassen", "n": 64}, {"name": "sparselu-single", "blocks": 6}, {"name": "sort", "n": 2**12}]
workers = [8, 4, 6]
repeat = 2
""",
}
SIZES = {  # sizes of the programs in the small form of the thesis' study
    "n: 2048": "n: 256",
    "n: 4096": "n: 512",
    "n: 8192": "n: 1024",
    "n: 33554432": "n: 65536",
    "{name: sparselu-single}": "{name: sparselu-single, blocks: 8}",
    "{name: sparselu-for}": "{name: sparselu-for, blocks: 8}",
}


def write_small_study(folder: Path) -> None:
    """Write the thesis' study with smaller programs of the Barcelona OpenMP tasks, named like the large programs."""
    shutil.copytree(keep.STUDY, folder)
    programs = folder / "programs" / "bots.yaml"
    text = programs.read_text()
    for published, small in SIZES.items():
        assert text.count(published) == 1
        text = text.replace(published, small)
    programs.write_text(text)


def source(name: str) -> Any:
    return keep.read(keep.FOLDER / f"{name}.py")


def kept(name: str) -> Any:
    return keep.read(keep.FOLDER / f"{name}.ipynb")


def told(notebook: Any) -> list[tuple[str, list[str]]]:
    return [(cell["source"], keep.told(cell)) for cell in notebook["cells"]]


@pytest.fixture(scope="module")
def kernel() -> Iterator[Any]:
    """Yield one kernel for all notebooks, which imports the tested numasim."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(numasim.__file__).parents[1]))
        with keep.kernel() as client:
            yield client


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_it_is_kept_as_it_is_written_and_with_what_it_shows(name: str) -> None:
    """The stored notebook has its output, and no output is a warning, an error or a path of the executing machine."""
    notebook = kept(name)
    assert keep.contents(notebook) == keep.contents(source(name)), f"python notebooks/keep.py {name}"
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert {output["output_type"] for output in outputs} <= {"stream", "display_data", "execute_result"}
    assert {output["name"] for output in outputs if output["output_type"] == "stream"} <= {"stdout"}
    assert not [line for _, lines in told(notebook) for line in lines if "/tmp" in line or str(ROOT) in line]


@pytest.mark.parametrize("name", QUICK)
def test_a_quick_one_prints_and_draws_what_is_kept(name: str, kernel: Any, tmp_path: Path) -> None:
    notebook = source(name)
    keep.execute(kernel, notebook, tmp_path, draw=False, alone=True)
    assert told(notebook) == told(kept(name)), f"python notebooks/keep.py {name}"


@pytest.mark.parametrize("name", keep.LONG)
def test_a_long_one_was_made_of_what_is_here(name: str) -> None:
    assert kept(name)["metadata"]["made_of"] == keep.made_of(source(name)), f"python notebooks/keep.py {name}"


@pytest.mark.parametrize("name", keep.LONG)
def test_a_long_one_runs_with_less_to_do(name: str, kernel: Any, tmp_path: Path) -> None:
    write_small_study(tmp_path / "small-thesis")
    notebook = source(name)
    (parameters,) = (cell for cell in notebook["cells"] if "parameters" in cell["metadata"].get("tags", ()))
    parameters["source"] = SMALLER[name]
    keep.execute(kernel, notebook, tmp_path, draw=False, alone=True)
    outputs = [len(cell.get("outputs", ())) for cell in notebook["cells"]]
    assert [bool(count) for count in outputs] == [bool(cell.get("outputs")) for cell in kept(name)["cells"]]


# ---- the compared parts of a notebook ------------------------------------------------------------------------------


def figure(heights: list[float], label: str = "time", colour: str = "#0072B2", inches: float = 4) -> Any:
    from matplotlib.figure import Figure

    made = Figure(figsize=(inches, 3))
    axes = made.subplots()
    axes.bar(range(len(heights)), heights, color=colour)
    axes.plot(heights)
    axes.set_xlabel(label)
    return made


def test_a_picture_is_told_by_what_it_draws() -> None:
    """Pictures differ if their data, words or colours differ, but not by last bits of numbers or the paper size."""
    same = keep.drawn(figure([1.0, 2.0]))
    assert keep.drawn(figure([1.0, 2.0 + 1e-12], inches=6)) == same
    others = [figure([1.0, 2.1]), figure([1.0, 2.0], label="bytes"), figure([1.0, 2.0], colour="#D55E00")]
    assert len({same, *map(keep.drawn, others)}) == 4


def test_a_table_is_told_by_its_words() -> None:
    page = "<style>td {color: red}</style><table>\n<tr><td> a &amp; b</td><td>1.5</td></tr></table>"
    table = {"output_type": "display_data", "data": {"text/html": page, "text/plain": "?"}}
    stream = {"output_type": "stream", "name": "stdout", "text": "one\n  two \n"}
    assert keep.told({"outputs": [table, stream]}) == ["a & b 1.5", "stdout: one two"]


def test_a_long_one_is_made_of_its_words_and_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = {"cells": [{"cell_type": "code", "source": "1"}]}
    found = {keep.made_of(notebook), keep.made_of({"cells": [{"cell_type": "code", "source": "2"}]})}
    monkeypatch.setattr("numasim.spec.identity.MODEL_VERSION", -1)
    assert len(found | {keep.made_of(notebook)}) == 3
