"""Rules of every generated workload: read-only, small, with a digest of all contents."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from workload_setup import SMALL, make, small

from numasim.workload.describe import describe
from numasim.workload.graph import Kind, Workload
from numasim.workload.phases import runs_of


def arrays(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], np.ndarray]]:
    for entry in dataclasses.fields(value):
        part = getattr(value, entry.name)
        if isinstance(part, np.ndarray):
            yield (*path, entry.name), part
        elif dataclasses.is_dataclass(part):
            yield from arrays(part, (*path, entry.name))


@pytest.mark.parametrize("label", SMALL)
def test_arrays_are_read_only(label: str) -> None:
    work = small(label)
    assert not any(array.flags.writeable for _, array in arrays(work))
    assert not work.subtree_end().flags.writeable


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("strassen", {"n": 2048}),
        ("sort", {"n": 2**20}),
        ("sparselu-single", {"blocks": 50}),
        ("sparselu-for", {"blocks": 50}),
        ("fib", {"n": 18}),
        ("nqueens", {"n": 7}),
        ("fft", {"n": 2**16}),
        ("uts", {}),
        ("random-fork-join", {"tasks": 2000, "low_ns": 1, "high_ns": 2}),
    ],
)
def test_a_task_takes_at_most_256_bytes(name: str, parameters: dict[str, int]) -> None:
    work = make(name, **parameters)
    assert sum(array.nbytes for _, array in arrays(work)) <= 256 * work.tasks


@pytest.mark.parametrize("label", SMALL)
def test_tasks_are_counted_from_the_arrays(label: str) -> None:
    work = small(label)
    end, found = work.subtree_end(), 0
    for phase, runs in zip(work.phases, runs_of(work.phases, work.loops), strict=True):
        graph = sum(np.count_nonzero(work.kind[root : end[root]] == Kind.TASK) for root in phase.roots)
        found += runs * (graph + (0 if phase.range_family is None else work.ranges[phase.range_family].count))
    assert work.tasks == found
    assert work.facts.get("tasks", work.tasks) == work.tasks


def test_digests_differ_between_workloads() -> None:
    assert len({small(label).digest() for label in SMALL}) == len(SMALL)


def changed(work: Workload, path: tuple[str, ...]) -> Workload:
    """Return the workload with one changed element of an array."""
    owner = work if len(path) == 1 else getattr(work, path[0])
    array = getattr(owner, path[-1]).copy()
    array.flat[-1] += 1
    inner = dataclasses.replace(owner, **{path[-1]: array})
    return inner if len(path) == 1 else dataclasses.replace(work, **{path[0]: inner})


def test_digest_sees_every_array() -> None:
    work = make("random-layered", layers=3, width=3, low_ns=1, high_ns=2, task_bytes=64)
    paths = [path for path, array in arrays(work) if array.size]
    assert len(paths) == 18
    assert len({changed(work, path).digest() for path in paths} | {work.digest()}) == 19


def test_description_gives_the_figures() -> None:
    text = describe(make("strassen", n=256))
    assert "strassen n=256 cutoff=64 cutoff_version=none cutoff_depth=3" in text
    assert "tasks            57" in text
    assert "depth            3" in text
    assert "critical path    3 tasks" in text
    assert "region A         524,288 bytes, initialised" in text
    assert "flops_multiply   25,690,112" in text


def test_description_of_a_range() -> None:
    text = describe(make("matmul", n=100))
    assert "tasks            10,000" in text
    assert f"region A         80,000 bytes, initialised, {100 * 100 * 800:,} bytes accessed" in text
