"""Pools and runs of the C library that fail: errors have a sentence, and no memory leaks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from compiling import ADDRESSES, RUNTIME, compile_objects, compile_program
from runtime_sources import HERE, library_with_virtual_time, told, uncoupled_plan

PROGRAM, UNSUPPORTED = -5, -9  # error codes of numasim/runtime.h
SERIAL, NATIVE, EMULATED, VIRTUAL = range(4)
REQUESTS = ("malloc", "calloc", "realloc", "aligned_alloc", "mmap", "pthread_create")
LEAKS = {"ASAN_OPTIONS": "detect_leaks=1"}
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
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the files of `PLANS`, for three workers."""
    folder = tmp_path_factory.mktemp("plans")
    return {name: uncoupled_plan(folder, name, workers=3, **PLANS[name]) for name in PLANS}


@pytest.fixture(scope="module")
def failing(c_compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program whose requests for memory fail: the linker wraps the requests."""
    program = tmp_path_factory.mktemp("failing") / "failing_requests"
    kernels = [RUNTIME / "kernels" / name for name in ("kernel.c", "plan.c")]
    files = [HERE / "refused" / "failing_requests.c", *kernels, *library_with_virtual_time()]
    wrapped = "-Wl," + ",".join(f"--wrap={name}" for name in REQUESTS)
    of_c, others = [path for path in files if path.suffix == ".c"], [path for path in files if path.suffix != ".c"]
    objects = [*compile_objects(c_compiler, of_c, ADDRESSES), *others]
    return compile_program(c_compiler, program, objects, (*ADDRESSES, wrapped))


@pytest.fixture(scope="module")
def refused_programs(c_compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = [HERE / "refused" / "refused_programs.c", *library_with_virtual_time()]
    return compile_program(c_compiler, tmp_path_factory.mktemp("refused") / "refused_programs", files, ADDRESSES)


def requests(failing: Path, *words: object) -> int:
    """Run ``failing`` with these words. Return how many requests for memory failed: one in each run of a pool."""
    return int(told(failing, *words, **LEAKS).splitlines()[-1].split()[0])


@pytest.mark.parametrize(
    ("mode", "name"),
    [
        *((SERIAL, "-"), (NATIVE, "-"), (NATIVE, "stacks"), (NATIVE, "objects"), (EMULATED, "pages")),
        *((VIRTUAL, name) for name in PLANS),
    ],
)
def test_every_request_for_memory_may_fail(failing: Path, plans: dict[str, Path], mode: int, name: str) -> None:
    """Whichever request fails, the pool returns an error code and a sentence, without a leak or a crash."""
    assert requests(failing, "pools", mode, plans.get(name, name)) >= (5 if mode == SERIAL else 20)


WAYS = ("lanes", "stacks", "blocking", "continuations", "work first", "halves", "objects")  # ways of executing tasks


@pytest.mark.parametrize("workers", [2, 4])
@pytest.mark.parametrize(("mode", "name"), [*((NATIVE, name) for name in WAYS), (EMULATED, "pages")])
def test_every_request_may_fail_while_threads_run(
    failing: Path, tmp_path: Path, mode: int, name: str, workers: int
) -> None:
    """Whichever request fails, a run does all its steps or none, and the next run does all steps. Nothing leaks."""
    plan = "-" if name == "lanes" else uncoupled_plan(tmp_path, name, workers=workers, **PLANS[name])
    assert requests(failing, "runs", mode, workers, plan) >= 20


@pytest.mark.parametrize("name", [name for name in PLANS if name not in ("dependences", "objects", "pages")])
def test_a_program_that_is_refused_leaves_nothing(refused_programs: Path, plans: dict[str, Path], name: str) -> None:
    """If any step differs from the plan's graph, the run ends with an error, and so does the next run."""
    lines = told(refused_programs, plans[name], **LEAKS).splitlines()
    errors = {int(line.split(" ")[0]) for line in lines}
    assert {PROGRAM} <= errors <= {PROGRAM, UNSUPPORTED}
    assert all(line.split(" ")[1] == line.split(" ")[0] and len(line.split(" ", 2)[2]) > 10 for line in lines)
    assert len({line.split(" ", 2)[2] for line in lines}) > 5
