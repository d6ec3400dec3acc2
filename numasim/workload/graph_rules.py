"""The rules of a well-formed workload. A broken rule is an `InputError` that names the place and the valid values.

Places are paths in the JSON form of a graph, such as ``("tasks", 3, "ops", 0)``, for workloads of every origin. Readers
of files have checked the lengths of arrays and the bounds of most numbers before. An op is a step of a task's program:
run a segment (a compute time and memory accesses), spawn or call a child, wait, or use a synchronisation object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.schema.enumerations import LONGEST_PS, MOST_ITEMS, MOST_MOVED, MOST_OBJECTS_OPENED
from numasim.workload.amounts import Amounts
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import I64, Accesses, Kind, Loop, Mode, Op, Workload
from numasim.workload.phases import places
from numasim.workload.span import cycle_of_tasks
from numasim.workload.sync_parameters import Role

Path = tuple[str | int, ...]
Flags = npt.NDArray[np.bool_]
FAR = 2**61  # bytes; an offset beyond the end of any region
MOST_NESTED = 32  # most levels of nested loops
MOST_TOGETHER = 2**62  # largest sum of the amounts of all items of a range
SHOWN_CYCLE = 8  # tasks of a cycle that an error lists
ROLES = {
    **dict.fromkeys((Op.LOCK, Op.UNLOCK), Role.LOCK),
    Op.ATOMIC: Role.ATOMIC,
    Op.BARRIER: Role.BARRIER,
    **dict.fromkeys((Op.AWAIT, Op.SIGNAL, Op.BROADCAST), Role.CONDITION),
    **dict.fromkeys((Op.BEGIN, Op.LOAD, Op.STORE, Op.COMMIT), Role.OBJECTS),
}
IN_TRANSACTIONS = (Op.RUN, Op.LOAD, Op.STORE, Op.COMMIT)


def validate(workload: Workload) -> None:
    """Check all rules; raise an `InputError` for the first broken rule."""
    for check in CHECKS:
        check(workload)


def _refuse(wrong: npt.NDArray[Any], path: Callable[[int], Path], problem: Callable[[int], str], expected: str) -> None:
    """Raise an `InputError` for the first entry of ``wrong`` that is true, if any; the functions take its number."""
    for at in np.flatnonzero(wrong)[:1].tolist():
        raise InputError(problem(at), path=path(at), expected=expected)


def _within(key: str, inner: str, pointer: I64) -> Callable[[int], Path]:
    """Return a function from the number of an entry, in the array of all owners' lists, to its path in the JSON form.

    The list of owner i begins at entry ``pointer[i]``. The path is (``key``, owner, ``inner``, place in the list).
    """

    def path(entry: int) -> Path:
        owner = int(np.searchsorted(pointer, entry, side="right")) - 1
        return (key, owner, inner, entry - int(pointer[owner]))

    return path


# ---- Names, phases and loops -----------------------------------------------------------------------------------------


def _check_names(workload: Workload) -> None:
    for key, names in (("kernels", workload.kernels), ("regions", [region.name for region in workload.regions])):
        first = {name: number for number, name in reversed(list(enumerate(names)))}
        for number, name in enumerate(names):
            if first[name] != number:
                raise InputError(f"the name {name!r} is given twice", path=(key, number), expected="distinct names")


def _check_phases(workload: Workload) -> None:
    if not workload.phases:
        raise InputError("there is no phase", path=("phases",), expected="at least one")
    around: list[Loop] = []
    for number, loop in enumerate(workload.loops):
        around = [*(outer for outer in around if outer.end > loop.first), loop]
        if len(around) > MOST_NESTED:
            expected = f"at most {MOST_NESTED} in each other"
            raise InputError("loops are nested too deep", path=("loops", number), expected=expected)
    paths = places(len(workload.phases), workload.loops)
    for phase, path, runs in zip(workload.phases, paths, workload.runs, strict=True):
        family, seen = phase.range_family, set[int]()
        if family is not None and not 0 <= family < len(workload.ranges):
            right = f"a range below {len(workload.ranges)}"
            raise InputError(f"range {family} does not exist", path=(*path, "range"), expected=right)
        for place, root in enumerate(phase.roots):
            at = (*path, "roots", place)
            if not 0 <= root < workload.rows:
                raise InputError(f"task {root} does not exist", path=at, expected=f"a task below {workload.rows}")
            if root in seen:
                raise InputError(f"task {root} is a root of the phase twice", path=at, expected="each root once")
            if not workload.folded:  # a folded workload lists a root once for each of its equal trees
                seen.add(root)
        if runs > MOST_ITEMS:
            expected = f"at most {MOST_ITEMS:,} times, with those of the loops around it"
            raise InputError(f"the phase runs {runs:,} times", path=(*path, "repeat"), expected=expected)


# ---- Tasks: the ops, the tree of spawns, the kinds -------------------------------------------------------------------


def _check_ops(workload: Workload) -> None:
    path, arg = _within("tasks", "ops", workload.op_ptr), workload.op_arg
    for wrong, what, most in (
        (workload.op_code == Op.RUN, "segment", workload.segments),
        (workload.creates, "task", workload.rows),
    ):
        _refuse(wrong & (arg >= most), path, lambda op: f"{what} {arg[op]} does not exist", f"a {what} below {most}")  # noqa: B023


def _check_tree(workload: Workload) -> None:
    child, roots = workload.op_arg[workload.creates].astype(np.int64), np.array(workload.trees, np.int64)
    starts = np.bincount(np.concatenate([child, roots]), minlength=workload.rows)
    for task in np.flatnonzero(starts != 1)[:1].tolist():
        if not starts[task]:
            expected = "one task that spawns it, or a phase with it"
            raise InputError(f"task {task} is never spawned", path=("tasks", task), expected=expected)
        spawns = np.flatnonzero(workload.creates & (workload.op_arg == task))
        owners = np.searchsorted(workload.op_ptr, spawns, side="right") - 1
        by = [*(f"by task {owner}" for owner in owners), *["as the root of a phase"] * 2]
        raise InputError(f"task {task} is started twice: {' and '.join(by[:2])}", path=("tasks", task), expected="once")
    _check_preorder(workload)


def _check_preorder(workload: Workload) -> None:
    """Check that tasks are numbered depth first, children in the order in which their parent spawns them."""
    first = offsets(workload.creates)[workload.op_ptr].tolist()
    child = workload.op_arg[workload.creates].tolist()
    order, left = [], np.flatnonzero(workload.parent < 0)[::-1].tolist()
    while left:
        task = left.pop()
        order.append(task)
        left += child[first[task] : first[task + 1]][::-1]
    for number in np.flatnonzero(np.array(order, np.int64) != np.arange(len(order)))[:1].tolist():
        right = f"number {number}: tasks are numbered depth first, in the order in which they are spawned"
        path = ("tasks", order[number])
        raise InputError(f"task {order[number]} is out of order", path=path, expected=right)
    if len(order) < workload.rows:
        problem = f"task {len(order)} spawns itself, directly or through others"
        raise InputError(problem, path=("tasks", len(order)), expected="a tree of spawns below every root")


def _check_kinds(workload: Workload) -> None:
    called = np.zeros(workload.rows, np.bool_)
    called[workload.op_arg[workload.op_code == Op.CALL]] = True
    roots = workload.parent < 0
    wanted = np.where(called, Kind.CALL, Kind.TASK)
    for task in np.flatnonzero((workload.kind != wanted) & ~(roots & (workload.kind == Kind.IMPLICIT)))[:1].tolist():
        right = "call" if called[task] else "task or implicit" if roots[task] else "task"
        problem = f"the kind is {Kind(workload.kind[task]).name.lower()}"
        raise InputError(problem, path=("tasks", task, "kind"), expected=right)


# ---- Synchronisation: objects of their roles, locks released, transactions committed, groups ended -------------------


def _check_words(workload: Workload) -> None:
    for number, word in enumerate(workload.words):
        for name in ("skew_ppm", "undo_ps", "same"):
            if getattr(word, name) and word.role != Role.OBJECTS:
                problem = f"a synchronisation object of role {word.role.name.lower()} has no {name}"
                raise InputError(problem, path=("words", number, name), expected="the role objects")
    objects = sum(word.parties for word in workload.words if word.role == Role.OBJECTS)
    if objects > MOST_OBJECTS_OPENED:
        expected = f"at most {MOST_OBJECTS_OPENED:,}"
        raise InputError(f"the memories have {objects:,} objects", path=("words",), expected=expected)


def _check_programs(workload: Workload) -> None:
    """Check the synchronisation ops and the groups of each task, op by op."""
    if not (workload.op_code >= Op.LOCK).any():
        return
    ends = workload.op_ptr.tolist()
    ops = list(zip(workload.op_code.tolist(), workload.op_arg.tolist(), strict=True))
    for task in range(workload.rows):
        state = _Program(workload, task)
        for number, (code, argument) in enumerate(ops[ends[task] : ends[task + 1]]):
            if code in ROLES or code >= Op.GROUP or state.memory is not None:
                state.pass_op(number, Op(code), argument)
        state.end(ends[task + 1] - ends[task] - 1)


class _Program:
    """The state of a task between two ops: held locks, the memory of objects of the open transaction, open groups."""

    def __init__(self, workload: Workload, task: int) -> None:
        self.memory: int | None = None
        self._words, self._task = workload.words, task
        self._held: list[int] = []
        self._groups = 0

    def _refuse(self, op: int | None, problem: str, expected: str) -> None:
        path: Path = ("tasks", self._task, "ops") if op is None else ("tasks", self._task, "ops", op)
        raise InputError(problem, path=path, expected=expected)

    def pass_op(self, op: int, code: Op, number: int) -> None:
        """Check op ``op`` of the task, which has the code ``code`` and the argument ``number``; update the state."""
        name, role = code.name.lower(), ROLES.get(code)
        if role is not None and (number >= len(self._words) or self._words[number].role != role):
            other = f"object {number} has another role" if number < len(self._words) else ""
            problem = f"there is no {role.name.lower()} {number}: {other or 'there are fewer synchronisation objects'}"
            self._refuse(op, problem, f"the number of a synchronisation object of role {role.name.lower()}")
        if self.memory is None and code in (Op.LOAD, Op.STORE, Op.COMMIT):
            self._refuse(op, f"{name} stands outside of a transaction", f'["begin", {number}] before it')
        if self.memory is not None and code not in IN_TRANSACTIONS:
            self._refuse(op, f"{name} stands in a transaction", "run, load, store or commit")
        if self.memory is not None and code != Op.RUN and number != self.memory:
            problem = f"{name} is about memory {number}, its transaction about {self.memory}"
            self._refuse(op, problem, f"{self.memory}")
        if code == Op.LOCK and number in self._held:
            self._refuse(op, f"the task holds lock {number} already", "an unlock before this op")
        if code == Op.UNLOCK and number not in self._held:
            self._refuse(op, f"the task does not hold lock {number}", "a lock before this op")
        if code == Op.END_GROUP and not self._groups:
            self._refuse(op, "no group is open that this op could end", '["group"] before it')
        if code == Op.LOCK:
            self._held.append(number)
        elif code == Op.UNLOCK:
            self._held.remove(number)
        elif code in (Op.BEGIN, Op.COMMIT):
            self.memory = number if code == Op.BEGIN else None
        self._groups += (code == Op.GROUP) - (code == Op.END_GROUP)

    def end(self, last: int) -> None:
        """Check that nothing is held or open after the task's last op, which has the number ``last``."""
        if self.memory is not None:
            expected = f'["commit", {self.memory}] in the same task'
            self._refuse(last, "the task ends inside a transaction", expected)
        if self._held:
            problem = f"task {self._task} ends and holds lock {self._words[self._held[-1]].name!r}"
            self._refuse(None, problem, f'["unlock", {self._held[-1]}] in the same task')
        if self._groups:
            self._refuse(None, "the task ends inside a group", '["end_group"] in the same task')


# ---- Segments, their accesses, and ranges ----------------------------------------------------------------------------


def _check_segments(workload: Workload) -> None:
    """Check the compute times and accesses of all segments."""
    times, offset = workload.segment_compute_ps, workload.accesses.offset
    _refuse(times < 0, lambda at: ("segments", at, "compute_ps"), lambda at: f"the time is {times[at]} ps", "0 or more")
    path = _within("segments", "accesses", workload.segment_accesses)
    _check_accesses(workload, workload.accesses, offset, offset, path)


def _check_accesses(
    workload: Workload, accesses: Accesses, low: npt.NDArray[Any], high: npt.NDArray[Any], path: Callable[[int], Path]
) -> None:
    """Check accesses; ``low`` and ``high`` [accesses] are the least and greatest offset that each access may have."""
    sizes = np.array([region.bytes for region in workload.regions], np.int64)
    size = sizes[accesses.region]
    rough = (accesses.rows - 1.0) * accesses.stride + accesses.row_bytes  # floats do not overflow
    extent = np.where(rough < FAR, (accesses.rows - 1) * accesses.stride + accesses.row_bytes, FAR)
    moved = accesses.row_bytes.astype(np.float64) * accesses.rows * accesses.passes
    rules: tuple[tuple[str, Flags, str], ...] = (
        ("row_bytes", accesses.row_bytes >= 1, "1 or more"),
        ("rows", accesses.rows >= 1, "1 or more"),
        ("stride", accesses.stride >= 0, "0 or more"),
        ("mode", np.isin(accesses.mode, list(Mode)), "read, write or read-write"),
        ("offset", low >= 0, "0 or more"),
        ("offset", high <= size - extent, "an end inside the region"),
        ("passes", moved <= MOST_MOVED, f"at most {MOST_MOVED} bytes walked in all"),
    )
    for name, holds, right in rules:
        for access in np.flatnonzero(~holds)[:1].tolist():
            value = getattr(accesses, name)[access]
            raise InputError(f"the value is {value}", path=(*path(access), name), expected=right)


def _check_ranges(workload: Workload) -> None:
    for number, family in enumerate(workload.ranges):
        path: Path = ("ranges", number)
        if not 0 <= family.low_ps <= family.high_ps:
            problem = f"the times are {family.low_ps} to {family.high_ps} ps"
            raise InputError(problem, path=(*path, "low_ps"), expected="0 <= low_ps <= high_ps")
        amounts: list[tuple[Amounts | None, int, Path]] = [
            (family.compute, LONGEST_PS, ("compute_ps",)),
            *(
                (each.amounts, MOST_MOVED, ("node_accesses", at, "bytes"))
                for at, each in enumerate(family.node_accesses)
            ),
            (family.fresh, MOST_MOVED, ("fresh",)),
            (family.freed, MOST_MOVED, ("freed",)),
        ]
        for each, most, where in amounts:
            if each is not None:
                check_amounts(each, family.count, most, (*path, *where))
        _check_template(workload, number)


def check_amounts(amounts: Amounts, count: int, most: int, path: Path) -> None:
    """Raise an `InputError` unless ``amounts`` fit ``count`` items, each is 0 to ``most``, and their sum is bounded."""
    if len(amounts.items) not in (0, count) or not (len(amounts.items) or len(amounts.weight)):
        raise InputError(f"there are {len(amounts.items)} numbers", path=path, expected=f"{count}, one for each item")
    if amounts.least < 0 or amounts.most > most:
        wrong = amounts.least if amounts.least < 0 else amounts.most
        key, numbers = ("items", amounts.items) if len(amounts.items) else ("high", amounts.high)
        place = np.flatnonzero(numbers == wrong)[:1].tolist()
        raise InputError(f"the amount is {wrong}", path=(*path, key, *place), expected=f"0 to {most}")
    if amounts.most_of(count) > MOST_TOGETHER:
        what = "the amounts add up to" if len(amounts.items) else f"{count} items of the highest amount add up to"
        raise InputError(f"{what} {amounts.most_of(count):,}", path=path, expected=f"at most {MOST_TOGETHER:,}")


def _check_template(workload: Workload, number: int) -> None:
    """Check the accesses of all items of range ``number``: the offset of an access steps with the item's number."""
    family = workload.ranges[number]

    def path(access: int) -> Path:
        return ("ranges", number, "accesses", access)

    divisors, last = family.divisor, family.count - 1
    across = [last // divisors * family.step_div, np.minimum(last, divisors - 1) * family.step_mod]
    low = family.accesses.offset + sum(np.minimum(step, 0) for step in across)
    high = family.accesses.offset + sum(np.maximum(step, 0) for step in across)
    rough = float(last) * (np.abs(family.step_div) / divisors.astype(np.float64) + np.abs(family.step_mod))
    _check_accesses(workload, family.accesses, low, np.where(rough < FAR, high, FAR), path)


# ---- Dependences -----------------------------------------------------------------------------------------------------


def _check_dependences(workload: Workload) -> None:
    """Check that dependences lead to tasks of the same phase, and form no cycle.

    Only tasks can wait for other tasks: a call runs at once, and an implicit body starts with its worker. A phase
    begins when all earlier phases have ended, so a dependence on a task of an earlier phase is needless, and a
    dependence on a task of a later phase is a deadlock.
    """
    target, rows, path = workload.successor, workload.rows, _within("tasks", "then", workload.successor_ptr)
    if not len(target):
        return
    _refuse(target >= rows, path, lambda edge: f"task {target[edge]} does not exist", f"a task below {rows}")
    kinds = {Kind.CALL: "a call", Kind.IMPLICIT: "an implicit body"}
    _refuse(
        workload.kind[target] != Kind.TASK,
        path,
        lambda edge: (
            f"task {target[edge]} is {kinds[Kind(workload.kind[target[edge]])]}, which waits for no other task"
        ),
        "a task that is spawned, or a root of kind task",
    )
    source, phase = workload.predecessor, _phases_of_tasks(workload)
    _refuse(
        phase[source] != phase[target],
        lambda edge: ("tasks", int(source[edge]), "then"),
        lambda edge: f"task {target[edge]} waits for task {source[edge]} of another phase",
        "a task of the same phase",
    )
    if cycle := cycle_of_tasks(workload):
        circle = " after ".join(str(task) for task in [*cycle[:SHOWN_CYCLE], *cycle[:1]])
        problem = f"tasks wait for each other in a cycle: {circle}"
        raise InputError(problem, path=("tasks", cycle[0]), expected="a graph without cycles")


def _phases_of_tasks(workload: Workload) -> I64:
    """Return [tasks] a number for the set of phases that have the task's root: equal sets have equal numbers."""
    belongs: dict[int, tuple[int, ...]] = {}
    for number, each in enumerate(workload.phases):
        for root in each.roots:
            belongs[root] = (*belongs.get(root, ()), number)
    numbers = {phases: number for number, phases in enumerate(dict.fromkeys(belongs.values()))}
    roots = sorted(belongs)
    of_root = np.array([numbers[belongs[root]] for root in roots], np.int64)
    return of_root[np.searchsorted(roots, np.arange(workload.rows), side="right") - 1]


CHECKS = (
    _check_names,
    _check_phases,
    _check_ops,
    _check_tree,
    _check_kinds,
    _check_words,
    _check_programs,
    _check_segments,
    _check_ranges,
    _check_dependences,
)
