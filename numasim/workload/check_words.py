"""Rules for synchronisation ops: each names an object of its role, and each task releases the locks that it takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numasim.errors import InputError
from numasim.workload.graph import FIRST_SHARED, Op, Workload
from numasim.workload.sync_parameters import MAX_PARTIES, Role, SyncObject

ROLES = {
    Op.LOCK: Role.LOCK,
    Op.UNLOCK: Role.LOCK,
    Op.ATOMIC: Role.ATOMIC,
    Op.BARRIER: Role.BARRIER,
    Op.AWAIT: Role.CONDITION,
    Op.SIGNAL: Role.CONDITION,
    Op.BROADCAST: Role.CONDITION,
}


def check_sync_objects(workload: Workload) -> None:
    """Raise InputError unless each op names an object of its role and each task releases the locks that it takes."""
    _check_words(workload.words)
    uses = np.flatnonzero(workload.op_code >= FIRST_SHARED)
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
