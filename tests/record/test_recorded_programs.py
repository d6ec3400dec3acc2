"""OpenMP programs that the tests compile and record: the recordings contain what the programs do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from openmp_programs import COMPILERS, DATA, FIB, KINDS, TILES, compiled, counts, openmp_or_skip, recorded

import numasim as ns
from numasim.cli import main
from numasim.errors import InputError
from numasim.runtime.record.event_times import PieceCosts
from numasim.runtime.record.program_runs import measure_own_costs, recorded_run
from numasim.runtime.record.recording import Recording, lines_of, this_place
from numasim.schema.enumerations import Mode, Op
from numasim.workload.graph_forms import read_graph
from numasim.workload.recording.recorded import Recorded


@pytest.mark.parametrize("compiler", COMPILERS)
def test_fib_has_the_tasks_of_its_recursion_at_one_thread_and_at_two(compiler: str) -> None:
    program = compiled("fib", FIB, compiler=compiler)
    for threads in (1, 2):
        found = recorded(program, "10", threads=threads)
        assert counts(found) == (2 * 88, 0)  # fib(11) - 1 calls make two tasks each
        assert found.status == 0
        waits = found.workload.op_code == Op.WAIT
        assert np.sum(waits) == 88
        assert found.joined == 2  # with turns, two threads make the same events in every run


@pytest.mark.parametrize("compiler", COMPILERS)
def test_kinds_of_tasks_are_told_apart_at_one_thread_as_at_two(compiler: str) -> None:
    program = compiled("kinds", KINDS, compiler=compiler)
    for threads in (1, 2):
        found = recorded(program, threads=threads, repeats=1)
        assert counts(found) == (1 + 1 + 4 + 2, 3 + 4)
        assert found.odd["undeferred tasks, as calls"] == 3 + 4
        assert found.odd["untied tasks, which no other worker goes on with"] == 1
        assert found.odd["entries of critical regions, which exclude nobody in the graph"] == 1
        regions = {phase.name.partition(",")[0] for phase in found.workload.phases if not phase.serial}
        assert regions == {"region 1", "region 2"}


def accesses(found: Recording) -> list[tuple[int, ...]]:
    """Return (whether the program wrote the block before its tasks, offset, bytes, mode) for each access."""
    table, regions = found.workload.accesses, found.workload.regions
    rows = zip(table.region, table.offset, table.row_bytes, table.mode, strict=True)
    return sorted((regions[region].initialised, *map(int, place)) for region, *place in rows)


def test_dependences_say_which_bytes_of_which_block() -> None:
    found = recorded(compiled("data", DATA))
    half = 1 << 16
    assert accesses(found) == [  # GCC reports out as inout
        (False, 0, half, Mode.READ_WRITE),
        (False, 0, half, Mode.READ_WRITE),
        (False, half, half, Mode.READ_WRITE),
        (True, 0, 2 * half, Mode.READ),
        (True, 0, 2 * half, Mode.READ),
    ]
    assert [region.bytes for region in found.workload.regions] == [2 * half, 2 * half]
    assert len(found.workload.successor) == 1  # the third task waits for the first
    assert found.data.guessed == 3  # tasks name both halves of `new`, but only the begin of `old`


def test_declared_accesses_are_those_of_the_graph() -> None:
    found = accesses(recorded(compiled("declared", DATA, "-DDECLARED")))
    assert found == [(False, 0, 2000, Mode.WRITE), (True, 64, 1000, Mode.READ)]


def tables(found: Recording) -> dict[str, set[tuple[int, int, int]]]:
    """Return (bytes, rows, stride) of the accesses to each region."""
    table, regions = found.workload.accesses, found.workload.regions
    rows = zip(table.region, table.row_bytes, table.rows, table.stride, strict=True)
    by_name: dict[str, set[tuple[int, int, int]]] = {}
    for region, *shape in rows:
        by_name.setdefault(regions[region].name, set()).add(tuple(map(int, shape)))
    return by_name


@pytest.mark.parametrize(("flags", "guessed"), [(("-DDECLARED",), 0), ((), 128)])
def test_tiles_and_rows_of_a_program_have_their_bytes(flags: tuple[str, ...], guessed: int) -> None:
    """64 tiles of 131,072 bytes and 64 rows of 32,768 bytes of a variable are declared, or guessed and reported so."""
    found = recorded(compiled("tiles", TILES, *flags), repeats=1)
    assert tables(found) == {"block 1": {(1024, 128, 8192)}, "x": {(32768, 1, 0)}}
    assert [region.bytes for region in found.workload.regions] == [8 << 20, 64 * 4096 * 8]
    said = found.workload.recorded
    assert said is not None
    assert (said.sizes, said.guessed_sizes) == (128, guessed)
    text = "\n".join(lines_of(found))
    assert ("128 of 128 sizes are guesses" in text) == bool(guessed)
    assert f"recorded on {said.place}" in text


def test_a_stripped_program_says_that_lines_are_guesses() -> None:
    found = recorded(compiled("stripped", TILES, "-s"), repeats=1)
    assert found.data.unknown == 64
    assert "64 addresses in no block as a cache line each" in "\n".join(lines_of(found))


def test_accesses_that_are_declared_and_not_recorded_are_an_error() -> None:
    program = compiled("fixed", DATA, "-DDECLARED", "-no-pie", "-fno-pie")
    subprocess.run([program], check=True)  # the program also runs without a recorder
    with pytest.raises(InputError, match="no declared access was recorded"):
        recorded(program)


def test_the_command_writes_a_graph_that_runs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = compiled("fib", FIB)
    packed = tmp_path / "fib.npz"
    assert main(["record", "--repeats", "1", "-o", str(packed), "--", str(program), "10"]) == 0
    assert read_graph(packed).tasks == 176
    assert "1 run, of which one was taken" in capfd.readouterr().err
    file, spec = tmp_path / "fib.json", tmp_path / "run.yaml"
    assert main(["record", "--repeats", "2", "-o", str(file), "--", str(program), "10"]) == 0
    said = capfd.readouterr().err
    assert "176 tasks, 0 calls" in said
    assert "2 runs, of which 2 had the same events and were joined" in said
    assert "no accesses to memory" in said
    assert read_graph(file).tasks == 176
    spec.write_text(f"{{machine: opteron-6161-2s, workload: {{file: {file}}}, strategy: ring, workers: 4}}")
    assert main(["run", str(spec), "--check", "--json"]) == 0


def test_a_recording_keeps_where_it_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numasim.runtime.record.recording.measure_own_costs", lambda openmp, threads: PieceCosts())
    program, here = compiled("fib", FIB), tmp_path / "here.yaml"
    here.write_text("{like: epyc-9654-2s, core_steps_per_s: 123000000}")
    graph = ns.Graph.recorded(program, 10, repeats=1, on=here)
    # the highest clock of the processor
    assert graph.specified().workload.recorded == Recorded("here", 3_700_000_000, 123_000_000)
    assert "recorded on here, 123.0 million steps per second" in graph.remarks
    with pytest.raises(InputError, match="has no core_steps_per_s"):  # raised before a program is looked for
        ns.Graph.recorded(tmp_path / "none", on="epyc-9654-2s")


def test_the_machine_at_hand_is_measured() -> None:
    """A step takes a few cycles: 10 million to 2,000 million steps a second on any machine that can build numasim."""
    openmp_or_skip()
    place = this_place()
    assert 10**7 < place.core_steps_per_s < 2 * 10**9


def test_what_cannot_be_recorded_is_said(tmp_path: Path) -> None:
    openmp = openmp_or_skip()
    with pytest.raises(InputError, match="no parallel region of OpenMP"):
        recorded_run([sys.executable, "-c", "pass"], openmp, 1, quiet=True)
    with pytest.raises(InputError, match="cannot be run: No such file"):
        recorded_run([str(tmp_path / "none")], openmp, 1, quiet=True)
    with pytest.raises(InputError, match="ended by SIGABRT"):
        recorded_run([sys.executable, "-c", "import os; os.abort()"], openmp, 1, quiet=True)


def test_empty_tasks_are_measured() -> None:
    costs = measure_own_costs(openmp_or_skip())
    assert len(costs.of_ps) >= 8
    assert all(cost >= 0 for cost in costs.of_ps.values())
