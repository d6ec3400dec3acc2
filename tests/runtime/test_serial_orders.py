"""Serial runs in the order in which a worker takes tasks from its own deque, or a thief from another deque."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from compiling import ADDRESSES, compile_program
from runtime_sources import HERE, library_sources, told

OPTION = 8
SEEDS = range(40)


@pytest.fixture(scope="module")
def orders(c_compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = [HERE / "serial" / "orders.c", *library_sources()]
    return compile_program(c_compiler, tmp_path_factory.mktemp("orders") / "orders", files, ADDRESSES)


def begun(orders: Path, mode: str, seed: int) -> list[str]:
    return told(orders, mode, seed).split()


def test_newest_first_is_the_order_of_a_worker_alone(orders: Path) -> None:
    """In random programs with joins, calls, awaited futures, and arguments of many sizes."""
    differ = 0
    for seed in SEEDS:
        newest, spawned = begun(orders, "newest", seed), begun(orders, "spawned", seed)
        assert newest == begun(orders, "worker", seed)
        assert sorted(newest) == sorted(spawned)
        differ += newest != spawned
    assert differ > len(SEEDS) // 2


def test_stolen_is_the_order_of_a_thief(orders: Path) -> None:
    """A thief takes all children of the root, the oldest first, and their children from its own deque."""
    for seed in SEEDS:
        assert begun(orders, "stolen", seed) == begun(orders, "thief", seed)


def test_what_is_recorded_begins_where_it_is_spawned(orders: Path) -> None:
    done = subprocess.run([orders, "recorded"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (OPTION, "", "")
