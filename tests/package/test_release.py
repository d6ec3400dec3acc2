"""What makes a release agrees with the package: the conda recipe, the workflow of the wheels, the scripts of both."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "release"))

import build_wheels  # noqa: E402
import try_wheels  # noqa: E402

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, BACKEND, WHEELS = PYPROJECT["project"], PYPROJECT["tool"]["scikit-build"], PYPROJECT["tool"]["cibuildwheel"]
REQUIRE = "NUMASIM_REQUIRE_ENGINE"
CONDA_NAMES = {"matplotlib": "matplotlib-base"}  # without a window system


def read(path: str) -> Any:
    return YAML(typ="safe").load(ROOT / path)


RECIPE, WORKFLOW = read("release/conda/recipe.yaml"), read(".github/workflows/wheels.yml")


def recipe_needs(part: str) -> set[str]:
    return {need.replace(" ", "") for need in RECIPE["requirements"][part] if isinstance(need, str)}


def test_the_recipe_is_of_this_version() -> None:
    assert RECIPE["context"]["version"] == PROJECT["version"]
    assert RECIPE["about"]["license"] == PROJECT["license"]
    assert RECIPE["about"]["summary"] == PROJECT["description"]


def test_the_c_library_is_of_this_version() -> None:
    text = (ROOT / "lib" / "runtime" / "CMakeLists.txt").read_text()
    assert re.findall(r"^project\(\S+ VERSION (\S+) ", text, re.MULTILINE) == [PROJECT["version"]]


def test_the_recipe_needs_what_the_package_needs() -> None:
    needs = {
        re.sub(r"^[\w.-]+", lambda name: CONDA_NAMES.get(name[0], name[0]), need) for need in PROJECT["dependencies"]
    }
    assert recipe_needs("run") == {"python", *needs}


def test_the_recipe_builds_with_what_the_package_is_built_with() -> None:
    assert recipe_needs("host") == {"python", "pip", *PYPROJECT["build-system"]["requires"]}
    assert f"cmake{BACKEND['cmake']['version']}" in recipe_needs("build")
    assert f'match(python, "<{PROJECT["requires-python"].removeprefix(">=")}")' in RECIPE["build"]["skip"]


def test_the_tests_build_with_what_the_package_is_built_with() -> None:
    assert set(PYPROJECT["build-system"]["requires"]) <= set(PROJECT["optional-dependencies"]["test"])
    assert f"scikit-build-core>={BACKEND['minimum-version']}" in PYPROJECT["build-system"]["requires"]


def test_a_release_does_without_the_engine_nowhere() -> None:
    (fallback,) = (override for override in BACKEND["overrides"] if override["if"].get("failed"))
    assert fallback["if"] == {"failed": True, "env": {REQUIRE: False}}
    assert WHEELS["environment"] == RECIPE["build"]["script"]["env"] == {REQUIRE: "1"}


def test_a_definition_of_cmake_is_in_every_table_of_definitions() -> None:
    """Newer build tools take the table of an override instead of the first one, older ones take both."""
    tables = [override["cmake"]["define"] for override in BACKEND["overrides"] if "define" in override.get("cmake", {})]
    assert tables
    assert all(BACKEND["cmake"]["define"].items() <= table.items() for table in tables)


def test_wheels_are_built_for_the_oldest_python_and_for_the_stable_interface() -> None:
    oldest = PROJECT["requires-python"].removeprefix(">=3.")
    assert [build.split("-")[0] for build in WHEELS["build"]] == [f"cp3{oldest}", BACKEND["wheel"]["py-api"]]
    assert build_wheels.default_pythons() == [f"python3.{oldest}", f"python3.{BACKEND['wheel']['py-api'][3:]}"]


@pytest.mark.parametrize("job", ["wheels", "without-compiler"])
def test_the_workflow_is_of_both_kinds_of_processors(job: str) -> None:
    assert WORKFLOW["jobs"][job]["strategy"]["matrix"]["runner"] == ["ubuntu-24.04", "ubuntu-24.04-arm"]


def test_the_workflow_tries_wheels_on_all_pythons_of_the_script() -> None:
    steps = WORKFLOW["jobs"]["without-compiler"]["steps"]
    (versions,) = (step["with"]["python-version"].split() for step in steps if "setup-python" in step.get("uses", ""))
    assert [f"python{version}" for version in versions] == list(try_wheels.PYTHONS)
    assert try_wheels.PYTHONS[: len(WHEELS["build"])] == tuple(build_wheels.default_pythons())


def test_the_scripts_that_are_named_are_there() -> None:
    texts = [
        (ROOT / name).read_text() for name in (".github/workflows/wheels.yml", "pyproject.toml", "CONTRIBUTING.md")
    ]
    for text in texts:
        named = set(re.findall(r"release/\w+\.py", text))
        assert named
        assert all((ROOT / name).is_file() for name in named)
