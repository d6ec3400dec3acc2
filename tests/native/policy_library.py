"""The C interpreter of strategies behind the methods of the Python one: compiled on the spot, called through ctypes.

Compiled with sanitizers, whose runtimes Python has to be started with:

    NUMASIM_TEST_SANITIZED=1 ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$(gcc -print-file-name=libasan.so)" \\
        python -m pytest tests/native/test_policy*.py
"""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Iterator, Sequence
from ctypes import POINTER, byref, c_bool, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from compiling import compile_library, core_sources

from numasim.schema.enumerations import Tier
from numasim.strategy.similarity import Objects
from numasim.strategy.steal_plan import StealPlan

MOST_QUIET_PROBES = 5000
Visit = ctypes.CFUNCTYPE(c_bool, c_void_p, c_uint32, c_uint32)


def _fields(kind: Any, names: str) -> list[tuple[str, Any]]:
    return [(name, kind) for name in names.split()]


class PlanStruct(ctypes.Structure):
    _fields_ = [
        *_fields(c_void_p, "level row seg queue weight watch chance queues own"),
        *_fields(c_uint32, "workers steal_levels levels rows watches chances queue_count"),
        *_fields(c_void_p, "data node domains latency_ps"),
        *_fields(c_uint32, "data_count nodes domain_count"),
        *_fields(c_void_p, "mask gate"),
        ("live_most", c_int64),
    ]


class ViewStruct(ctypes.Structure):
    _fields_ = [
        *_fields(c_void_p, "length watch"),
        ("iteration", c_uint32),
        ("switches", c_uint64),
        ("live", c_void_p),
        ("awaited", c_void_p),
    ]


class StreamStruct(ctypes.Structure):
    _fields_ = _fields(c_uint64, "base drawn")


class ActorStruct(ctypes.Structure):
    _fields_ = [
        *_fields(c_int32, "position own last parent thief"),
        *_fields(c_bool, "leapfrogs leaps"),
        ("robbed", c_int64),
        ("taker", c_int32),
        *_fields(StreamStruct, "victims dispatch"),
        ("cursor", POINTER(c_int64)),
        ("chance_ppm", POINTER(c_int32)),
    ]


class WalkStruct(ctypes.Structure):
    _fields_ = [*_fields(c_uint32, "segment end left start step"), ("begun", c_bool)]


class RoundStruct(ctypes.Structure):
    _fields_ = [("walk", WalkStruct), *_fields(c_uint32, "level next")]


class ItemsStruct(ctypes.Structure):
    _fields_ = [("first", c_uint64), *_fields(c_uint32, "step count")]


class ObjectsStruct(ctypes.Structure):
    _fields_ = [*_fields(c_int64, "bytes count"), ("home", c_int32), ("mode", c_uint32)]


class TaskStruct(ctypes.Structure):
    _fields_ = [
        *_fields(c_uint64, "index count"),
        ("objects", POINTER(ObjectsStruct)),
        ("object_groups", c_uint32),
        *_fields(c_bool, "source looked"),
        ("similarity", c_void_p),
        ("tier", c_uint32),
        ("label", c_int32),
        ("copy", c_void_p),
        ("copies", c_uint32),
    ]


class RulesStruct(ctypes.Structure):
    _fields_ = [*_fields(c_int64, "max_tasks min_tasks fraction_ppm"), ("rule", ctypes.c_int)]


class ThresholdsStruct(ctypes.Structure):
    _fields_ = _fields(c_int64, "high low")


class MeasuredStruct(ctypes.Structure):
    _fields_ = _fields(c_int64, "capacity pushes span_ps executed busy_ps peak_sum queues")


class BackoffStruct(ctypes.Structure):
    _fields_ = _fields(c_int64, "first_ps factor max_ps poll_ps scan_ps")


STRUCTS = (PlanStruct, ViewStruct, ActorStruct, RoundStruct, TaskStruct)
PLAN, VIEW, ACTOR, ROUND, TASK = map(POINTER, STRUCTS)
ITEMS, RULES, MEASURED, BACKOFF = map(POINTER, (ItemsStruct, RulesStruct, MeasuredStruct, BackoffStruct))
DEAL = ctypes.c_int
SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "ns_actor_init": (None, [ACTOR, PLAN, c_int32, c_uint64, POINTER(c_int64), POINTER(c_int32)]),
    "ns_round_begin": (None, [ROUND]),
    "ns_round_next": (c_bool, [ROUND, PLAN, ACTOR, VIEW, POINTER(c_uint32), POINTER(c_uint32)]),
    "ns_level_amount": (c_int64, [c_void_p, c_int64]),
    "ns_actor_found": (None, [ACTOR, PLAN, c_int32, c_uint32, c_uint32, c_int64]),
    "ns_actor_ran": (None, [ACTOR, c_int32]),
    "ns_any_within_reach": (c_bool, [PLAN, ACTOR, VIEW, Visit, c_void_p]),
    "ns_quiet_round": (c_int32, [PLAN, ACTOR, POINTER(c_uint32), POINTER(c_uint32), c_int32]),
    "ns_place": (c_int32, [PLAN, ACTOR, VIEW, TASK]),
    "ns_looks_at_data": (c_bool, [PLAN]),
    "ns_dealing_rule": (c_int32, [PLAN, c_int32]),
    "ns_masks_serve": (c_bool, [PLAN]),
    "ns_masks_fill": (None, [PLAN, c_void_p]),
    "ns_thresholds_first": (ThresholdsStruct, [RULES, c_int64]),
    "ns_thresholds_computed": (ThresholdsStruct, [RULES, c_int64, c_int64, MEASURED]),
    "ns_backoff_wait_ps": (c_int64, [BACKOFF, c_int64, c_bool]),
    "ns_overflows": (c_bool, [c_bool, c_int64, c_int64, c_int64]),
    "ns_dealt_to": (c_uint32, [DEAL, c_uint64, c_uint64, c_uint32]),
    "ns_dealt_items": (ItemsStruct, [DEAL, c_uint32, c_uint32, c_uint64, c_uint64]),
    "ns_items_take_front": (c_uint64, [ITEMS]),
    "ns_items_take_back": (c_uint64, [ITEMS]),
}


@cache
def library() -> ctypes.CDLL:
    """Return the core as a shared library; skip the test if there is no compiler."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        pytest.skip("no C compiler: set CC, or install one as cc")
    loaded = ctypes.CDLL(str(compile_library(compiler, "libcore", core_sources())))
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


@dataclass
class ArrayView:
    """The state that a worker sees, in arrays that both interpreters read."""

    length: Any  # [queues] int64
    watch: Any  # [watches, queues] uint8
    live: Any  # [units] int64
    awaited: Any  # [units] int64
    iteration: int = 0
    switches: int = 0

    @classmethod
    def of(cls, plan: StealPlan) -> ArrayView:
        """Return a view of empty queues."""
        queues = len(plan.queues)
        bits = np.zeros((len(plan.watch), queues), np.uint8)
        return cls(np.zeros(queues, np.int64), bits, *np.zeros((2, plan.workers), np.int64))

    def struct(self) -> ViewStruct:
        self.sets = sets_of(self.watch)  # kept alive with the view
        lengths, bits = self.length.ctypes.data, self.sets.ctypes.data
        units = self.live.ctypes.data, self.awaited.ctypes.data
        return ViewStruct(lengths, bits, self.iteration, self.switches, *units)


def sets_of(bits: Any) -> Any:
    """Return [rows, words] uint64 sets, as in ``base/bitset.h``, of [rows, members] bits of a byte each."""
    rows, members = bits.shape
    padded = np.zeros((rows, -(-members // 64) * 64), np.uint8)
    padded[:, :members] = bits
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


class NativePlan:
    """A plan's arrays as ``ns_plan``; keeps them alive."""

    def __init__(self, plan: StealPlan) -> None:
        names = ("level", "row", "seg", "queue", "weight", "watch", "chance", "queues", "own")
        self._arrays = [np.ascontiguousarray(getattr(plan, name)) for name in names]
        sizes = (len(plan.row), len(plan.watch), len(plan.chance), len(plan.queues))
        addresses = [array.ctypes.data for array in self._arrays]
        counts = (plan.workers, plan.steal_levels, plan.levels, *sizes)
        self.nodes = len(plan.latency_ps)
        self.rules = plan.levels - plan.steal_levels
        self._data = [np.ascontiguousarray(part) for part in (plan.data, plan.node, plan.domains, plan.latency_ps)]
        data_sizes = (len(plan.data), self.nodes, len(plan.domains))
        data = [array.ctypes.data for array in self._data]
        self._gate = np.ascontiguousarray(plan.gate)
        gates = (None, self._gate.ctypes.data, plan.live_most)
        self.struct = PlanStruct(*addresses, *counts, *data, *data_sizes, *gates)
        self.levels, self.chances = plan.levels, len(plan.chance)
        self.segments = [plan.queue[a:b].tolist() for a, b in zip(plan.seg[:-1], plan.seg[1:], strict=True)]
        self._level_bytes = plan.level.itemsize

    def add_masks(self) -> bool:
        """Give the plan masks where they serve it; whether they do."""
        serve = bool(library().ns_masks_serve(self.struct))
        if serve:
            self.masks = np.full((len(self.segments), -(-int(self.struct.queue_count) // 64)), 7, np.uint64)
            library().ns_masks_fill(self.struct, self.masks.ctypes.data)
            self.struct.mask = self.masks.ctypes.data
        return serve

    def level_address(self, level: int) -> int:
        return int(self.struct.level) + level * self._level_bytes


class NativeProber:
    """The functions of ``round.h`` and ``dispatch.h`` with the signatures of `numasim.strategy.probe.Prober`."""

    def __init__(self, plan: StealPlan, seed: int) -> None:
        self.library, self.plan = library(), NativePlan(plan)
        count = plan.workers + 1
        self.actors = (ActorStruct * count)()
        self._cursor = np.full((count, plan.levels), -7, np.int64)
        self._chance = np.full((count, len(plan.chance)), -7, np.int32)
        for at in range(count):
            cursor = self._cursor[at].ctypes.data_as(POINTER(c_int64))
            chance = self._chance[at].ctypes.data_as(POINTER(c_int32))
            self.library.ns_actor_init(self.actors[at], self.plan.struct, at, seed, cursor, chance)

    def probes(self, worker: int, view: ArrayView) -> Iterator[tuple[int, int]]:
        """Begin a round; each probe is asked for when it is asked for here."""
        place, level, queue = RoundStruct(), c_uint32(), c_uint32()
        self.library.ns_round_begin(place)
        while self.library.ns_round_next(
            place, self.plan.struct, self.actors[worker], view.struct(), byref(level), byref(queue)
        ):
            yield level.value, queue.value

    def found(self, worker: int, level: int, queue: int, tasks: int) -> None:
        self.library.ns_actor_found(self.actors, self.plan.struct, worker, level, queue, tasks)

    def ran(self, worker: int, spawner: int) -> None:
        self.library.ns_actor_ran(self.actors[worker], spawner)

    def amount(self, level: int, length: int) -> int:
        return int(self.library.ns_level_amount(self.plan.level_address(level), length))

    def place(
        self,
        position: int,
        view: ArrayView,
        index: int = 0,
        count: int = 1,
        objects: Sequence[Objects] = (),
        source: bool = True,
        tier: int = int(Tier.LOCAL),
        label: int = -1,
    ) -> int:
        groups = (ObjectsStruct * len(objects))(*((o.bytes, o.pieces, o.home, o.mode) for o in objects))
        similarity = np.full(self.plan.nodes, -7, np.int64)
        copies = np.zeros(self.plan.rules, np.uint32)  # a rule leaves one copy at most
        task = TaskStruct(
            index, count, groups, len(objects), source, True, similarity.ctypes.data, tier, label, copies.ctypes.data
        )
        found = int(self.library.ns_place(self.plan.struct, self.actors[position], view.struct(), task))
        self.looked = task.looked
        self.copies = copies[: task.copies].tolist()
        return found

    def dealing_rule(self, position: int) -> int | None:
        rule = self.library.ns_dealing_rule(self.plan.struct, position)
        return None if rule < 0 else int(rule)

    def quiet_round(self, worker: int, most: int = MOST_QUIET_PROBES) -> list[tuple[int, list[int]]] | None:
        """Return (level, queues) of each probe; None also for more than ``most`` probes."""
        levels, segments = (c_uint32 * most)(), (c_uint32 * most)()
        count = self.library.ns_quiet_round(self.plan.struct, self.actors[worker], levels, segments, most)
        return None if count < 0 else [(levels[i], self.plan.segments[segments[i]]) for i in range(count)]

    def within_reach(self, worker: int, view: ArrayView, stop_after: int = -1) -> tuple[list[tuple[int, int]], bool]:
        """Return the visits up to ``stop_after`` (-1: all visits), and whether the visitor stopped the search."""
        seen: list[tuple[int, int]] = []

        def visit(_context: Any, level: int, queue: int) -> bool:
            seen.append((level, queue))
            return len(seen) == stop_after

        stopped = self.library.ns_any_within_reach(
            self.plan.struct, self.actors[worker], view.struct(), Visit(visit), None
        )
        return seen, bool(stopped)

    def memory(self, position: int) -> dict[str, Any]:
        """Return the actor's memory, by name."""
        actor = self.actors[position]
        return {
            "last": actor.last,
            "parent": actor.parent,
            "thief": actor.thief,
            "victims": actor.victims.drawn,
            "dispatch": actor.dispatch.drawn,
            "chance_ppm": actor.chance_ppm[: self.plan.chances],
            "cursor": actor.cursor[: self.plan.levels],
        }
