"""The kernels, benchmarks of the C runtime, record the graphs that numasim generates for them: tasks, ops, accesses.

Sort is generated from the keys that the kernel sorts (see `really_sorted`). Three kernels cannot be equal to their
generators. The generator of ``matmul`` has a task per element, in an implicit range that is never materialised; the
kernel has a task per block. In the kernel ``sparselu``, the first update of a new block (fill-in) clears the
block, and so writes it without reading. The generator of ``cholesky`` has dependences; without the parameter
``dependences`` the kernel has joins, which keep all dependences.
"""

from __future__ import annotations

from dataclasses import fields
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from really_sorted import really_sorted
from recorded_graphs import recorded

from numasim.workload.graph import Mode, Op, Workload
from numasim.workload.registry import PARAMETERS, generate, workload_spec

CONSTRUCTS = ("parallel", "for", "parallel-for", "barrier", "single", "critical", "lock", "atomic", "reduction")
CASES: list[tuple[str, str, dict[str, int | str]]] = [
    ("fib", "fib", {"n": 0}),
    ("fib", "fib", {"n": 11}),
    ("fib", "fib", {"n": 9, "spawn_ns": 0, "leaf_ns": "0.5", "join_ns": 7}),
    ("nqueens", "nqueens", {"n": 1}),
    ("nqueens", "nqueens", {"n": 6}),
    ("nqueens", "nqueens", {"n": 7, "cutoff": 3, "row_ns": 5}),
    ("nqueens", "nqueens", {"n": 4, "cutoff": 9}),
    ("nqueens", "nqueens", {"n": 7, "cutoff": 1}),
    ("uts", "uts", {"root_children": 40, "tree_seed": 3}),
    ("uts", "uts", {"root_children": 30, "children": 5, "probability": "0.15", "tree_seed": 2**63 - 1}),
    ("uts", "uts", {"root_children": 7, "children": 3, "probability": "0.3", "node_ns": 0}),
    ("uts", "uts", {"tree": "geometric", "tree_seed": 5}),
    ("uts", "uts", {"tree": "geometric", "shape": "linear", "root_children": 3, "depth": 9, "tree_seed": 1}),
    ("uts", "uts", {"tree": "geometric", "shape": "exponential", "root_children": 3, "depth": 4, "tree_seed": 5}),
    ("uts", "uts", {"tree": "geometric", "shape": "cyclic", "root_children": 2, "depth": 3, "tree_seed": 1}),
    ("uts", "uts", {"tree": "geometric", "shape": "fixed", "root_children": 1, "depth": 30, "tree_seed": 1}),
    ("strassen", "strassen", {"n": 64, "cutoff": 64}),
    ("strassen", "strassen", {"n": 64, "cutoff": 8}),
    ("strassen", "strassen", {"n": 64, "cutoff": 8, "cutoff_version": "manual", "cutoff_depth": 2}),
    ("strassen", "strassen", {"n": 32, "cutoff": 8, "cutoff_version": "manual", "cutoff_depth": 1}),
    ("mergesort", "sort", {"n": 3000, "quicksort_cutoff": 64, "merge_cutoff": 32}),
    ("mergesort", "sort", {"n": 1003, "quicksort_cutoff": 4, "merge_cutoff": 2}),
    ("mergesort", "sort", {"n": 50, "quicksort_cutoff": 64}),
    ("mergesort", "sort", {"n": 5, "quicksort_cutoff": 4, "merge_cutoff": 2}),
    ("mergesort", "sort", {"n": 3001, "quicksort_cutoff": 50, "merge_cutoff": 300}),
    ("fft", "fft", {"n": 2}),
    ("fft", "fft", {"n": 64}),
    ("fft", "fft", {"n": 512}),
    ("fft", "fft", {"n": 8192, "ps_per_1000_flops": 777}),
    ("sparselu", "sparselu-single", {"blocks": 1, "block_size": 3}),
    ("sparselu", "sparselu-single", {"blocks": 9, "block_size": 4}),
    ("spinlock", "spinlock", {"acquisitions": 4}),
    ("spinlock", "spinlock", {"acquisitions": 3, "critical_ns": 10, "think_ns": 5}),
    *(
        ("syncbench", "syncbench", {"construct": construct, "repetitions": 5, "delay_ns": 70})
        for construct in CONSTRUCTS
    ),
    ("syncbench", "syncbench", {"construct": "barrier", "repetitions": 2, "delay_ns": 0}),
    *(
        ("cholesky", "cholesky", {"tiles": tiles, "tile_size": size, "dependences": 1})
        for tiles, size in [(1, 6), (2, 1), (5, 3), (9, 2)]
    ),
]
WORKERS = 3
PROGRAMS = ("op_ptr", "op_code", "op_arg", "kind", "parent", "segment_compute_ps", "segment_accesses")


def generated(benchmark: str, **parameters: int | str) -> Workload:
    if benchmark == "sort":
        return really_sorted(**parameters)
    given = {key: Decimal(v) if isinstance(v, str) and v[0].isdigit() else v for key, v in parameters.items()}
    extra: dict[str, int | str] = {"heap": "fresh"} if benchmark == "strassen" else {}
    given.pop("dependences", None)  # the generator always has dependences
    if "threads" in PARAMETERS[benchmark].model_fields:
        extra["threads"] = WORKERS
    return generate(workload_spec(benchmark, **given, **extra))


@pytest.mark.parametrize(("kernel", "benchmark", "parameters"), CASES)
def test_a_recorded_graph_is_the_generated_one(
    kernel: str, benchmark: str, parameters: dict[str, int | str], program: Path, tmp_path: Path
) -> None:
    _, here = recorded(program, tmp_path, kernel, workers=WORKERS, **parameters)
    there = generated(benchmark, **parameters)
    for name in (*PROGRAMS, "successor_ptr", "successor"):
        assert np.array_equal(getattr(here, name), getattr(there, name)), name
    for column in fields(here.accesses):
        mine, theirs = getattr(here.accesses, column.name), getattr(there.accesses, column.name)
        if kernel == "sparselu" and column.name == "mode":
            fresh = (here.accesses.region == 1) & (mine == Mode.WRITE)
            mine = np.where(fresh, Mode.READ_WRITE, mine)
        assert np.array_equal(mine, theirs), column.name
    assert [(r.name, r.bytes, r.initialised) for r in here.regions if r.bytes] == [
        (r.name, r.bytes, r.initialised) for r in there.regions if r.bytes
    ]
    assert [(p.roots, p.deal) for p in here.phases] == [(p.roots, p.deal) for p in there.phases]
    assert here.words == there.words
    assert here.tasks == there.tasks


def steps_between_joins(graph: Workload) -> np.ndarray:
    """Return [tasks] how many joins of the spawning task come before each task is spawned."""
    codes, tasks = (array[: graph.op_ptr[1]] for array in (graph.op_code, graph.op_arg))
    joins = np.zeros(graph.rows, np.int64)
    joins[tasks[codes == Op.SPAWN]] = np.cumsum(codes == Op.WAIT)[codes == Op.SPAWN]
    return joins


@pytest.mark.parametrize(("tiles", "tile_size"), [(1, 6), (2, 1), (5, 3), (9, 2)])
def test_a_recorded_cholesky_has_the_tasks_of_the_generator_and_joins_that_keep_its_dependences(
    tiles: int, tile_size: int, program: Path, tmp_path: Path
) -> None:
    _, here = recorded(program, tmp_path, "cholesky", tiles=tiles, tile_size=tile_size)
    there = generated("cholesky", tiles=tiles, tile_size=tile_size)
    for name in ("kind", "parent", "segment_compute_ps", "segment_accesses"):
        assert np.array_equal(getattr(here, name), getattr(there, name)), name
    joins = steps_between_joins(here)
    before, after = np.repeat(joins, np.diff(there.successor_ptr)), joins[there.successor]
    assert not len(here.successor)
    assert (before < after).all()


def test_every_block_that_fills_in_is_written_once_without_reading(program: Path, tmp_path: Path) -> None:
    _, graph = recorded(program, tmp_path, "sparselu", blocks=9, block_size=4)
    fresh = graph.accesses.mode == Mode.WRITE
    assert sorted(graph.accesses.offset[fresh].tolist()) == list(range(0, graph.regions[1].bytes, 4 * 4**2))
    assert set(graph.accesses.region[fresh].tolist()) == {1}


def test_the_segments_of_a_runtime_that_takes_time_itself_are_one(program: Path, tmp_path: Path) -> None:
    parameters = {"construct": "critical", "repetitions": 6, "delay_ns": 70, "construct_ns": 30}
    _, here = recorded(program, tmp_path, "syncbench", workers=WORKERS, **parameters)
    there = generated("syncbench", **parameters)
    assert set(here.segment_compute_ps.tolist()) == {100_000}
    assert here.segment_compute_ps.sum() == there.segment_compute_ps.sum()
    assert (here.op_code != 0).sum() == (there.op_code != 0).sum()


def test_lines_that_a_runtime_writes_are_words_of_the_kernel_too(program: Path, tmp_path: Path) -> None:
    parameters = {"construct": "atomic", "repetitions": 6, "construct_lines": 4}
    _, here = recorded(program, tmp_path, "syncbench", workers=WORKERS, **parameters)
    there = generated("syncbench", **parameters)
    assert [word.name for word in here.words] == [word.name for word in there.words]
    assert here.op_code.tolist() == there.op_code.tolist()
