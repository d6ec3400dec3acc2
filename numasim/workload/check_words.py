"""Rules for synchronisation ops: each names an object of its role, each task releases the locks that it takes and ends
the transactions that it begins.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numasim.errors import InputError
from numasim.schema.enumerations import MOST_OBJECTS_OPENED
from numasim.workload.graph import Op, Workload
from numasim.workload.sync_parameters import MAX_PARTIES, Role, SyncObject

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
