"""A workload (a program to simulate) as read-only arrays: tasks, dependences, ranges of tasks, phases (model 3).

A task is a row of the task arrays. Its program is a list of ops: run a segment (a compute time and memory accesses),
spawn or call a child, wait, ... Tasks are numbered depth first, so the descendants of task i are ``i + 1`` to
``subtree_end()[i] - 1``. A phase starts its root tasks and ends when all its tasks have ended.

In a folded workload one row stands for all tasks with equal subtrees. Its task ids are the ids in `unfolded`: the id of
a child is the id of the parent plus 1 plus the sizes of the subtrees that earlier ops of the parent create.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import field, fields
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.frozen import Frozen
from numasim.schema.enumerations import Deal, Kind, Mode, Op
from numasim.workload.amounts import Amounts
from numasim.workload.forest_arrays import offsets
from numasim.workload.phases import Loop, Phase, runs_of
from numasim.workload.recording.recorded import Recorded
from numasim.workload.sync_parameters import SyncObject

__all__ = ["Deal", "Kind", "Loop", "Mode", "Op", "Phase"]  # imported names that other modules import from this module

U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
I64 = npt.NDArray[np.int64]


SHARED = range(Op.LOCK, Op.COMMIT + 1)  # these ops use a synchronisation object
WITHOUT_ARGUMENT = (Op.WAIT, Op.GROUP, Op.END_GROUP)
LATER_FIELDS = {"compute", "fresh", "freed", "node_accesses", "returned_ppm", "same", "skew_ppm", "undo_ps"}
LATER_FIELDS |= {"folded", "loops", "recorded", "words"}  # a digest leaves out these fields if empty or zero


class Pattern(IntEnum):
    """The order in which an access touches its bytes, which determines how many cache misses overlap (model 2.3)."""

    SEQUENTIAL = 0
    STRIDED = 1
    RANDOM = 2
    CHASE = 3


class Region(Frozen):
    """A contiguous range of memory. The program writes an ``initialised`` region before the parallel part starts."""

    name: str
    bytes: int
    initialised: bool


class Accesses(Frozen):
    """Memory accesses, one row each: ``rows`` pieces of ``row_bytes`` bytes, ``stride`` bytes apart."""

    region: U32
    offset: I64
    row_bytes: I64
    rows: I64
    stride: I64
    mode: U8  # Mode
    pattern: U8  # Pattern
    passes: U32  # how often the access goes over its bytes, >= 1

    def __len__(self) -> int:
        """Return the number of accesses."""
        return len(self.region)


class NodeAccess(Frozen):
    """Bytes of no particular region that the items of a range read or write on given NUMA nodes (model 3.5).

    Item i accesses the i-th of ``amounts`` in bytes; the ``nodes`` hold these bytes in proportion to ``shares``. All of
    them come from memory, none from a cache. At its end an item returns ``returned_ppm`` millionths of them to the
    operating system.
    """

    nodes: tuple[int, ...]
    shares: tuple[int, ...]
    mode: int  # Mode
    pattern: int  # Pattern
    amounts: Amounts
    returned_ppm: int = 0

    @property
    def factor(self) -> int:
        """How often each byte moves: 2 if the access writes, since a write fetches the byte first, else 1."""
        return 1 if self.mode == Mode.READ else 2


class RangeFamily(Frozen):
    """A range: ``count`` tasks, called items, that have no rows of their own (model 3.5).

    The compute time of item i is drawn uniformly from ``[low_ps, high_ps]`` by a random stream of the item. If
    ``compute`` is given, its i-th amount is the compute time, and ``low_ps`` and ``high_ps`` are bounds. The offset of
    access j of item i is ``accesses.offset[j] + (i div divisor[j]) * step_div[j] + (i mod divisor[j]) * step_mod[j]``.
    Item i touches ``fresh`` bytes (its i-th amount) for the first time and returns ``freed`` bytes to the system.
    """

    name: str
    count: int
    low_ps: int
    high_ps: int
    kernel: int  # index into Workload.kernels
    accesses: Accesses
    divisor: I64
    step_div: I64
    step_mod: I64
    compute: Amounts | None = None
    node_accesses: tuple[NodeAccess, ...] = ()
    fresh: Amounts | None = None
    freed: Amounts | None = None

    @property
    def changes_pages(self) -> bool:
        """Whether items touch memory for the first time, or return memory to the operating system."""
        return self.fresh is not None or self.gives_back

    @property
    def gives_back(self) -> bool:
        """Whether items return memory to the operating system."""
        return self.freed is not None or any(access.returned_ppm for access in self.node_accesses)

    @property
    def moves_bytes(self) -> bool:
        """Whether items access memory."""
        return len(self.accesses) > 0 or len(self.node_accesses) > 0

    @property
    def like_bytes(self) -> bool:
        """Whether all items access equally many bytes."""
        return all(access.amounts.fixed for access in self.node_accesses)

    @property
    def alike(self) -> bool:
        """Whether all items compute equally long and access equally much."""
        return self.low_ps == self.high_ps and self.like_bytes

    @property
    def draws(self) -> bool:
        """Whether compute times or bytes of the items are random and depend on the seed of the run."""
        times = self.low_ps < self.high_ps if self.compute is None else self.compute.drawn
        pages = any(amounts is not None and amounts.drawn for amounts in (self.fresh, self.freed))
        return times or pages or any(access.amounts.drawn for access in self.node_accesses)


def compute_bounds(compute: Amounts) -> tuple[int, int, Amounts | None]:
    """Return the fields (``low_ps``, ``high_ps``, ``compute``) of a `RangeFamily` with these compute times in ps."""
    return compute.least, compute.most, None if compute.fixed else compute


class Workload(Frozen, eq=False):
    """A program: its tasks, its memory, its phases. All arrays are read-only.

    In a ``folded`` workload the row of a child comes after the row of its parent, all entries of ``parent`` are -1, a
    phase may list a root several times (once for each of its equal trees), and there are no dependences.
    """

    name: str
    parameters: dict[str, Any]
    kernels: tuple[str, ...]  # names of the kernel classes that segments refer to
    regions: tuple[Region, ...]
    phases: tuple[Phase, ...]
    ranges: tuple[RangeFamily, ...]
    op_ptr: I64  # [tasks + 1] the first op of each task
    op_code: U8  # [ops] Op
    op_arg: U32  # [ops] the segment that the op runs, the task that it creates, or the synchronisation object
    kind: U8  # [tasks] Kind
    parent: I64  # [tasks] -1 for a root
    segment_compute_ps: I64  # [segments]
    segment_kernel: U8  # [segments] place in `kernels`
    segment_accesses: I64  # [segments + 1] the first access of each segment
    accesses: Accesses
    successor_ptr: I64  # [tasks + 1] the first entry of each task in `successor`
    successor: U32  # the tasks that wait for the end of each task
    facts: dict[str, int] = field(default_factory=dict)  # quantities from formulas: flops, bytes streamed, ...
    folded: bool = False  # a row stands for all tasks with equal subtrees
    words: tuple[SyncObject, ...] = ()  # the synchronisation objects to which the ops of `SHARED` refer
    loops: tuple[Loop, ...] = ()  # loops over phases, by first phase, outer loops before inner loops
    recorded: Recorded | None = None  # the system on which the program was recorded

    @property
    def rows(self) -> int:
        """Number of rows of the task arrays: tasks, calls and implicit bodies, or sets of equal ones if folded."""
        return len(self.kind)

    @property
    def segments(self) -> int:
        """Number of segments."""
        return len(self.segment_compute_ps)

    @cached_property
    def runs(self) -> tuple[int, ...]:
        """[phases] how often each phase runs."""
        return tuple(runs_of(self.phases, self.loops))

    @cached_property
    def trees(self) -> tuple[int, ...]:
        """The roots of all phases: each once, but in a folded workload as often as the phases list the root."""
        roots = [root for phase in self.phases for root in phase.roots]
        return tuple(roots if self.folded else dict.fromkeys(roots))

    @cached_property
    def tasks(self) -> int:
        """Number of tasks (without calls and implicit bodies) and of items that the program executes in all phases."""
        counted = self.below((self.kind == Kind.TASK).astype(np.int64))

        def inside(phase: Phase) -> int:
            items = self.ranges[phase.range_family].count if phase.range_family is not None else 0
            return items + int(counted[np.asarray(phase.roots, np.int64)].sum())

        return sum(runs * inside(phase) for runs, phase in zip(self.runs, self.phases, strict=True))

    @cached_property
    def sizes(self) -> I64:
        """[rows] the number of tasks, calls and bodies in the subtree of each row, the row itself included."""
        sizes = self.below(np.ones(self.rows, np.int64))
        sizes.setflags(write=False)
        return sizes

    def below(self, own: I64) -> I64:
        """Return [rows] the sum of ``own`` [rows] over all tasks of each row's subtree, the subtree's root included."""
        if not self.folded:
            before = offsets(own)
            return before[self.subtree_end()] - before[:-1]
        creating = np.flatnonzero(self.creates)
        row = np.searchsorted(self.op_ptr, creating, side="right") - 1
        total = own.tolist()
        for parent, child in zip(row[::-1].tolist(), self.op_arg[creating[::-1]].tolist(), strict=True):
            total[parent] += total[child]
        return np.array(total, np.int64)

    @cached_property
    def creates(self) -> npt.NDArray[np.bool_]:
        """[ops] whether the op spawns or calls a task."""
        return np.isin(self.op_code, (Op.SPAWN, Op.CALL))

    @property
    def moves_bytes(self) -> bool:
        """Whether a task or an item of a range accesses memory."""
        return len(self.accesses) > 0 or any(family.moves_bytes for family in self.ranges)

    @property
    def predecessor(self) -> I64:
        """[dependences] the task before each dependence; the task in ``successor`` waits for its end."""
        return np.repeat(np.arange(self.rows), np.diff(self.successor_ptr))

    @cached_property
    def uses(self) -> npt.NDArray[np.bool_]:
        """[ops] whether the op uses a synchronisation object."""
        return (self.op_code >= SHARED.start) & (self.op_code < SHARED.stop)

    @cached_property
    def groups(self) -> bool:
        """Whether any task begins a group (`Op.GROUP`): tasks that it spawns and later waits for, with descendants."""
        return bool((self.op_code >= Op.GROUP).any())

    def subtree_end(self) -> I64:
        """Return [tasks] the id after the last descendant of each task; only for a workload that is not folded."""
        return self._subtree_end

    @cached_property
    def _subtree_end(self) -> I64:
        assert not self.folded
        end = subtree_end(self.parent)
        end.setflags(write=False)
        return end

    def digest(self) -> str:
        """Return the workload's hash: BLAKE2b-128 over name, parameters, structure and every array, as 32 hex digits.

        The hash of a folded workload differs from the hash of the same program unfolded.
        """
        return self._digest

    @cached_property
    def _digest(self) -> str:
        state = hashlib.blake2b(digest_size=16)
        for part in _parts(self):
            state.update(part)
        return state.hexdigest()


def subtree_end(parent: I64) -> I64:
    """Return [tasks] the id after the last descendant of each task, for ``parent`` [tasks] in preorder, -1 for roots.

    A subtree ends where the next sibling begins; the subtree of a last child ends where its parent's subtree ends.
    Pointer doubling follows the chains of last children in O(log depth) steps.
    """
    count = len(parent)
    order = np.argsort(parent, kind="stable")
    siblings = parent[order[1:]] == parent[order[:-1]]
    following = np.full(count + 1, -1, np.int64)
    following[order[:-1][siblings]] = order[1:][siblings]
    last = following[:count] < 0
    heir = np.append(np.where(last, np.where(parent < 0, count, parent), np.arange(count)), count)
    following[count] = count
    while True:
        further = heir[heir]
        if np.array_equal(further, heir):
            ends: I64 = following[heir[:count]]
            return ends
        heir = further


def parents_of(op_ptr: I64, op_code: npt.NDArray[Any], op_arg: npt.NDArray[Any]) -> I64:
    """Return [tasks] the task that spawns or calls each task, -1 for a task that no task spawns or calls."""
    forks = np.flatnonzero(np.isin(op_code, (Op.SPAWN, Op.CALL)))
    child = op_arg[forks].astype(np.int64)
    known = child < len(op_ptr) - 1
    parent = np.full(len(op_ptr) - 1, -1, np.int64)
    parent[child[known]] = np.searchsorted(op_ptr, forks[known], side="right") - 1
    return parent


def _parts(value: Any) -> Iterator[bytes | memoryview]:
    """Yield the bytes that a digest hashes for ``value``: arrays with type and shape, plain values as sorted JSON."""
    if isinstance(value, np.ndarray):
        yield f"{value.dtype.str}{value.shape}".encode()
        yield np.ascontiguousarray(value).data
    elif hasattr(value, "__dataclass_fields__"):
        for entry in fields(value):
            if entry.name in LATER_FIELDS and not getattr(value, entry.name):
                continue
            yield entry.name.encode()
            yield from _parts(getattr(value, entry.name))
    elif isinstance(value, tuple):
        yield f"({len(value)}".encode()
        if set(map(type, value)) <= {int}:  # fast for a million roots
            yield "".join(map(str, value)).encode()
            return
        for part in value:
            yield from _parts(part)
    else:
        yield json.dumps(value, sort_keys=True, separators=(",", ":"), default=str).encode()
