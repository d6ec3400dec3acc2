"""The serial mode, in which one worker runs all tasks: recorded graphs, teams (one part for each worker), errors that
end a run, and the orders of tasks.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from compiling import ADDRESSES, compile_program
from runtime_sources import HERE, library_sources, told

from numasim.workload.graph import Deal, Kind, Op, Workload
from numasim.workload.json_form.graph_io import read

PROGRAM, DEADLOCK, OPTION, UNSUPPORTED = 5, 6, 8, 9  # error codes, and exit statuses of `cases`
SEEDS = range(40)


@pytest.fixture(scope="module")
def cases(c_compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the compiled cases."""
    files = [HERE / "serial" / "serial_cases.c", *library_sources()]
    return compile_program(c_compiler, tmp_path_factory.mktemp("serial") / "serial_cases", files, ADDRESSES)


def ran(cases: Path, case: str, folder: Path) -> tuple[int, str]:
    """Return (exit status, output)."""
    done = subprocess.run([cases, case, folder / "graph.json"], capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.returncode, done.stdout.strip()


def recorded_case(cases: Path, case: str, folder: Path) -> tuple[str, Workload]:
    status, said = ran(cases, case, folder)
    assert status == 0, said
    return said, read(folder / "graph.json")


def program_of(graph: Workload, task: int) -> list[Any]:
    """Return the ops of a task: each RUN as its time, all other ops as their names."""
    found: list[Any] = []
    for op in range(graph.op_ptr[task], graph.op_ptr[task + 1]):
        code, argument = Op(graph.op_code[op]), int(graph.op_arg[op])
        found.append(int(graph.segment_compute_ps[argument]) if code == Op.RUN else code.name.lower())
    return found


FUTURES = [
    ("futures_one_after_the_other", ["spawn", "spawn", "wait"]),
    ("future_behind_work", ["spawn", 7, "wait", 8]),
    ("future_behind_a_join", ["spawn", "wait", "spawn", "wait"]),
]


@pytest.mark.parametrize(("case", "program"), FUTURES)
def test_futures_that_are_waits_are_recorded_as_waits(
    case: str, program: list[Any], cases: Path, tmp_path: Path
) -> None:
    said, graph = recorded_case(cases, case, tmp_path)
    assert program_of(graph, 0) == program
    assert int(said) == graph.tasks - 1 == program.count("spawn")


REFUSED = [
    ("future_too_early", UNSUPPORTED, "a task gets one of several futures and goes on before it has got the others; a"),
    ("work_between_futures", UNSUPPORTED, "a task gets one of several futures and goes on before it has got the"),
    ("future_of_another", UNSUPPORTED, "a task gets a future of another; a task graph cannot say so"),
    ("same_name", PROGRAM, "objects 0 and 1 are both named 'first'; to be recorded, names are distinct"),
    ("await_nobody", DEADLOCK, "run serially, all tasks that are left wait for locks, barriers or conditions"),
]


@pytest.mark.parametrize(("case", "status", "sentence"), REFUSED)
def test_what_cannot_go_on_ends_in_a_sentence_and_leaves_no_graph(
    case: str, status: int, sentence: str, cases: Path, tmp_path: Path
) -> None:
    found, said = ran(cases, case, tmp_path)
    assert (found, said[: len(sentence)]) == (status, sentence)
    assert not list(tmp_path.iterdir())


def test_a_part_that_joins_by_itself_is_a_call(cases: Path, tmp_path: Path) -> None:
    _, graph = recorded_case(cases, "parts_join_by_themselves", tmp_path)
    assert [Kind(kind).name for kind in graph.kind] == ["TASK", "TASK", "CALL", "TASK"]
    assert program_of(graph, 0) == ["spawn", "call", 4, "wait"]
    assert program_of(graph, 2) == [3, "spawn", "wait"]
    assert graph.parent.tolist() == [-1, 0, 0, 2]


def test_what_is_read_first_was_initialised(cases: Path, tmp_path: Path) -> None:
    _, graph = recorded_case(cases, "read_then_write", tmp_path)
    assert [(region.name, region.initialised) for region in graph.regions] == [("first", True), ("second", False)]
    assert graph.segment_accesses.tolist() == [0, 2, 4]


def test_a_team_waits_in_the_order_of_its_parts(cases: Path, tmp_path: Path) -> None:
    said, graph = recorded_case(cases, "team", tmp_path)
    assert said == "123" + "012345"  # the critical sections of parts 0, 1 and 2; then the tickets, as they were taken
    assert [Kind(kind).name for kind in graph.kind] == ["IMPLICIT"] * 3
    assert graph.phases[0].deal == Deal.CYCLIC
    assert graph.tasks == 0
    meet = ["barrier", "atomic"] * 2
    assert program_of(graph, 0) == ["lock", "await", "unlock", "lock", "unlock", *meet]
    assert program_of(graph, 1) == ["await", "lock", "unlock", *meet]
    assert program_of(graph, 2) == ["broadcast", "lock", "unlock", *meet]
    assert [(word.name, word.owner, word.parties) for word in graph.words] == [
        ("lock", 0, 1),
        ("counter", 1, 1),
        ("door", 2, 2),
        ("meeting", 0, 3),
    ]


def test_tasks_of_a_team_are_numbered_part_by_part(cases: Path, tmp_path: Path) -> None:
    _, graph = recorded_case(cases, "spawn_in_team", tmp_path)
    assert graph.parent.tolist() == [-1, 0, 0, -1, 3, 3, -1, 6, 6]
    assert graph.phases[0].roots == (0, 3, 6)
    assert program_of(graph, 3) == ["barrier", "spawn", "barrier", "spawn", "wait"]


@pytest.fixture(scope="module")
def orders(c_compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = [HERE / "serial" / "orders.c", *library_sources()]
    return compile_program(c_compiler, tmp_path_factory.mktemp("orders") / "orders", files, ADDRESSES)


def begun(orders: Path, mode: str, seed: int) -> list[str]:
    return told(orders, mode, seed).split()


def test_newest_first_is_the_order_of_a_worker_alone(orders: Path) -> None:
    """The check uses random programs with joins, calls, awaited futures, and arguments of many sizes."""
    differ = 0
    for seed in SEEDS:
        newest, spawned = begun(orders, "newest", seed), begun(orders, "spawned", seed)
        assert newest == begun(orders, "worker", seed)
        assert sorted(newest) == sorted(spawned)
        differ += newest != spawned
    assert differ > len(SEEDS) // 2


def test_stolen_is_the_order_of_a_thief(orders: Path) -> None:
    """A thief steals the children of the root, the oldest first, and takes each child's children from its own deque."""
    for seed in SEEDS:
        assert begun(orders, "stolen", seed) == begun(orders, "thief", seed)


def test_what_is_recorded_begins_where_it_is_spawned(orders: Path) -> None:
    done = subprocess.run([orders, "recorded"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (OPTION, "", "")
