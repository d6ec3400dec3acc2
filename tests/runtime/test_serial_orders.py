"""Serial runs whose tasks begin as a worker takes them from its deque, and as a thief takes them from another's."""

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
    """On random programs with joins, calls, futures that are got at once, and arguments of many sizes."""
    differ = 0
    for seed in SEEDS:
        newest, spawned = begun(orders, "newest", seed), begun(orders, "spawned", seed)
        assert newest == begun(orders, "worker", seed)
        assert sorted(newest) == sorted(spawned)
        differ += newest != spawned
    assert differ > len(SEEDS) // 2


def test_stolen_is_the_order_of_a_thief(orders: Path) -> None:
    """Who takes all that the root spawns, from the oldest on, and what that spawns from its own deque."""
    for seed in SEEDS:
        assert begun(orders, "stolen", seed) == begun(orders, "thief", seed)


def test_what_is_recorded_begins_where_it_is_spawned(orders: Path) -> None:
    done = subprocess.run([orders, "recorded"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (OPTION, "", "")
