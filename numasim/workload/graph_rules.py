"""The rules of a well-formed workload; a violation is an `InputError` that names the place and the valid values.

Paths are those of the JSON form, so that the same check serves generated graphs and files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.schema.enumerations import LONGEST_PS, MOST_ITEMS, MOST_MOVED, MOST_OBJECTS_OPENED
from numasim.workload.algorithms.groups import check_groups
from numasim.workload.amounts import Amounts
from numasim.workload.dataflow import Dataflow
from numasim.workload.forest_arrays import offsets
from numasim.workload.graph import I64, Accesses, Kind, Loop, Mode, Op, Pattern, RangeFamily, Workload
from numasim.workload.phases import places
from numasim.workload.span import is_forward
from numasim.workload.sync_parameters import MAX_PARTIES, Role, SyncObject

# ----------------------------------------------------------------------------------------------------------------------
# Rules for synchronisation ops: each names an object of its role, each task releases the locks that it takes and ends
# the transactions that it begins.

ROLES = {
    Op.LOCK: Role.LOCK,
    Op.UNLOCK: Role.LOCK,
    Op.ATOMIC: Role.ATOMIC,
    Op.BARRIER: Role.BARRIER,
    Op.AWAIT: Role.CONDITION,
    Op.SIGNAL: Role.CONDITION,
    Op.BROADCAST: Role.CONDITION,
    Op.BEGIN: Role.OBJECTS,
    Op.LOAD: Role.OBJECTS,
    Op.STORE: Role.OBJECTS,
    Op.COMMIT: Role.OBJECTS,
}
IN_TRANSACTIONS = (Op.RUN, Op.LOAD, Op.STORE)


def check_sync_objects(workload: Workload) -> None:
    """Raise InputError unless each op names an object of its role and each task releases the locks that it takes."""
    _check_words(workload.words)
    _check_transactions(workload)
    uses = np.flatnonzero(workload.uses)
    rows = np.searchsorted(workload.op_ptr, uses, side="right") - 1
    held: list[int] = []
    for number, (op, row) in enumerate(zip(uses.tolist(), rows.tolist(), strict=True)):
        _check_use(workload, op, row, held)
        last = number + 1 == len(uses) or rows[number + 1] != row
        if last and held:
            raise InputError(
                f"task {row} ends and holds lock {workload.words[held[-1]].name!r}",
                path=("tasks", row, "ops"),
                expected=f'["unlock", {held[-1]}] in the same task',
            )


def _check_words(words: Sequence[SyncObject]) -> None:
    for number, word in enumerate(words):
        if word.owner < 0:
            raise InputError(f"the owner is {word.owner}", path=("words", number, "owner"), expected="0 or more")
        if not 1 <= word.parties <= MAX_PARTIES:
            right = f"from 1 to {MAX_PARTIES}"
            raise InputError(f"the value is {word.parties}", path=("words", number, "parties"), expected=right)
        given = [name for name in ("skew_ppm", "undo_ps", "same") if getattr(word, name)]
        if given and word.role != Role.OBJECTS:
            name = given[0]
            problem = f"a synchronisation object of role {word.role.name.lower()} has no {name}"
            raise InputError(problem, path=("words", number, name), expected="the role objects")

    objects = sum(word.parties for word in words if word.role == Role.OBJECTS)
    if objects > MOST_OBJECTS_OPENED:
        raise InputError(
            f"the memories have {objects:,} objects", path=("words",), expected=f"at most {MOST_OBJECTS_OPENED:,}"
        )


def _check_transactions(workload: Workload) -> None:
    """Between BEGIN and the COMMIT of the same memory stand RUN, LOAD and STORE of it alone, the latter only there."""
    if not (workload.op_code >= Op.BEGIN).any():
        return
    memory: int | None = None
    row_ends = set(workload.op_ptr[1:].tolist())
    for op, (code, number) in enumerate(zip(workload.op_code.tolist(), workload.op_arg.tolist(), strict=True)):
        if op in row_ends and memory is not None:
            _refuse(workload, op - 1, "the task ends inside a transaction", f'["commit", {memory}] in the same task')
        name = Op(code).name.lower()
        if memory is None and code in (Op.LOAD, Op.STORE, Op.COMMIT):
            _refuse(workload, op, f"{name} stands outside of a transaction", f'["begin", {number}] before it')
        if memory is not None and code not in (*IN_TRANSACTIONS, Op.COMMIT):
            _refuse(workload, op, f"{name} stands in a transaction", "run, load, store or commit")
        if memory is not None and code != Op.RUN and number != memory:
            _refuse(workload, op, f"{name} is about memory {number}, its transaction about {memory}", f"{memory}")
        memory = number if code == Op.BEGIN else None if code == Op.COMMIT else memory
    if memory is not None:
        end = f'["commit", {memory}] in the same task'
        _refuse(workload, len(workload.op_code) - 1, "the task ends inside a transaction", end)


def _refuse(workload: Workload, op: int, problem: str, expected: str) -> None:
    row = int(np.searchsorted(workload.op_ptr, op, side="right")) - 1
    path = ("tasks", row, "ops", op - int(workload.op_ptr[row]))
    raise InputError(problem, path=path, expected=expected)


def _check_use(workload: Workload, op: int, row: int, held: list[int]) -> None:
    """Check one synchronisation op; ``held``, which it updates, are the locks that the task holds before the op."""
    code, number = Op(workload.op_code[op]), int(workload.op_arg[op])
    path = ("tasks", row, "ops", op - int(workload.op_ptr[row]))
    wanted = ROLES[code]
    if number >= len(workload.words) or workload.words[number].role != wanted:
        exists = number < len(workload.words)
        reason = f"object {number} has another role" if exists else "there are fewer synchronisation objects"
        raise InputError(
            f"there is no {wanted.name.lower()} {number}: {reason}",
            path=path,
            expected=f"the number of a synchronisation object of role {wanted.name.lower()}",
        )
    if code == Op.LOCK:
        if number in held:
            raise InputError(f"the task holds lock {number} already", path=path, expected="an unlock before this op")
        held.append(number)
    elif code == Op.UNLOCK:
        if number not in held:
            raise InputError(f"the task does not hold lock {number}", path=path, expected="a lock before this op")
        held.remove(number)


# ---- The rules of amounts of range items (model 3.5) -----------------------------------------------------------------

MOST_TOGETHER = 2**62


def check_amounts(amounts: Amounts, count: int, most: int, path: Path) -> None:
    """An `InputError` for amounts that are not those of ``count`` items, too large, or too many together."""
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


Path = tuple[str | int, ...]
FAR = 2**61  # beyond the end of any region
MOST_NESTED = 32  # loops in each other
SHOWN_CYCLE = 8  # tasks of a cycle that an error lists


def validate(workload: Workload) -> None:
    """Check everything; an `InputError` for the first rule that is broken."""
    for check in CHECKS:
        check(workload)


def parents(op_ptr: I64, op_code: npt.NDArray[Any], op_arg: npt.NDArray[Any], roots: Sequence[int]) -> I64:
    """[tasks] the task that spawns or calls each one, -1 for ``roots``.

    An `InputError` for a task that is spawned twice, or never without being a root, or that does not exist.
    """
    tasks = len(op_ptr) - 1
    forks = np.flatnonzero((op_code == Op.SPAWN) | (op_code == Op.CALL))
    owner = np.searchsorted(op_ptr, forks, side="right") - 1
    child = op_arg[forks].astype(np.int64)
    outside = np.flatnonzero(child >= tasks)
    if len(outside):
        at = outside[0]
        problem = f"task {child[at]} does not exist"
        raise InputError(problem, path=_op_path(op_ptr, forks[at]), expected=f"a task below {tasks}")
    found = np.full(tasks, -1, np.int64)
    found[child] = owner
    starts = np.bincount(np.concatenate([child, np.asarray(roots, np.int64)]), minlength=tasks)
    for task in np.flatnonzero(starts != 1)[:1].tolist():
        _refuse_starts(task, int(starts[task]), owner[child == task].tolist(), task in roots)
    return found


def _refuse_starts(task: int, starts: int, owners: list[int], root: bool) -> None:
    if not starts:
        raise InputError(
            f"task {task} is never spawned",
            path=("tasks", task),
            expected="one task that spawns it, or a phase with it",
        )
    by = [f"by task {owner}" for owner in owners] + ["as the root of a phase"] * (starts - len(owners))
    raise InputError(f"task {task} is started twice: {' and '.join(by[:2])}", path=("tasks", task), expected="once")


def _op_path(op_ptr: I64, op: int) -> Path:
    task = int(np.searchsorted(op_ptr, op, side="right")) - 1
    return ("tasks", task, "ops", int(op - op_ptr[task]))


def _check_names(workload: Workload) -> None:
    for key, names in (("kernels", workload.kernels), ("regions", [region.name for region in workload.regions])):
        seen: set[str] = set()
        for number, name in enumerate(names):
            seen.add(name)
            if len(seen) == number:
                raise InputError(f"the name {name!r} is given twice", path=(key, number), expected="distinct names")


def _check_lengths(workload: Workload) -> None:
    tasks, segments, ops = workload.rows, workload.segments, len(workload.op_code)
    lengths = {
        "op_ptr": (len(workload.op_ptr), tasks + 1),
        "parent": (len(workload.parent), tasks),
        "successor_ptr": (len(workload.successor_ptr), tasks + 1),
        "op_arg": (len(workload.op_arg), ops),
        "segment_kernel": (len(workload.segment_kernel), segments),
        "segment_accesses": (len(workload.segment_accesses), segments + 1),
    }
    for name, (given, right) in lengths.items():
        if given != right:
            raise InputError(f"the array has {given} entries", path=(name,), expected=f"{right} entries")
    _check_pointer("op_ptr", workload.op_ptr, ops)
    _check_pointer("segment_accesses", workload.segment_accesses, len(workload.accesses))
    _check_pointer("successor_ptr", workload.successor_ptr, len(workload.successor))


def _check_pointer(name: str, pointer: I64, total: int) -> None:
    if pointer[0] != 0 or pointer[-1] != total or (np.diff(pointer) < 0).any():
        raise InputError(
            "the array is not a CSR pointer", path=(name,), expected=f"an ascending array from 0 to {total}"
        )


def _check_ops(workload: Workload) -> None:
    for op in np.flatnonzero(workload.op_code >= len(Op))[:1].tolist():
        raise InputError(f"op code {workload.op_code[op]} does not exist", path=_op_path(workload.op_ptr, op))
    runs = (workload.op_code == Op.RUN) & (workload.op_arg >= workload.segments)
    for op in np.flatnonzero(runs)[:1].tolist():
        problem = f"segment {workload.op_arg[op]} does not exist"
        path = _op_path(workload.op_ptr, op)
        raise InputError(problem, path=path, expected=f"a segment below {workload.segments}")


def _check_tree(workload: Workload) -> None:
    found = parents(workload.op_ptr, workload.op_code, workload.op_arg, workload.trees)
    for task in np.flatnonzero(found != workload.parent)[:1].tolist():
        problem = f"the parent is {workload.parent[task]}, but task {found[task]} spawns it"
        raise InputError(problem, path=("tasks", task))
    _check_preorder(workload)


def _check_preorder(workload: Workload) -> None:
    order = _program_order(workload)
    for number in np.flatnonzero(np.array(order, np.int64) != np.arange(len(order)))[:1].tolist():
        task = order[number]
        right = f"number {number}: tasks are numbered depth first, in the order in which they are spawned"
        raise InputError(f"task {task} is out of order", path=("tasks", task), expected=right)
    if len(order) < workload.rows:
        task = len(order)
        problem = f"task {task} spawns itself, directly or through others"
        raise InputError(problem, path=("tasks", task), expected="a tree of spawns below every root")


def _program_order(workload: Workload) -> list[int]:
    """The tasks below the roots depth first, children in the order in which their parent spawns them."""
    forks = (workload.op_code == Op.SPAWN) | (workload.op_code == Op.CALL)
    first = offsets(forks)[workload.op_ptr].tolist()
    child = workload.op_arg[forks].tolist()
    found, left = [], np.flatnonzero(workload.parent < 0)[::-1].tolist()
    while left:
        task = left.pop()
        found.append(task)
        left += child[first[task] : first[task + 1]][::-1]
    return found


def _check_kinds(workload: Workload) -> None:
    called = np.zeros(workload.rows, np.bool_)
    called[workload.op_arg[workload.op_code == Op.CALL]] = True
    roots = workload.parent < 0
    wanted = np.where(called, Kind.CALL, Kind.TASK)
    wrong = (workload.kind != wanted) & ~(roots & (workload.kind == Kind.IMPLICIT))
    for task in np.flatnonzero(wrong)[:1].tolist():
        kind = Kind(workload.kind[task]).name.lower() if workload.kind[task] < len(Kind) else str(workload.kind[task])
        right = "call" if called[task] else "task or implicit" if roots[task] else "task"
        raise InputError(f"the kind is {kind}", path=("tasks", task, "kind"), expected=right)


def _check_segments(workload: Workload) -> None:
    for segment in np.flatnonzero(workload.segment_compute_ps < 0)[:1].tolist():
        path = ("segments", segment, "compute_ps")
        raise InputError(f"the time is {workload.segment_compute_ps[segment]} ps", path=path, expected="0 or more")
    for segment in np.flatnonzero(workload.segment_kernel >= len(workload.kernels))[:1].tolist():
        path = ("segments", segment, "kernel")
        problem = f"kernel {workload.segment_kernel[segment]} does not exist"
        raise InputError(problem, path=path, expected=f"a kernel below {len(workload.kernels)}")
    begin = workload.segment_accesses

    def path_of(access: int) -> Path:
        segment = int(np.searchsorted(begin, access, side="right")) - 1
        return ("segments", segment, "accesses", int(access - begin[segment]))

    _check_accesses(workload, workload.accesses, workload.accesses.offset, workload.accesses.offset, path_of)


def _check_accesses(workload: Workload, accesses: Accesses, low: I64, high: I64, path_of: Any) -> None:
    """``low`` and ``high`` [accesses] bound the offsets of an access."""
    sizes = np.array([region.bytes for region in workload.regions], np.int64)
    known = accesses.region < len(sizes)
    size = np.append(sizes, 0)[np.where(known, accesses.region, len(sizes))]
    rules: tuple[tuple[str, npt.NDArray[Any], str], ...] = (
        ("region", known, f"a region below {len(sizes)}"),
        ("row_bytes", accesses.row_bytes >= 1, "1 or more"),
        ("rows", accesses.rows >= 1, "1 or more"),
        ("stride", accesses.stride >= 0, "0 or more"),
        ("mode", np.isin(accesses.mode, list(Mode)), "read, write or read-write"),
        ("pattern", np.isin(accesses.pattern, list(Pattern)), "a known pattern"),
        ("passes", accesses.passes >= 1, "1 or more"),
        ("offset", low >= 0, "0 or more"),
        ("offset", high <= size - _extent(accesses), "an end inside the region"),
        ("passes", _moved(accesses) <= MOST_MOVED, f"at most {MOST_MOVED} bytes walked in all"),
    )
    for name, holds, right in rules:
        for access in np.flatnonzero(~holds)[:1].tolist():
            value = getattr(accesses, name)[access]
            raise InputError(f"the value is {value}", path=(*path_of(access), name), expected=right)


def _extent(accesses: Accesses) -> npt.NDArray[Any]:
    """[accesses] bytes from the first to the last; `FAR` where that does not fit in 63 bits."""
    rough = (accesses.rows - 1.0) * accesses.stride + accesses.row_bytes
    return np.where(rough < FAR, (accesses.rows - 1) * accesses.stride + accesses.row_bytes, FAR)


def _moved(accesses: Accesses) -> npt.NDArray[Any]:
    """[accesses] bytes walked, as floats, which do not overflow."""
    return accesses.row_bytes.astype(np.float64) * accesses.rows * accesses.passes


def _check_ranges(workload: Workload) -> None:
    for number, family in enumerate(workload.ranges):
        path: Path = ("ranges", number)
        if family.count < 1:
            raise InputError(f"the range has {family.count} items", path=(*path, "count"), expected="1 or more")
        if not 0 <= family.low_ps <= family.high_ps:
            problem = f"the times are {family.low_ps} to {family.high_ps} ps"
            raise InputError(problem, path=(*path, "low_ps"), expected="0 <= low_ps <= high_ps")
        if family.kernel >= len(workload.kernels):
            raise InputError(f"kernel {family.kernel} does not exist", path=(*path, "kernel"))
        if family.compute is not None:
            check_amounts(family.compute, family.count, LONGEST_PS, (*path, "compute_ps"))
        for at, access in enumerate(family.node_accesses):
            check_amounts(access.amounts, family.count, MOST_MOVED, (*path, "node_accesses", at, "bytes"))
        for key, amounts in (("fresh", family.fresh), ("freed", family.freed)):
            if amounts is not None:
                check_amounts(amounts, family.count, MOST_MOVED, (*path, key))
        _check_template(workload, family, path)


def _check_template(workload: Workload, family: RangeFamily, path: Path) -> None:
    for access in np.flatnonzero(family.divisor < 1)[:1].tolist():
        place = (*path, "accesses", access, "divisor")
        raise InputError(f"the divisor is {family.divisor[access]}", path=place, expected="1 or more")
    last = family.count - 1
    across = [last // family.divisor * family.step_div, np.minimum(last, family.divisor - 1) * family.step_mod]
    low = family.accesses.offset + sum(np.minimum(step, 0) for step in across)
    high = family.accesses.offset + sum(np.maximum(step, 0) for step in across)
    rough = float(last) * (np.abs(family.step_div) / family.divisor.astype(np.float64) + np.abs(family.step_mod))
    high = np.where(rough < FAR, high, FAR)
    _check_accesses(workload, family.accesses, low, high, lambda access: (*path, "accesses", access))


def _check_loops(workload: Workload) -> None:
    """Loops come by their first phase, outer ones before those in them, so that each is inside of the last one that it
    begins in.
    """
    around: list[Loop] = []
    for number, loop in enumerate(workload.loops):
        path: Path = ("loops", number)
        if not 0 <= loop.first < loop.end <= len(workload.phases):
            problem = f"the loop is over the phases from {loop.first} to {loop.end - 1}"
            raise InputError(problem, path=path, expected=f"some of the {len(workload.phases)} phases")
        if loop.repeat < 1:
            raise InputError(f"the loop runs {loop.repeat} times", path=(*path, "repeat"), expected="1 or more")
        while around and around[-1].end <= loop.first:
            around.pop()
        if (around and loop.end > around[-1].end) or (number and loop.first < workload.loops[number - 1].first):
            raise InputError(
                f"{loop} comes behind {workload.loops[number - 1]}",
                path=path,
                expected="loops by their first phase, outer ones before those in them",
            )
        around.append(loop)
        if len(around) > MOST_NESTED:
            raise InputError("loops are nested too deep", path=path, expected=f"at most {MOST_NESTED} in each other")


def _each_root_once(workload: Workload) -> bool:
    return len(workload.trees) == sum(len(phase.roots) for phase in workload.phases)


def _check_phases(workload: Workload) -> None:
    if not workload.phases:
        raise InputError("there is no phase", path=("phases",), expected="at least one")
    _check_loops(workload)
    once = _each_root_once(workload)
    for phase, path, runs in zip(
        workload.phases, places(len(workload.phases), workload.loops), workload.runs, strict=True
    ):
        family = phase.range_family
        if family is not None and not 0 <= family < len(workload.ranges):
            right = f"a range below {len(workload.ranges)}"
            raise InputError(f"range {family} does not exist", path=(*path, "range"), expected=right)
        for place, root in enumerate(phase.roots):
            if not 0 <= root < workload.rows:
                right = f"a task below {workload.rows}"
                raise InputError(f"task {root} does not exist", path=(*path, "roots", place), expected=right)
        if phase.repeat < 1:
            raise InputError(f"the phase runs {phase.repeat} times", path=(*path, "repeat"), expected="1 or more")
        if runs > MOST_ITEMS:
            expected = f"at most {MOST_ITEMS:,} times, with those of the loops around it"
            raise InputError(f"the phase runs {runs:,} times", path=(*path, "repeat"), expected=expected)
        if not once and len(set(phase.roots)) < len(phase.roots):
            place = next(at for at, root in enumerate(phase.roots) if root in phase.roots[:at])
            problem = f"task {phase.roots[place]} is a root of the phase twice"
            raise InputError(problem, path=(*path, "roots", place), expected="each root once")


def _check_dependences(workload: Workload) -> None:
    for edge in np.flatnonzero(workload.successor >= workload.rows)[:1].tolist():
        task = int(np.searchsorted(workload.successor_ptr, edge, side="right")) - 1
        path = ("tasks", task, "then", int(edge - workload.successor_ptr[task]))
        problem = f"task {workload.successor[edge]} does not exist"
        raise InputError(problem, path=path, expected=f"a task below {workload.rows}")
    if len(workload.successor):
        _check_kinds_of_edges(workload)
        _check_phases_of_edges(workload)
        _check_cycles(workload)


def _check_kinds_of_edges(workload: Workload) -> None:
    """Calls run at once, and bodies with their worker: only tasks can be held back until others have finished."""
    for edge in np.flatnonzero(workload.kind[workload.successor] != Kind.TASK)[:1].tolist():
        task = int(np.searchsorted(workload.successor_ptr, edge, side="right")) - 1
        kind = "a call" if workload.kind[workload.successor[edge]] == Kind.CALL else "an implicit body"
        problem = f"task {workload.successor[edge]} is {kind}, which waits for no other task"
        path = ("tasks", task, "then", int(edge - workload.successor_ptr[task]))
        raise InputError(problem, path=path, expected="a task that is spawned, or a root of kind task")


def _check_phases_of_edges(workload: Workload) -> None:
    """A phase begins when all before it has finished, so a dependence between phases is needless or a deadlock. Where
    roots belong to several phases, tasks that depend on each other always run in the same one.
    """
    roots, phases_of = _phases_of_roots(workload)
    phase = phases_of[np.searchsorted(roots, np.arange(workload.rows), side="right") - 1]
    source = np.repeat(np.arange(workload.rows), np.diff(workload.successor_ptr))
    for edge in np.flatnonzero(phase[source] != phase[workload.successor])[:1].tolist():
        problem = f"task {workload.successor[edge]} waits for task {source[edge]} of another phase"
        raise InputError(problem, path=("tasks", int(source[edge]), "then"), expected="a task of the same phase")


def _phases_of_roots(workload: Workload) -> tuple[I64, I64]:
    """(roots in ascending order, for each a number that is the same for those of the same phases)."""
    if _each_root_once(workload):
        order = np.argsort(workload.trees)
        phase = np.repeat(np.arange(len(workload.phases)), [len(phase.roots) for phase in workload.phases])
        return np.array(workload.trees, np.int64)[order], phase[order]
    belongs: dict[int, tuple[int, ...]] = {}
    for number, each in enumerate(workload.phases):
        for root in each.roots:
            belongs[root] = (*belongs.get(root, ()), number)
    roots = sorted(belongs)
    numbers = {phases: number for number, phases in enumerate(dict.fromkeys(belongs.values()))}
    return np.array(roots, np.int64), np.array([numbers[belongs[root]] for root in roots], np.int64)


def _check_cycles(workload: Workload) -> None:
    if is_forward(workload):
        return
    none = np.zeros(workload.rows, np.int64)
    flow = Dataflow(workload, np.zeros(workload.segments, np.int64), none)
    for phase in workload.phases:
        flow.run(phase)
    cycle = flow.cycle()
    if cycle:
        circle = " after ".join(str(task) for task in [*cycle[:SHOWN_CYCLE], *cycle[:1]])
        problem = f"tasks wait for each other in a cycle: {circle}"
        raise InputError(problem, path=("tasks", cycle[0]), expected="a graph without cycles")


CHECKS = (
    _check_names,
    _check_lengths,
    _check_phases,
    _check_ops,
    _check_tree,
    _check_kinds,
    check_sync_objects,
    check_groups,
    _check_segments,
    _check_ranges,
    _check_dependences,
)
