"""Loops, waits and turns of OpenMP programs that the tests compile and record.

A chunk is a share of a loop's iterations that any thread may take. Recorded threads run in turns, one at a time.
"""

from __future__ import annotations

import numpy as np
import pytest
from openmp_programs import COMPILERS, FIB, LOOPS, ORDERED, TOGETHER, WAITS, compiled, counts, recorded

from numasim.errors import InputError
from numasim.runtime.record import program_runs
from numasim.runtime.record.event_times import PieceCosts
from numasim.runtime.record.recording import Order, lines_of, record
from numasim.schema.enumerations import Kind


def test_a_short_program_is_recorded_often() -> None:
    """Of many equal pieces of work the longest determines the time; the shortest of three measured times of a piece is
    still some per cent too long. So short programs are recorded more often.
    """
    found = record(Order((str(compiled("fib", FIB)), "5"), 1), PieceCosts())
    assert found.joined == found.runs >= 15


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("threads", [1, 2, 16])
def test_loops_are_shares_of_their_owners_and_chunks_from_a_queue(compiler: str, threads: int) -> None:
    """The test would find a share recorded as a serial phase, and shares that go by processors instead of threads."""
    found = recorded(compiled("loops", LOOPS, "-g", compiler=compiler), threads=threads, repeats=1)
    assert found.threads == threads
    work = found.workload
    static, dynamic, *_ = (phase for phase in work.phases if not phase.serial)
    kinds = work.kind
    assert [kinds[root] for root in static.roots] == [Kind.IMPLICIT] * threads
    chunks = [root for root in dynamic.roots if kinds[root] == Kind.TASK]
    assert len(chunks) == (100 if threads > 1 else 1)  # 1,000 iterations, 10 at a time
    spawned = found.chunks - len(chunks)
    assert spawned == 0 if threads == 1 else threads < spawned < 1000  # guided: more chunks than threads
    names = {work.kernels[work.segment_kernel[work.op_arg[work.op_ptr[root]]]] for root in chunks}
    assert names == {"loop main (loops.c:13)" if compiler == "gcc" else "loop loops.c:12"}  # clang outlines no name


def test_one_thread_says_nothing_of_a_loop_that_a_team_divides() -> None:
    program = compiled("loops", LOOPS, "-g")
    problem = r"--threads: the parallel region of main \(loops.c:7\) works .* ms, of"
    with pytest.raises(InputError, match=problem) as said:
        recorded(program, threads=None, repeats=1)
    assert "such as --threads 16" in str(said.value)
    said_of_one = list(lines_of(recorded(program, threads=1, repeats=1)))
    assert any("region 1, part 1, main (loops.c:7): " in line and "without any task" in line for line in said_of_one)
    assert counts(recorded(compiled("fib", FIB), "10", threads=None, repeats=1)) == (176, 0)


def test_a_program_that_sleeps_has_the_graph_of_one_that_does_not() -> None:
    """Three tasks sleep for 30 ms each, and the program sleeps for 60 ms after the region: nothing of this is work."""
    program = compiled("waits", WAITS)
    awake, asleep = (recorded(program, us, threads=None, repeats=1) for us in ("0", "30000"))
    for one, other in zip(awake.workload.phases, asleep.workload.phases, strict=True):
        assert (one.serial, one.roots, one.name) == (other.serial, other.roots, other.name)
    assert np.array_equal(awake.workload.kind, asleep.workload.kind)
    assert np.max(asleep.workload.segment_compute_ps) < 15 * 10**9
    assert not awake.blocked_ps
    assert asleep.blocked_ps["after region 1"] >= 59 * 10**9
    assert sum(asleep.blocked_ps.values()) >= 149 * 10**9
    assert asleep.odd["tasks or taskloops with a priority, which has no effect in the graph"] == 3
    part = record(Order((str(program), "0"), None, 1, parallel_part=True), PieceCosts())
    assert [phase.serial for phase in part.workload.phases] == [False]
    assert part.left_out_ps > 0


def test_threads_that_wait_for_each_other_get_along(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread waits for another thread during its own turn: if such turns did not end, the program would hang."""
    monkeypatch.setattr(program_runs, "PATIENCE_S", 1)
    found = recorded(compiled("together", TOGETHER), threads=2, repeats=1)
    assert found.status == 0
    assert found.odd["time that threads waited for each other outside of OpenMP: all then ran together, disturbed"] == 1


@pytest.mark.parametrize("compiler", COMPILERS[:2])
def test_turns_go_on_where_threads_wait_for_each_other_in_openmp(compiler: str) -> None:
    """Ordered iterations, copies and loops without a barrier use turns; ordered iterations pass the turn to and fro."""
    found = recorded(compiled("ordered", ORDERED, compiler=compiler), threads=3, repeats=2)
    assert (found.status, found.joined) == (0, 2)
    assert counts(found) == (12, 0)  # six chunks, and one task in each chunk
    assert not any("waited for each other" in what for what in found.odd)


def test_kernels_are_named_by_function_file_and_line() -> None:
    places = {name for name in recorded(compiled("fib", FIB, "-g"), "10", repeats=1).workload.kernels if "fib" in name}
    assert {"fib (fib.c:6)", "fib (fib.c:8)"} <= places
    without = recorded(compiled("fib", FIB), "10", repeats=1).workload.kernels
    assert sum(name.startswith("fib (fib+0x") for name in without) == 2
