"""The installed C library: an example compiles with the flags of pkg-config, and runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from compiling import configure_library

from numasim.runtime.runtime_program import VIRTUAL_LIBRARY, Order, run_kernel

ROOT = Path(__file__).resolve().parents[2]
RUNTIME = ROOT / "lib" / "runtime"
ASKING = Path(__file__).parent / "virtual" / "asking.c"
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def flags(prefix: Path, *options: str) -> list[str]:
    """Return the flags that pkg-config prints for the installed library."""
    tool = shutil.which("pkg-config") or shutil.which("pkgconf")
    if tool is None:
        pytest.skip("no pkg-config here: its file cannot be read as users do")
    (folder,) = prefix.glob("**/pkgconfig")
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
    done = subprocess.run([tool, *options, "numasim"], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


def run(command: list[str | Path], **environment: str) -> str:
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_installed(prefix: Path) -> None:
    installed = {path.name for path in prefix.rglob("*") if path.is_file()}
    assert {"libnumasim.a", "libnumasim.so", "numasim.pc", "numasim-runtime", "runtime.h"} <= installed
    headers = {path.relative_to(RUNTIME / "include") for path in (RUNTIME / "include").rglob("*.h*")}
    assert {path.relative_to(prefix / "include") for path in prefix.rglob("*.h*")} == headers


def test_a_header_is_complete_in_itself(prefix: Path, c_compiler: str, tmp_path: Path) -> None:
    for header in sorted((prefix / "include" / "numasim").glob("*.h")):
        source = tmp_path / f"{header.stem}.c"
        source.write_text(f"#include <numasim/{header.name}>\n#include <numasim/{header.name}>\nint unused;\n")
        run([c_compiler, *STRICT, f"-I{prefix / 'include'}", "-c", str(source), "-o", str(tmp_path / "unused.o")])


@pytest.mark.parametrize("static", [False, True])
def test_the_example_runs(prefix: Path, c_compiler: str, tmp_path: Path, static: bool) -> None:
    linked = flags(prefix, "--cflags", "--libs", *(["--static"] if static else []))
    if static:
        linked[linked.index("-lnumasim")] = "-l:libnumasim.a"
    run([c_compiler, *STRICT, str(RUNTIME / "example" / "fib.c"), *linked, "-o", str(tmp_path / "fib")])
    (library,) = prefix.rglob("libnumasim.so")
    where = {} if static else {"LD_LIBRARY_PATH": str(library.parent)}
    assert run([tmp_path / "fib", "20"], **where) == "fib(20) = 6765\n"
    assert ("libnumasim.so.0" in run(["ldd", tmp_path / "fib"], **where)) != static


def test_programs_have_virtual_time_where_it_is_built(prefix: Path, c_compiler: str, tmp_path: Path) -> None:
    """The installed library gets two files: numasim.pc of a build with virtual time, and the library of virtual time
    that the Python package contains.
    """
    configure_library(tmp_path / "build", c_compiler, virtual=True)
    installed = shutil.copytree(prefix, tmp_path / "installed", symlinks=True)
    (library,) = installed.rglob("libnumasim.so")
    shutil.copy(tmp_path / "build" / "numasim.pc", library.parent / "pkgconfig")
    shutil.copy(VIRTUAL_LIBRARY, library.parent)
    found = flags(installed, "--cflags", "--libs")
    static = ["-l:libnumasim.a" if flag == "-lnumasim" else flag for flag in found]
    for name, linked in (("shared", found), ("static", static)):
        run([c_compiler, *STRICT, str(ASKING), *linked, "-o", str(tmp_path / name)])
        assert "virtual time follows a plan" in run([tmp_path / name], LD_LIBRARY_PATH=str(library.parent))


def test_the_library_defines_nothing_but_names_of_its_own(prefix: Path) -> None:
    (library,) = prefix.rglob("libnumasim.so")
    tool = shutil.which("nm")
    if tool is None:
        pytest.skip("no nm here to list symbols with")
    lines = run([tool, "-D", "--defined-only", library]).splitlines()
    names = [line.split()[-1] for line in lines]
    assert "ns_pool_create" in names
    assert not [name for name in names if not name.startswith(("ns_", "NS_", "_init", "_fini"))]


@pytest.mark.parametrize("kernel", ["fib", "spinlock", "graph"])
def test_a_build_without_counters_counts_tasks_alone(prefix: Path, program: Path, kernel: str) -> None:
    order = Order(kernel, workers=3)
    (serial,) = run_kernel(replace(order, mode="serial"), program)
    (without,) = run_kernel(order, next(prefix.rglob("numasim-runtime")))
    (with_them,) = run_kernel(order, program)
    assert without.correct
    tasks = {"tasks": serial.columns["tasks"]} if kernel != "spinlock" else {}  # spinlock has only parts of a team
    assert {name: count for name, count in without.columns.items() if count} == tasks
    assert not any(map(any, [*without.node_attempts, *without.node_success, *without.words]))
    assert sum(with_them.columns.values()) > with_them.columns["tasks"]
