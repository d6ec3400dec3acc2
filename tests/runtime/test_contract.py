"""The contract of the C library: every wrong call of a public function ends with a code and a sentence.

tests/runtime/contract is a program with a table of cases. A case calls a public function in a situation: in a task,
from a second thread, in a forked process, with a destroyed object, with null or wrong values, in each mode. Each case
runs in a process of its own, so that a crash or a hang becomes a line of output. The headers state the expected codes.
Failures are a hang, a signal, another code, an error without a sentence, and output on the standard error.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from compiling import ADDRESSES, PLAIN, RUNTIME, THREADS, compile_program
from runtime_sources import HERE, library_with_virtual_time, uncoupled_plan

HEADERS = RUNTIME / "include" / "numasim"
SITUATIONS = ("task", "thread", "child", "destroyed", "wrong")
ALONE = {"name": "fib", "n": 1}  # a graph of one task without calls: the graph of an empty body
NATIVE, EMULATED, VIRTUAL = 1, 2, 3
# Ways of running a pool with a plan: (mode, runtime preset). Serial mode and lanes, which need no plan, are always run.
WAYS: dict[str, tuple[int, Any]] = {
    "stacks": (NATIVE, {"like": "bare", "join": "strict"}),
    "fibers": (NATIVE, "bare"),
    "pretended": (EMULATED, {"like": "bare", "join": "strict"}),
    "virtual": (VIRTUAL, {"like": "bare", "join": "strict"}),
}


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("plans")
    plans = {name: uncoupled_plan(folder, name, workload=ALONE, runtime=runtime) for name, (_, runtime) in WAYS.items()}
    return [f"{name}={mode}={plans[name]}" for name, (mode, _) in WAYS.items()]


def contract(compiler: str, folder: Path, flags: tuple[str, ...], ways: list[str]) -> list[str]:
    """Return all output lines but the last of the program, compiled with these flags. No case may fail."""
    files = [*sorted((HERE / "contract").glob("*.c")), *library_with_virtual_time()]
    program = compile_program(compiler, folder / "contract", files, flags)
    # test_refused_pools.py checks for leaks; here the check would take most of the time of each process
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "die_after_fork=0"}
    done = subprocess.run([program, *ways], check=False, capture_output=True, text=True, env=environment, timeout=1800)
    *others, last = done.stdout.splitlines()
    assert re.fullmatch(r"\d+ functions, \d+ cases, 0 failures", last), done.stdout[-8000:] + done.stderr[-4000:]
    assert (done.returncode, done.stderr) == (0, "")
    return others


@pytest.fixture(scope="module")
def lines(c_compiler: str, tmp_path_factory: pytest.TempPathFactory, ways: list[str]) -> list[str]:
    """Return a line for each tested function and situation: the function, the situation, and the expected behaviour."""
    return contract(c_compiler, tmp_path_factory.mktemp("contract"), PLAIN, ways)


def public_functions() -> set[str]:
    """Return all functions in the C headers, except the internal functions of typed_tasks.h."""
    declared = re.compile(r"^(?:static inline )?[a-z_][\w ]*?[ *](ns_\w+)\([^;{]*[);{]", re.MULTILINE)
    found: set[str] = set()
    for header in sorted(HEADERS.glob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)
        text = re.sub(r"^typedef .*?;|^extern .*?;", "", text, flags=re.MULTILINE | re.DOTALL)
        found |= set(declared.findall(text))
    return {name for name in found if not name.startswith("ns_lane_")}


def test_every_case_ends_with_a_code_and_a_sentence(lines: list[str]) -> None:
    assert len({line.split()[0] for line in lines}) >= 60


def test_every_public_function_is_in_every_situation(lines: list[str]) -> None:
    """If a header gets a new function, this test fails until each situation has a case or a rule for the function."""
    covered = {tuple(line.split()[:2]) for line in lines}
    typed = {f"NAME_{what}" for what in ("spawn", "call", "join", "spawn_after")}
    functions = public_functions()
    assert {"ns_spawn", "ns_work", "ns_pool_create", "ns_numa_lock_try_acquire", "ns_topology_read"} <= functions
    assert covered == {(name, situation) for name in functions | typed for situation in SITUATIONS}


@pytest.mark.parametrize("flags", [ADDRESSES, THREADS], ids=["addresses", "threads"])
def test_sanitizers_have_nothing_to_say(
    c_compiler: str, tmp_path: Path, flags: tuple[str, ...], ways: list[str]
) -> None:
    """No case of the program, not even a refused call, makes a wrong memory access or causes a data race."""
    contract(c_compiler, tmp_path, flags, ways)
