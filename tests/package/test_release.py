"""The files of a release agree with the package: the conda recipe, the workflow of the wheels, both scripts."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "release"))

import build_wheels  # noqa: E402
import try_wheels  # noqa: E402

import numasim  # noqa: E402

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, BACKEND, WHEELS = PYPROJECT["project"], PYPROJECT["tool"]["scikit-build"], PYPROJECT["tool"]["cibuildwheel"]
REQUIRE = "NUMASIM_REQUIRE_ENGINE"
CONDA_NAMES = {"matplotlib": "matplotlib-base"}  # conda's package that needs no window system


def read(path: str) -> Any:
    return YAML(typ="safe").load(ROOT / path)


CITATION = read("CITATION.cff")
RECIPE, WORKFLOW = read("release/conda/recipe.yaml"), read(".github/workflows/wheels.yml")


def recipe_needs(part: str) -> set[str]:
    return {need.replace(" ", "") for need in RECIPE["requirements"][part] if isinstance(need, str)}


def test_version_licence_and_authors_are_the_same_everywhere() -> None:
    library = re.findall(
        r"^project\(\S+ VERSION (\S+) ", (ROOT / "lib" / "runtime" / "CMakeLists.txt").read_text(), re.MULTILINE
    )
    installed = {found.version for found in metadata.distributions(name="numasim")}
    versions = {numasim.__version__, CITATION["version"], RECIPE["context"]["version"], *library, *installed}
    assert versions == {PROJECT["version"]}
    licence = (ROOT / "LICENSE").read_text()
    assert PROJECT["license"] == CITATION["license"] == RECIPE["about"]["license"] == "BSD-3-Clause"
    assert licence.startswith("BSD 3-Clause License")
    authors = [author["name"] for author in PROJECT["authors"]]
    assert authors == [author["name"] for author in CITATION["authors"]]
    assert all(name in licence for name in authors)
    assert RECIPE["about"]["summary"] == PROJECT["description"]


def test_the_recipe_needs_what_the_package_needs() -> None:
    needs = {
        re.sub(r"^[\w.-]+", lambda name: CONDA_NAMES.get(name[0], name[0]), need) for need in PROJECT["dependencies"]
    }
    assert recipe_needs("run") == {"python", *needs}


def test_the_recipe_builds_with_what_the_package_is_built_with() -> None:
    assert recipe_needs("host") == {"python", "pip", *PYPROJECT["build-system"]["requires"]}
    assert f"cmake{BACKEND['cmake']['version']}" in recipe_needs("build")
    assert f'match(python, "<{PROJECT["requires-python"].removeprefix(">=")}")' in RECIPE["build"]["skip"]


def test_a_release_does_without_the_engine_nowhere() -> None:
    (fallback,) = (override for override in BACKEND["overrides"] if override["if"].get("failed"))
    assert fallback["if"] == {"failed": True, "env": {REQUIRE: False}}
    assert WHEELS["environment"] == RECIPE["build"]["script"]["env"] == {REQUIRE: "1"}


def test_wheels_are_built_for_the_oldest_python_and_for_the_stable_interface() -> None:
    oldest = PROJECT["requires-python"].removeprefix(">=3.")
    assert [build.split("-")[0] for build in WHEELS["build"]] == [f"cp3{oldest}", BACKEND["wheel"]["py-api"]]
    assert build_wheels.default_pythons() == [f"python3.{oldest}", f"python3.{BACKEND['wheel']['py-api'][3:]}"]


def test_the_workflow_tries_wheels_on_all_pythons_of_the_script() -> None:
    steps = WORKFLOW["jobs"]["without-compiler"]["steps"]
    (versions,) = (step["with"]["python-version"].split() for step in steps if "setup-python" in step.get("uses", ""))
    assert [f"python{version}" for version in versions] == list(try_wheels.PYTHONS)
    assert try_wheels.PYTHONS[: len(WHEELS["build"])] == tuple(build_wheels.default_pythons())
