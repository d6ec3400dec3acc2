"""Bugs that the explorer of interleavings has to find: each breaks one order or one step of a source of the runtime."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Bug(NamedTuple):
    """``right`` stands once in ``source``; with ``wrong`` in its place, ``case`` is violated where memory is so."""

    name: str
    source: str
    right: str
    wrong: str
    memory: str
    case: str

    def write(self, original: Path, changed: Path) -> Path:
        """The source with the bug, in ``changed``."""
        text = original.read_text()
        assert text.count(self.right) == 1, f"{original.name} does not have {self.right!r} once: the bug is out of date"
        changed.write_text(text.replace(self.right, self.wrong))
        return changed


TAKE_LAST = (
    "    return ns_atomic_u64_compare_exchange(&self->ends, &ends, none, memory_order_relaxed, memory_order_relaxed);\n"
)
TAKE_BACK = (
    "    return ns_atomic_u64_compare_exchange(ends, &seen, kept, memory_order_relaxed, memory_order_relaxed);\n"
)
SETTLE = """    if (ns_atomic_pointer_compare_exchange(&self->tail, &tail, &self->holder, memory_order_acq_rel,
                                           memory_order_relaxed))
        return;
    ns_atomic_pointer_store"""
WAIT = """    enqueue(self->queues[node], &mine);
    ns_numa_lock_release(lock, node);
"""
FALL_ASLEEP = (
    "    if (!ns_atomic_u32_compare_exchange(&mine->state, &found, SLEEPING, "
    "memory_order_acquire, memory_order_acquire))\n        return;\n"
)

BUGS = [
    Bug(
        "the owner takes the last public task without asking whether a thief has it",
        "deque.c",
        TAKE_LAST,
        "    ns_atomic_u64_store(&self->ends, none, memory_order_seq_cst);\n    return true;\n",
        "sequential",
        "deque/one thief",
    ),
    Bug(
        "tasks are published over a thief's steal",
        "split.c",
        "if (tail == split && held) {",
        "if (held) {",
        "sequential",
        "deque/growth",
    ),
    Bug(
        "tasks are published before they are written",
        "split.c",
        "ns_atomic_u64_store(ends, seen, memory_order_release);",
        "ns_atomic_u64_store(ends, seen, memory_order_relaxed);",
        "reordered",
        "deque/short",
    ),
    Bug(
        "a slot is written again before its task is taken",
        "deque.c",
        "if (bottom - tail > self->mask) {",
        "if (bottom - tail > self->mask + 1) {",
        "sequential",
        "deque/growth",
    ),
    Bug(
        "the owner takes public tasks back without asking whether a thief has them",
        "split.c",
        TAKE_BACK,
        "    ns_atomic_u64_store(ends, kept, memory_order_seq_cst);\n    return true;\n",
        "sequential",
        "lane/one thief",
    ),
    Bug(
        "tasks of a lane are published over a thief's steal",
        "split.c",
        "if (tail == split && held) {",
        "if (held) {",
        "sequential",
        "lane/one thief",
    ),
    Bug(
        "tasks of a lane are published before they are written",
        "split.c",
        "ns_atomic_u64_store(ends, seen, memory_order_release);",
        "ns_atomic_u64_store(ends, seen, memory_order_relaxed);",
        "reordered",
        "lane/short",
    ),
    Bug(
        "a stolen task has ended before what it did is seen",
        "lane.c",
        "UINT64_C(1) + returned, memory_order_release);",
        "UINT64_C(1) + returned, memory_order_relaxed);",
        "reordered",
        "lane/short",
    ),
    Bug(
        "a slot is used again before the task that was stolen from it has ended",
        "lane.c",
        "ns_lane_atomic(&slot->ended), memory_order_acquire);",
        "ns_lane_atomic(&slot->ended), memory_order_acquire) + 1;",
        "sequential",
        "lane/again",
    ),
    Bug(
        "the task that is stolen next from a slot has ended before it was begun",
        "lane.c",
        "ns_lane_atomic(&slot->ended), 0, memory_order_relaxed);",
        "ns_lane_atomic(&slot->ended), 1, memory_order_relaxed);",
        "sequential",
        "lane/again",
    ),
    Bug(
        "a stolen task leaves no result",
        "lane.c",
        "    if (returned) memcpy(slot->arguments + NS_RESULT_AT, arguments + NS_RESULT_AT, returned);\n",
        "    if (!returned) memcpy(slot->arguments, arguments, 1);\n",
        "sequential",
        "lane/short",
    ),
    Bug(
        "what is pushed where a stolen task was counts as stolen",
        "lane.c",
        "const uint64_t ends = ns_ends_of(index_of(self, slot), index_of(self, slot));\n",
        "const uint64_t ends = ns_ends_of(index_of(self, slot) + 1, index_of(self, slot) + 1);\n",
        "sequential",
        "lane/again",
    ),
    Bug(
        "a lock is free before what it protects is written",
        "locks_words.c",
        "ns_atomic_u32_store(&((word_lock *)base)->state, FREE, memory_order_release);",
        "ns_atomic_u32_store(&((word_lock *)base)->state, FREE, memory_order_relaxed);",
        "reordered",
        "lock/tas/three",
    ),
    Bug(
        "the next number is served before what the lock protects is written",
        "locks_words.c",
        "ns_atomic_u32_store(&self->served, mine + 1, memory_order_release);",
        "ns_atomic_u32_store(&self->served, mine + 1, memory_order_relaxed);",
        "reordered",
        "lock/ticket/three",
    ),
    Bug(
        "who tries draws a number that is not served yet",
        "locks_words.c",
        "uint32_t drawn = served; /*",
        "uint32_t drawn = ns_atomic_u32_load(&self->drawn, memory_order_relaxed); /*",
        "sequential",
        "lock/ticket/tried",
    ),
    Bug(
        "who tries takes the place behind one that is not left",
        "locks_clh.c",
        "    if (swapped)\n        follow(self, before, mine);\n",
        "    if (swapped)\n        self->held = mine;\n",
        "sequential",
        "lock/clh/looked at",
    ),
    Bug(
        "who tries in vain keeps the lock of its node",
        "locks_cohort.c",
        "        ns_mcs_release(&mine->queue);\n        return false;\n",
        "        return false;\n",
        "sequential",
        "lock/cohort/tried",
    ),
    Bug(
        "who sleeps for a mutex is not woken",
        "locks_words.c",
        "memory_order_release) == HELD_AND_WANTED)",
        "memory_order_release) == HELD)",
        "sequential",
        "lock/mutex/three",
    ),
    Bug(
        "who is about to link itself behind the holder is forgotten",
        "mcs.c",
        "        next = await_next(&self->holder);\n",
        "        return;\n",
        "sequential",
        "lock/mcs/three",
    ),
    Bug(
        "the place in the lock is emptied after another has linked itself there",
        "mcs.c",
        SETTLE,
        SETTLE.replace("memory_order_acq_rel", "memory_order_acquire"),
        "reordered",
        "lock/mcs/three",
    ),
    Bug(
        "the lock is handed over before what it protects is written",
        "mcs.c",
        "ns_atomic_u32_store(&next->waits, 0, memory_order_release);",
        "ns_atomic_u32_store(&next->waits, 0, memory_order_relaxed);",
        "reordered",
        "lock/mcs/three",
    ),
    Bug(
        "a place is left before what the lock protects is written",
        "locks_clh.c",
        "held->state, LEFT, memory_order_release);",
        "held->state, LEFT, memory_order_relaxed);",
        "reordered",
        "lock/clh/three",
    ),
    Bug(
        "a place is given back before it was left",
        "locks_clh.c",
        "        ns_wait_for(&before->state, LEFT); /* acquires what the last holder did */\n",
        "        ns_atomic_u32_store(&before->state, FREE, memory_order_relaxed);\n"
        "        ns_wait_for(&before->state, LEFT);\n",
        "sequential",
        "lock/clh/twice",
    ),
    Bug(
        "a node never lets go of the lock while it wants it",
        "locks_cohort.c",
        "mine->run < base->options.batch && ns_mcs_wanted",
        "ns_mcs_wanted",
        "sequential",
        "lock/cohort/batch",
    ),
    Bug(
        "a node hands the lock over once too often",
        "locks_cohort.c",
        "mine->run < base->options.batch",
        "mine->run <= base->options.batch",
        "sequential",
        "lock/cohort/batch",
    ),
    Bug(
        "a node believes that it still has the lock of all nodes",
        "locks_cohort.c",
        "        mine->has_all = false;\n",
        "",
        "sequential",
        "lock/cohort/three",
    ),
    Bug(
        "a waiter lets go of the lock before it is in the queue",
        "numa_conditions.c",
        WAIT,
        "".join(reversed(WAIT.splitlines(keepends=True))),
        "sequential",
        "condition/one",
    ),
    Bug(
        "a waiter falls asleep over the signal that it has been given",
        "numa_conditions.c",
        FALL_ASLEEP,
        "    (void)found;\n    ns_atomic_u32_store(&mine->state, SLEEPING, memory_order_seq_cst);\n",
        "sequential",
        "condition/one",
    ),
    Bug(
        "a signal is lost where nobody waits on the node of the signaller",
        "numa_conditions.c",
        "if (!signal_beyond(self, node, 1, self->options.nodes)) signal_beyond(self, node, 0, 1);",
        "signal_beyond(self, node, 0, 1);",
        "sequential",
        "condition/two",
    ),
    Bug(
        "a barrier opens for the last but one",
        "numa_barriers.c",
        "memory_order_acq_rel) + 1 == self->parties;",
        "memory_order_acq_rel) + 2 == self->parties;",
        "sequential",
        "barrier/central",
    ),
    Bug(
        "a barrier counts from zero again after those that it let go have come back",
        "numa_barriers.c",
        """    ns_atomic_u32_store(&self->arrived, 0, memory_order_relaxed);
    /* release: what all did before is seen by those that leave */
    ns_atomic_u32_store(&self->open, number, memory_order_release);
""",
        """    ns_atomic_u32_store(&self->open, number, memory_order_release);
    ns_atomic_u32_store(&self->arrived, 0, memory_order_relaxed);
""",
        "sequential",
        "barrier/central",
    ),
    Bug(
        "a domain opens before the others have come",
        "numa_barriers.c",
        """    arrive_central(self, party, number);
    open_meeting(domain, number);
""",
        """    open_meeting(domain, number);
    arrive_central(self, party, number);
""",
        "sequential",
        "barrier/per-domain",
    ),
    Bug(
        "a flag is raised before what its party did is written",
        "numa_barriers.c",
        "ns_atomic_u32_store(&self->seats[party]->arrived, number, memory_order_release);\n"
        "        ns_wait_for(&self->all->open, number);",
        "ns_atomic_u32_store(&self->seats[party]->arrived, number, memory_order_relaxed);\n"
        "        ns_wait_for(&self->all->open, number);",
        "reordered",
        "barrier/flag",
    ),
    Bug(
        "what is pushed onto the list of a task that has ended is waited for",
        "dependences.c",
        "        if (newest == &ended) return false;\n",
        "        if (newest == &ended) newest = NULL;\n",
        "sequential",
        "dependent/two after one",
    ),
    Bug(
        "a parent takes as free what has no list to wait in, and others take as theirs",
        "dependences.c",
        "static const uint32_t UNKNOWN = UINT32_C(1) << 31;",
        "static const uint32_t UNKNOWN = 1;",
        "sequential",
        "dependent/one after two",
    ),
    Bug(
        "a task that ends does not tell its parent what it did",
        "dependences.c",
        "    return ns_atomic_pointer_exchange(&self->waiting, &ended, memory_order_acq_rel);\n",
        "    return ns_atomic_pointer_exchange(&self->waiting, &ended, memory_order_acquire);\n",
        "reordered",
        "dependent/two after one",
    ),
]
