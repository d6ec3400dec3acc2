"""Version, licence and name agree wherever they are written; the wheel holds what the program reads at run time."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from ruamel.yaml import YAML

import numasim

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CITATION = YAML(typ="safe").load(ROOT / "CITATION.cff")


def test_one_version_everywhere() -> None:
    assert numasim.__version__ == PROJECT["version"] == CITATION["version"]


def test_an_installed_distribution_is_of_this_version() -> None:
    installed = {d.version for d in metadata.distributions(name="numasim")}
    assert installed <= {numasim.__version__}


def test_one_licence_everywhere() -> None:
    assert PROJECT["license"] == CITATION["license"] == "BSD-3-Clause"
    assert (ROOT / "LICENSE").read_text().startswith("BSD 3-Clause License")


def test_one_author_everywhere() -> None:
    names = [author["name"] for author in CITATION["authors"]]
    assert [author["name"] for author in PROJECT["authors"]] == names
    assert all(name in (ROOT / "LICENSE").read_text() for name in names)


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]  # works offline
    subprocess.run([*pip, "--wheel-dir", str(folder), str(ROOT)], check=True, stdin=subprocess.DEVNULL)
    (wheel,) = folder.glob("numasim-*.whl")
    assert wheel.name == f"numasim-{PROJECT['version']}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.mark.parametrize(
    ("source", "pattern", "target"),
    [
        ("numasim", "**/*.py", "numasim"),
        ("configs", "**/*.yaml", "numasim/configs"),
        ("experiments", "**/*.yaml", "numasim/experiments"),
        ("experiments", "**/*.csv", "numasim/experiments"),
    ],
)
def test_the_wheel_holds_every_file(wheel_names: set[str], source: str, pattern: str, target: str) -> None:
    expected = {f"{target}/{path.relative_to(ROOT / source).as_posix()}" for path in (ROOT / source).glob(pattern)}
    assert expected
    assert expected <= wheel_names


def test_the_wheel_is_typed_and_holds_nothing_else(wheel_names: set[str]) -> None:
    assert "numasim/py.typed" in wheel_names
    tops = {name.split("/")[0] for name in wheel_names}
    assert tops == {"numasim", f"numasim-{PROJECT['version']}.dist-info"}
    assert not [name for name in wheel_names if name.endswith((".pyc", ".ipynb"))]
