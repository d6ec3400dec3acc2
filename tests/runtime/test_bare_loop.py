"""The bare loop executes every task once, at the times that follow from its few rules."""

from __future__ import annotations

import json
import subprocess

import pytest

from numasim.runtime.runtime_program import PROGRAM
from numasim.workload.families.fib import fib_calls

WORD = 2**64 - 1
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the runtime is not built")


def ran(*words: object) -> dict[str, int]:
    done = subprocess.run([PROGRAM, "bare", *map(str, words)], capture_output=True, text=True, check=True)
    found: dict[str, int] = json.loads(done.stdout)
    return found


def mix(z: int) -> int:
    """SplitMix64."""
    z = (z + 0x9E3779B97F4A7C15) & WORD
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & WORD
    return z ^ z >> 31


def duration_ns(task: int) -> int:
    return 500 + ((mix(task ^ 0x5BD1E995) >> 32) * 1000 >> 32)


def test_workers_that_have_a_task_each_end_with_the_longest() -> None:
    found = ran("independent", 8, 8, 2)
    assert found["makespan_ns"] == max(map(duration_ns, range(8)))
    assert (found["tasks"], found["steals"]) == (8, 0)


@pytest.mark.parametrize(("workers", "nodes"), [(2, 1), (3, 2), (24, 2), (4096, 64)])
def test_every_task_ends_once_and_no_faster_than_all_workers_can(workers: int, nodes: int) -> None:
    tasks = 3 * workers + 1
    found = ran("independent", tasks, workers, nodes)
    work = sum(map(duration_ns, range(tasks)))
    assert found["tasks"] == tasks
    assert work / workers <= found["makespan_ns"] <= work
    assert found["events"] >= workers + tasks


@pytest.mark.parametrize(("n", "workers"), [(1, 2), (2, 2), (12, 3), (20, 24)])
def test_fib_makes_its_calls_and_their_ends(n: int, workers: int) -> None:
    calls = fib_calls(n)[0]
    inner = (calls - 1) // 2  # every call of 2 or more makes two
    assert ran("fib", n, workers, 2)["tasks"] == calls + inner


def test_one_call_takes_as_long_as_a_leaf() -> None:
    assert ran("fib", 1, 2, 1)["makespan_ns"] == 200


def test_the_same_run_has_the_same_events() -> None:
    first, second = ran("fib", 18, 7, 3), ran("fib", 18, 7, 3)
    del first["took_ps"], second["took_ps"]
    assert first == second


@pytest.mark.parametrize(
    "words",
    [
        *((), ("fib", 0, 2, 1), ("fib", 41, 2, 1), ("fib", 5, 1, 1), ("fib", 5, 4097, 1), ("fib", 5, 2, 3)),
        *(("uts", 5, 2, 1), ("independent", "many", 2, 1), ("independent", -1, 2, 1), ("independent", 5, 2, 1, 1)),
    ],
)
def test_what_is_no_run_is_refused(words: tuple[object, ...]) -> None:
    done = subprocess.run([PROGRAM, "bare", *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("numasim-runtime: bare: expected independent TASKS WORKERS NODES or fib N WORKERS")
