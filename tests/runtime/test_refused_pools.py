"""What a program of the C library is left with where it asks for a pool that cannot be made."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from compiling import ADDRESSES, compile_objects, compile_program
from runtime_sources import HERE, library_with_virtual_time

from numasim.plan.build_plan import build_plan
from numasim.runtime.fields_file import write_plan
from numasim.spec.run_spec import resolve

FILE, FORMAT, PROGRAM, OPTION, UNSUPPORTED = -2, -3, -5, -8, -9  # error codes of numasim/runtime.h
SERIAL, NATIVE, EMULATED, VIRTUAL = range(4)
MODES = 4
REQUESTS = ("malloc", "calloc", "realloc", "aligned_alloc", "mmap", "pthread_create")
LEAKS = {"ASAN_OPTIONS": "detect_leaks=1"}
UNCOUPLED = {"cache": "none", "contention": "none", "smt": "none", "clock": "fixed"}
FIB = {"name": "fib", "n": 6}
PLANS: dict[str, dict[str, Any]] = {
    "continuations": {"workload": FIB, "runtime": "bare"},
    "stacks": {"workload": FIB, "runtime": {"like": "bare", "join": "help", "costs": {"push_ns": 10}}},
    "blocking": {"workload": FIB, "runtime": {"like": "bare", "join": "own"}},
    "halves": {"workload": FIB, "strategy": {"steal": [{"from": "others", "amount": "half"}], "refill": 1}},
    "work first": {"workload": FIB, "strategy": {"steal": [{"from": "others"}], "spawn": "work-first"}},
    "dependences": {
        "workload": {"name": "random-layered", "layers": 3, "width": 3, "low_ns": 1, "high_ns": 9, "task_bytes": 5000}
    },
    "pages": {"workload": {"name": "strassen", "n": 8, "cutoff": 4}, "strategy": "locality-binding"},
    "objects": {
        "workload": {"name": "syncbench", "construct": "reduction", "repetitions": 2},
        "strategy": {"steal": [{"from": "others", "lock": "node"}], "locks": {"kind": "cohort", "barrier": "tree"}},
    },
}


@pytest.fixture(scope="module")
def refused_pools(c_compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = [HERE / "refused" / "refused_pools.c", *library_with_virtual_time()]
    return compile_program(c_compiler, tmp_path_factory.mktemp("refused") / "refused_pools", files, ADDRESSES)


def test_a_pool_that_cannot_be_made_leaves_nothing_to_trip_over(refused_pools: Path, tmp_path: Path) -> None:
    (tmp_path / "damaged").write_bytes(b"NSFIELD1 and nothing behind it")
    told = subprocess.run(
        [refused_pools, tmp_path / "missing", tmp_path / "damaged"], capture_output=True, text=True, check=False
    )
    assert (told.returncode, told.stderr) == (0, "")
    errors = [int(line.split(" ")[0]) for line in told.stdout.splitlines()]
    assert errors == [FILE, FORMAT] * MODES + [OPTION, OPTION]


def write_plan_of(name: str, workers: int, folder: Path) -> Path:
    """The file of one of `PLANS`."""
    pytest.importorskip("numasim.engine.native._engine", reason="plans are written by the native engine's Python side")
    base = {"machine": "xeon-e5-2620-2s", "strategy": "randomized", "workers": workers, "model": UNCOUPLED}
    path = folder / name.replace(" ", "-")
    write_plan(build_plan(resolve({**base, **PLANS[name]})), 7, path)
    return path


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The files of `PLANS`, for three workers."""
    folder = tmp_path_factory.mktemp("plans")
    return {name: write_plan_of(name, 3, folder) for name in PLANS}


def compile_failing(compiler: str, program: Path) -> Path:
    """The program of that name in refused/, whose requests for memory go through the failing allocator."""
    names = (f"{program.name}.c", "failing_allocator.c")
    files = [*(HERE / "refused" / name for name in names), *library_with_virtual_time()]
    wrapped = "-Wl," + ",".join(f"--wrap={name}" for name in REQUESTS)
    of_c, others = [path for path in files if path.suffix == ".c"], [path for path in files if path.suffix != ".c"]
    objects = [*compile_objects(compiler, of_c, ADDRESSES), *others]
    return compile_program(compiler, program, objects, (*ADDRESSES, wrapped))


@pytest.fixture(scope="module")
def failing_allocations(c_compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_failing(c_compiler, tmp_path_factory.mktemp("failing") / "failing_allocations")


@pytest.fixture(scope="module")
def failing_runs(c_compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_failing(c_compiler, tmp_path_factory.mktemp("failing") / "failing_runs")


@pytest.fixture(scope="module")
def refused_programs(c_compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = [HERE / "refused" / "refused_programs.c", *library_with_virtual_time()]
    return compile_program(c_compiler, tmp_path_factory.mktemp("refused") / "refused_programs", files, ADDRESSES)


def told_by(*command: object) -> str:
    """What a program prints that leaks nothing and whose status is 0."""
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **LEAKS},
        timeout=1800,  # of what would never end
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.parametrize(
    ("mode", "name"),
    [(NATIVE, "stacks"), (NATIVE, "objects"), (EMULATED, "pages"), *((VIRTUAL, name) for name in PLANS)],
)
def test_every_request_for_memory_may_fail(
    failing_allocations: Path, plans: dict[str, Path], mode: int, name: str
) -> None:
    """An error code and a sentence for each, without a leak or a crash; and there are as many as is said."""
    requests = int(told_by(failing_allocations, mode, plans[name]).splitlines()[-1].split()[0])
    assert requests > 20


@pytest.mark.parametrize(("mode", "least"), [(SERIAL, 5), (NATIVE, 20)])
def test_every_request_may_fail_without_a_plan(failing_allocations: Path, mode: int, least: int) -> None:
    assert int(told_by(failing_allocations, mode, "-").splitlines()[-1].split()[0]) >= least


WAYS = ("lanes", "stacks", "blocking", "continuations", "work first", "halves", "objects")  # to execute tasks


@pytest.mark.parametrize("workers", [2, 4])
@pytest.mark.parametrize(("mode", "name"), [*((NATIVE, name) for name in WAYS), (EMULATED, "pages")])
def test_every_request_may_fail_while_threads_run(
    failing_runs: Path, tmp_path: Path, mode: int, name: str, workers: int
) -> None:
    """A run does all or nothing, whatever fails, and the next one does all; nothing leaks, and all ends."""
    plan = "-" if name == "lanes" else write_plan_of(name, workers, tmp_path)
    assert int(told_by(failing_runs, mode, workers, plan).splitlines()[-1].split()[0]) >= 20


@pytest.mark.parametrize("name", [name for name in PLANS if name not in ("dependences", "objects", "pages")])
def test_a_program_that_is_refused_leaves_nothing(refused_programs: Path, plans: dict[str, Path], name: str) -> None:
    """Whichever step is not that of the plan's graph, the run ends with an error, and so does the next one."""
    lines = told_by(refused_programs, plans[name]).splitlines()
    errors = {int(line.split(" ")[0]) for line in lines}
    assert {PROGRAM} <= errors <= {PROGRAM, UNSUPPORTED}
    assert all(line.split(" ")[1] == line.split(" ")[0] and len(line.split(" ", 2)[2]) > 10 for line in lines)
    assert len({line.split(" ", 2)[2] for line in lines}) > 5
