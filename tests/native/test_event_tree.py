"""The native engine's tree of pending events returns events in the order of (time, rank, actor).

The tree compares keys of 64 bits, whose few bits for time count from the begin of a window. The tests put events behind
the end of the window, which simulations hardly do: with few workers the window is hours of simulated time long.
"""

from __future__ import annotations

import ctypes
import subprocess
from ctypes import POINTER, byref, c_bool, c_int64, c_size_t, c_uint32, c_void_p
from pathlib import Path
from random import Random

import pytest
from shared_builds import built_once

HERE = Path(__file__).parent
LIB = HERE.parents[1] / "lib"
LATEST_PS = 1 << 62
RANKS = range(9)
Key = tuple[int, int, int]


@pytest.fixture(scope="session")
def library(compiler: str) -> ctypes.CDLL:
    """Return `EventTree` behind functions of C."""
    sources = [HERE / "event_tree_probe.cpp"]
    folders = [f"-I{LIB / name}" for name in ("engine", "core")]
    flags = ["-std=c++20", "-O1", "-g0", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror"]
    command = [compiler, *flags, *folders, *map(str, sources)]
    made = built_once("libevents.so", lambda file: subprocess.run([*command, "-o", str(file)], check=True))
    loaded = ctypes.CDLL(str(made))
    numbers = (POINTER(c_int64), POINTER(c_uint32), POINTER(c_uint32))
    for name, result, arguments in (
        ("create", c_void_p, (c_size_t,)),
        ("destroy", None, (c_void_p,)),
        ("clear", None, (c_void_p, c_size_t)),
        ("set", None, (c_void_p, c_size_t, c_int64, c_uint32, c_uint32)),
        ("next", c_bool, (c_void_p, *numbers)),
    ):
        function = getattr(loaded, f"tree_{name}")
        function.restype, function.argtypes = result, arguments
    return loaded


class Pending:
    """A tree, and the keys (time, rank, actor) that should be pending in the tree, by slot."""

    def __init__(self, library: ctypes.CDLL, slots: int) -> None:
        self._library, self._tree = library, library.tree_create(slots)
        self.keys = dict[int, Key]()

    def set(self, slot: int, key: Key) -> None:
        """Put an event into a slot."""
        self._library.tree_set(self._tree, slot, *key)
        self.keys[slot] = key

    def clear(self, slot: int) -> None:
        """Take the event out of a slot."""
        self._library.tree_clear(self._tree, slot)
        self.keys.pop(slot, None)

    def next(self) -> Key | None:
        """Return the first event, which has the least of the pending keys."""
        time_ps, rank, actor = c_int64(), c_uint32(), c_uint32()
        found = self._library.tree_next(self._tree, byref(time_ps), byref(rank), byref(actor))
        first = (time_ps.value, rank.value, actor.value) if found else None
        assert first == min(self.keys.values(), default=None)
        return first

    def __del__(self) -> None:
        self._library.tree_destroy(self._tree)


def window_ps(slots: int) -> int:
    """Return the time that keys of 64 bits can count beside a rank of four bits and an actor below ``slots``."""
    return (1 << 64 - 4 - max(1, (slots - 1).bit_length())) - 1


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 26, 33, 64, 68, 69, 1026, 5000])
def test_events_of_any_time_come_in_order(library: ctypes.CDLL, slots: int) -> None:
    """Many events are due after the window, some of them at one instant; some are due before pending events."""
    chance, now_ps, tree = Random(slots), 0, Pending(library, slots)
    for _ in range(2000):
        slot = chance.randrange(slots)
        ahead_ps = chance.choice((0, 1, 1000, window_ps(slots) - 1, window_ps(slots), 1 << chance.randrange(62)))
        if chance.random() < 0.1:
            tree.clear(slot)
        else:
            due_ps = min(LATEST_PS + 1, now_ps + ahead_ps)
            tree.set(slot, (due_ps, chance.choice(RANKS), slot))
        first = tree.next()
        if first and chance.random() < 0.7:
            now_ps = first[0]
            tree.clear(first[2])
        now_ps = 0 if now_ps > LATEST_PS // 2 and not tree.keys else now_ps
