"""Version, licence and name agree wherever they are written."""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path

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
