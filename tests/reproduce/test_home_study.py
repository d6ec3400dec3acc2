"""The study of home scheduling: what its text says of SparseLU holds, and what no single server can give."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from numasim.reproduce.load import read_study
from numasim.reproduce.reproduce import reproduce
from numasim.reproduce.study import Study


@pytest.fixture(scope="module")
def study() -> Study:
    return read_study("home")


def test_all_that_is_said_of_sparselu_holds(study: Study, tmp_path: Path) -> None:
    chosen = replace(study, chosen=("figure-4-claims",))
    (table,) = reproduce(chosen, tmp_path / "out", quick=True, jobs=1).tables
    assert {cell.row: cell.mean for cell in table.cells} == {cell.row: 1 for cell in table.cells}
    assert len(table.cells) == 6


def test_home_test_is_as_the_text_says_but_for_the_average_of_a_single_tile(study: Study, tmp_path: Path) -> None:
    chosen = replace(study, chosen=("figure-1-claims", "figure-1-gain"))
    claims, gain = reproduce(chosen, tmp_path / "out", quick=True, jobs=1).tables
    refuted = [cell.row for cell in claims.cells if cell.mean < 1]
    assert refuted == ["a single tile is a little better than hashing"]
    assert [round(cell.mean) for cell in gain.cells] == [43]


def test_only_the_share_of_hits_is_fitted_and_to_the_one_printed_number(study: Study) -> None:
    (parameter,) = study.parameters
    assert parameter.field == "workload.hit_share"
    assert parameter.cells == {("figure-1-gain", "home_access_gain_percent", "home-test")}
    scored = {table.id for table in study.tables.values() for column in table.columns.values() if column.score}
    assert parameter.table not in scored


Order = Callable[[int, int], int]  # of a request, by core and by time: the least is served first


def ends(tasks: int, requests: int, think: int, serve: int, order: Order) -> list[int]:
    """When each of so many tasks ends that think and then ask one server, which is never idle while somebody asks."""
    coming = [(think, core) for core in range(tasks)]
    left, waiting, now, done = [requests] * tasks, [], 0, [0] * tasks
    while coming or waiting:
        while coming and (not waiting or coming[0][0] <= now):
            at, core = heapq.heappop(coming)
            now = max(now, at)
            heapq.heappush(waiting, (order(core, at), core))
        _, core = heapq.heappop(waiting)
        now += serve
        left[core] -= 1
        done[core] = now
        if left[core]:
            heapq.heappush(coming, (now + think, core))
    return done


@pytest.mark.parametrize("serve", [1, 2, 3, 8, 40])
@pytest.mark.parametrize(
    "order", [lambda core, at: at, lambda core, at: core], ids=["in turn", "always the same first"]
)
def test_the_last_task_at_a_single_server_takes_less_than_three_times_the_average(serve: int, order: Order) -> None:
    """Alone a task takes T = 30 * (40 + s); T + (n - 1) S bounds the last one, T and S (n + 1) / 2 the average."""
    tasks, requests, think = 64, 30, 40
    found = ends(tasks, requests, think, serve, order)
    alone, busy, mean = requests * (think + serve), requests * serve, sum(found) / tasks
    assert max(found) <= alone + (tasks - 1) * busy
    assert 2 * mean >= max(2 * alone, busy * (tasks + 1)) * (1 - 1e-9)
    assert max(found) < 3 * mean
