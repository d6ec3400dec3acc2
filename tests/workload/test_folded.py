"""Folded workloads, with one row for all tasks of equal subtrees, equal the programs that a slow recursion writes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workload_setup import make

from numasim.errors import InputError
from numasim.workload.builder import ACCESS_TYPES, workload_of
from numasim.workload.describe import describe
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import Kind, Op, Phase, Region, Workload
from numasim.workload.graph_rules import validate
from numasim.workload.one_worker import serial_ps
from numasim.workload.registry import generate, workload_spec
from numasim.workload.span import span_ps, span_tasks
from numasim.workload.unfold import unfolded

Program = list[tuple[Op, int]]
REGION_BYTES = 1 << 20


def folded_fib(n: int, **times: object) -> Workload:
    return generate(workload_spec("fib", n=n, **times), folded=True)


@st.composite
def programs(draw: st.DrawFn, row: int, kinds: list[Kind], segments: int) -> Program:
    """Draw the ops of a row, which may create later rows."""
    children = [child for child in range(row + 1, len(kinds)) if kinds[child] != Kind.IMPLICIT]
    codes = [Op.RUN] * (segments > 0) + [Op.WAIT] + [Op.SPAWN] * bool(children) * 2
    ops: Program = []
    for code in draw(st.lists(st.sampled_from(codes), max_size=5)):
        if code == Op.SPAWN:
            child = draw(st.sampled_from(children))
            ops.append((Op.CALL if kinds[child] == Kind.CALL else Op.SPAWN, child))
        else:
            ops.append((code, draw(st.integers(0, segments - 1)) if code == Op.RUN else 0))
    return ops


accesses = st.tuples(
    st.integers(0, 1), st.integers(0, 999), st.integers(1, 5000), st.integers(1, 3), st.just(8), st.integers(1, 3),
    st.integers(0, 3), st.integers(1, 3),
)  # fmt: skip


@st.composite
def folded(draw: st.DrawFn) -> Workload:
    """Draw a few rows, each for many equal tasks, that other rows spawn and call; and roots of repeated phases."""
    kinds = [Kind(draw(st.sampled_from([0, 0, 1, 2]))) for _ in range(draw(st.integers(1, 6)))]
    kinds[0] = Kind.IMPLICIT if kinds[0] == Kind.CALL else kinds[0]
    segments = draw(st.lists(st.lists(accesses, max_size=2), max_size=3))
    rows = [draw(programs(row, kinds, len(segments))) for row in range(len(kinds))]
    roots = st.sampled_from([row for row, kind in enumerate(kinds) if kind != Kind.CALL])
    phases = [
        Phase(tuple(draw(st.lists(roots, min_size=1, max_size=3))), None, repeat=draw(st.integers(1, 3)))
        for _ in range(draw(st.integers(1, 2)))
    ]
    ops = [op for program in rows for op in program]
    columns = np.array([access for each in segments for access in each], np.int64).reshape(-1, len(ACCESS_TYPES)).T
    return workload_of(
        "classes",
        kernels=("a", "b"),
        regions=(Region("first", REGION_BYTES, True), Region("second", REGION_BYTES, False)),
        phases=phases,
        op_ptr=offsets(np.array([len(program) for program in rows])),
        op_code=[code for code, _ in ops],
        op_arg=[arg for _, arg in ops],
        kind=np.array(kinds),
        compute_ps=[draw(st.integers(0, 10**6)) for _ in segments],
        kernel=np.array([draw(st.integers(0, 1)) for _ in segments]),
        accesses=(offsets(np.array([len(each) for each in segments])), dict(zip(ACCESS_TYPES, columns, strict=True))),
        folded=True,
    )


@dataclasses.dataclass
class Written:
    """The tasks of a folded workload, appended one by one in preorder."""

    work: Workload
    row: list[int] = dataclasses.field(default_factory=list)
    parent: list[int] = dataclasses.field(default_factory=list)
    programs: list[list[tuple[int, int]]] = dataclasses.field(default_factory=list)

    def add(self, row: int, parent: int) -> int:
        task = len(self.row)
        self.row.append(row)
        self.parent.append(parent)
        self.programs.append([])
        for at in range(self.work.op_ptr[row], self.work.op_ptr[row + 1]):
            code, arg = int(self.work.op_code[at]), int(self.work.op_arg[at])
            self.programs[task].append((code, self.add(arg, task) if code in (Op.SPAWN, Op.CALL) else arg))
        return task


def tasks_below(work: Workload, row: int) -> int:
    written = Written(work)
    written.add(row, -1)
    return len(written.row)


def segment(work: Workload, number: int) -> tuple[Any, ...]:
    """Return all values of a segment."""
    at = slice(work.segment_accesses[number], work.segment_accesses[number + 1])
    columns = [getattr(work.accesses, name)[at].tolist() for name in ACCESS_TYPES]
    return int(work.segment_compute_ps[number]), int(work.segment_kernel[number]), columns


@settings(max_examples=100)
@given(folded())
def test_unfolding_is_the_recursion(work: Workload) -> None:
    whole, written = unfolded(work), Written(work)
    for phase, there in zip(work.phases, whole.phases, strict=True):
        assert there == dataclasses.replace(phase, roots=tuple(written.add(root, -1) for root in phase.roots))
    validate(whole)
    assert whole.parent.tolist() == written.parent
    assert whole.kind.tolist() == work.kind[written.row].tolist()
    runs = 0
    for task, ops in enumerate(written.programs):
        at = slice(whole.op_ptr[task], whole.op_ptr[task + 1])
        assert whole.op_code[at].tolist() == [code for code, _ in ops]
        for code, arg, meant in zip(whole.op_code[at], whole.op_arg[at], ops, strict=True):
            if code == Op.RUN:
                assert segment(whole, arg) == segment(work, meant[1])
                assert arg == runs
                runs += 1
            else:
                assert arg == meant[1]
    assert whole.segments == runs


@settings(max_examples=100)
@given(folded())
def test_what_is_known_without_unfolding_is_true(work: Workload) -> None:
    whole = unfolded(work)
    assert work.sizes.tolist() == [tasks_below(work, row) for row in range(work.rows)]
    assert work.tasks == whole.tasks
    assert serial_ps(work, 77_300) == serial_ps(whole, 77_300)
    assert span_ps(work, 77_300) == span_ps(whole, 77_300)
    assert span_tasks(work) == span_tasks(whole)
    lines = [line for line in describe(work).splitlines() if "classes  " not in line and "digest" not in line]
    assert lines[1:] == [line for line in describe(whole).splitlines() if "digest" not in line][1:]


@pytest.mark.parametrize("times", [(50, 100, 50), (0, 1, 0), (7, 0, 9), (3, 4, 0), (0, 0, 0)])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 8])
def test_unfolded_fib_is_the_generated_one(n: int, times: tuple[int, int, int]) -> None:
    named = dict(zip(("spawn_ns", "leaf_ns", "join_ns"), times, strict=True))
    assert unfolded(folded_fib(n, **named)).digest() == make("fib", n=n, **named).digest()


def test_a_workload_that_is_not_folded_is_its_own_unfolding() -> None:
    work = make("sort", n=3000, quicksort_cutoff=64, merge_cutoff=32)
    assert unfolded(work) is work
    assert work.sizes.tolist() == (work.subtree_end() - np.arange(work.rows)).tolist()


def test_the_times_of_forty_million_calls() -> None:
    # 29,860,703 calls, (calls + 1) / 2 of them leaves; the longest chain splits 34 times down to a leaf
    work, leaves = folded_fib(35, spawn_ns=1, leaf_ns=2, join_ns=4), 14_930_352
    assert (work.tasks, work.sizes[0]) == (2 * leaves - 1, 2 * leaves - 1)
    assert serial_ps(work, 0) == 1000 * (2 * leaves + 5 * (leaves - 1))
    assert (span_ps(work, 0), span_tasks(work)) == (1000 * (34 * 5 + 2), 35)


def test_more_tasks_than_fit_are_refused() -> None:
    with pytest.raises(InputError, match=r"the 29,860,703 tasks of fib do not fit in memory one by one; expected at m"):
        make("fib", n=35)
