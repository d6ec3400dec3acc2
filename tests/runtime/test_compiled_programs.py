"""One line compiles a program with the installed library: `numasim-runtime` prints the flags."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from compiling import RUNTIME, WARNINGS
from runtime_sources import HERE

from numasim.runtime.runtime_program import FLAGS, LIBRARY, are_flags

EXAMPLES = RUNTIME / "example"
START = "import sys; from numasim.runtime.runtime_program import main; sys.exit(main())"
C = " ".join(("-std=c11", *WARNINGS))


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory, c_compiler: str) -> Path:
    """Return a folder with the command `numasim-runtime`, as pip installs it. Fail if the library was not built."""
    if not LIBRARY.is_file():
        pytest.fail(f"{LIBRARY} is not built: pip install . does it, or cmake with lib")
    script = tmp_path_factory.mktemp("bin") / "numasim-runtime"
    script.write_text(f"#!{sys.executable}\n{START}\n")
    script.chmod(0o755)
    return script.parent


def shell(command: Path, folder: Path, line: str) -> str:
    """Return the output of a shell line, with the folder ``command`` on the path. The line must succeed."""
    environment = {**os.environ, "PATH": f"{command}:{os.environ['PATH']}"}
    done = subprocess.run(line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_an_example_is_compiled_in_one_line(command: Path, c_compiler: str, tmp_path: Path) -> None:
    line = f"{c_compiler} {C} {EXAMPLES / 'fib.c'} $(numasim-runtime --cflags --libs) -o example"
    assert shell(command, tmp_path, f"{line} && ./example 20") == "fib(20) = 6765\n"


@pytest.mark.parametrize("name", ["g++", "clang++"])
def test_no_compiler_objects_to_the_header_for_cpp(name: str) -> None:
    """numasim.hpp includes all headers except locks.h and topology.h, and lambdas.cpp uses all parts of numasim.hpp."""
    if not (found := shutil.which(name)):
        pytest.skip(f"no {name} here")
    command = [found, "-std=c++20", *WARNINGS, "-fsyntax-only", f"-I{RUNTIME / 'include'}"]
    done = subprocess.run([*command, HERE / "threads" / "lambdas.cpp"], capture_output=True, text=True, check=False)
    assert done.stderr == ""


OPTION, UNSUPPORTED = -8, -9  # error codes of numasim/runtime.h
IN_VIRTUAL_TIME = f"{OPTION} virtual time follows a plan that knows the program's recorded task graph\n"


def test_a_program_has_virtual_time(command: Path, c_compiler: str, tmp_path: Path) -> None:
    line = f"{c_compiler} {C} {HERE / 'virtual' / 'asking.c'} $(numasim-runtime --cflags --libs) -o asking"
    assert shell(command, tmp_path, f"{line} && ./asking") == IN_VIRTUAL_TIME


def test_a_program_without_virtual_time_needs_nothing_of_cpp(command: Path, c_compiler: str, tmp_path: Path) -> None:
    line = f"{c_compiler} {C} {HERE / 'virtual' / 'asking.c'} $(numasim-runtime --cflags --libs-threads) -o asking"
    assert shell(command, tmp_path, f"{line} && ./asking").startswith(f"{UNSUPPORTED} virtual time is in libnumasim-")
    assert "stdc++" not in shell(command, tmp_path, "ldd ./asking")


def test_cmake_finds_the_library(command: Path, c_compiler: str, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.21)\nproject(fib LANGUAGES C)\nfind_package(numasim CONFIG REQUIRED)\n"
        f"add_executable(fib {EXAMPLES / 'fib.c'})\ntarget_link_libraries(fib PRIVATE numasim::numasim)\n"
        f"add_executable(asking {HERE / 'virtual' / 'asking.c'})\n"
        "target_link_libraries(asking PRIVATE numasim::numasim)\n"
    )
    configured = (
        f"cmake -G Ninja -S . -B build -DCMAKE_C_COMPILER={c_compiler} -Dnumasim_DIR=$(numasim-runtime --cmake-dir)"
    )
    shell(command, tmp_path, f"{configured} && cmake --build build")
    assert shell(command, tmp_path, "build/fib 10") == "fib(10) = 55\n"
    assert shell(command, tmp_path, "build/asking") == IN_VIRTUAL_TIME


def test_only_what_asks_for_flags_alone_is_answered_with_flags() -> None:
    assert are_flags(["--libs"])
    assert are_flags(list(FLAGS))
    assert not are_flags([])
    assert not are_flags(["--libs", "--kernel", "fib"])


def test_a_library_that_was_not_built_is_said_to_be_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from numasim.runtime import runtime_program
    from numasim.runtime.runtime_program import main

    monkeypatch.setattr(runtime_program, "LIBRARY", tmp_path / "libnumasim.a")
    monkeypatch.setattr(sys, "argv", ["numasim-runtime", "--cflags"])
    assert main() == 2
    assert capsys.readouterr().err.startswith("numasim-runtime: ")
