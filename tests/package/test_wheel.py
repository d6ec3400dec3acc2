"""The wheel has the compiled engine and all files read at run time; the source archive has the files that build it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename
from scikit_build_core import build
from shared_builds import built_once

ROOT = Path(__file__).resolve().parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
LIB = ROOT / "lib"
RUNTIME = LIB / "runtime"
SOURCES = {".c", ".cpp", ".h", ".hpp", ".txt", ".in"}
LARGE = (".venv", "build", "results")  # folders at the root of the tree that belong into no archive
CACHES = (".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis")


@pytest.fixture(scope="session")
def wheel(compiler: str) -> Path:
    """Return the wheel of this tree, built once for all processes that run tests, with warnings as errors.

    The wheel is built without optimisation and debug information, which saves a quarter of the time. The other tests
    run an optimised build.
    """
    (found,) = built_once("wheel", lambda folder: build_wheel(folder, compiler)).glob("numasim-*.whl")
    return found


def build_wheel(folder: Path, compiler: str) -> None:
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]  # works offline
    flags = {f"CMAKE_{language}_FLAGS_DEBUG": "-O0 -g0" for language in ("C", "CXX")}
    settings = ["build-type=Debug", *(f"define.{name}={of}" for name, of in {"NUMASIM_WERROR": "ON", **flags}.items())]
    quick = [f"--config-settings=cmake.{setting}" for setting in settings]
    command = [*pip, *quick, "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, env={**os.environ, "CXX": compiler}, stdin=subprocess.DEVNULL)


@pytest.fixture(scope="session")
def wheel_names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_is_of_this_python_and_platform(wheel: Path) -> None:
    name, version, _, tags = parse_wheel_filename(wheel.name)
    assert (name, str(version)) == ("numasim", VERSION)
    assert tags <= set(sys_tags())
    assert {tag.platform for tag in tags} != {"any"}


@pytest.mark.parametrize(
    ("source", "pattern", "target"),
    [
        ("numasim", "**/*.py", "numasim"),
        ("numasim", "**/*.pyi", "numasim"),
        ("numasim", "**/*.jinja", "numasim"),
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
    assert tops == {"numasim", f"numasim-{VERSION}.dist-info"}
    assert not [name for name in wheel_names if name.endswith((".pyc", ".ipynb"))]


def test_the_wheel_holds_the_engine_and_none_of_its_sources(wheel_names: set[str]) -> None:
    native = {Path(name) for name in wheel_names if name.startswith("numasim/engine/native/")}
    (extension,) = (path for path in native if path.suffix in {".so", ".pyd"})
    assert extension.name.split(".")[0] == "_engine"
    assert not [path for path in native if path.suffix in SOURCES]


def test_the_wheel_holds_the_runtime_and_none_of_its_sources(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        entries = {entry.filename: entry for entry in archive.infolist() if "/runtime/" in entry.filename}
    runtime = {name: entry for name, entry in entries.items() if name.startswith("numasim/runtime/")}
    program = runtime.pop("numasim/runtime/numasim-runtime")
    assert (program.external_attr >> 16) & 0o111 == 0o111, "it can be executed by all"
    others = {name.removeprefix("numasim/runtime/") for name in runtime if not name.endswith(".py")}
    headers = {path.relative_to(RUNTIME).as_posix() for path in (RUNTIME / "include" / "numasim").iterdir()}
    recorder = {"record/numasim-openmp-probe", "record/tool/numasim-recorder.so"}
    assert others == {
        "libnumasim.a",
        "libnumasim-virtual.a",
        "libnumasim-turns.a",
        "cmake/numasim-config.cmake",
        *headers,
        *recorder,
    }
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith((".so.0", ".pc"))]


def test_a_program_is_compiled_against_the_wheel_in_one_line(wheel: Path, c_compiler: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    start = "import sys; from numasim.runtime.runtime_program import main; sys.exit(main())"
    flags = f"$(PYTHONPATH={tmp_path} {sys.executable} -c '{start}' --cflags --libs)"
    line = f"{c_compiler} -std=c11 {RUNTIME / 'example' / 'fib.c'} {flags} -o fib && ./fib 10"
    done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("fib(10) = 55\n", "")


def test_the_runtime_of_the_wheel_starts(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        program = Path(archive.extract("numasim/runtime/numasim-runtime", tmp_path))
    program.chmod(0o755)
    done = subprocess.run([program, "--kernel", "no-such-kernel"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("numasim-runtime: ")


@pytest.fixture
def beside_little(tmp_path: Path) -> Path:
    """Return a copy of the tree in which each large folder, such as an environment or a build, has one file."""
    large = shutil.ignore_patterns(".git", *LARGE, *CACHES)
    tree = shutil.copytree(ROOT, tmp_path / "tree", ignore=large)
    for name in LARGE:
        (tree / name / "lib").mkdir(parents=True)
        (tree / name / "lib" / "library.so").touch()
    return tree


def test_the_source_archive_holds_what_builds_both(
    tmp_path: Path, beside_little: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(beside_little)
    archive = tmp_path / build.build_sdist(str(tmp_path))
    with tarfile.open(archive) as opened:
        names = {name.removeprefix(f"numasim-{VERSION}/") for name in opened.getnames()}
    sources = {path.relative_to(ROOT).as_posix() for path in LIB.rglob("*") if path.suffix in SOURCES}
    assert {"lib/CMakeLists.txt", "lib/runtime/CMakeLists.txt"} <= sources
    assert sources <= names
    assert {"pyproject.toml", "LICENSE", "README.md"} <= names
    assert not [name for name in names if name.endswith((".so", ".a", ".pyc", "/numasim-runtime"))]
