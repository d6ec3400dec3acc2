"""Bugs that the explorer, which runs all interleavings of small programs, must find.

Each bug breaks one memory order or one step of a source of the runtime.
"""

from __future__ import annotations

from pathlib import Path


class Bug:
    """A source of the runtime in which ``right`` occurs once, and is replaced by ``wrong``.

    ``place`` names the source and the explorer's cases that must fail, as in ``"split.c: deque/short, lane/short"``, in
    the memory model ``memory``. Without ``wrong``, each release in ``right`` becomes relaxed, and the memory model is
    the one that reorders accesses.
    """

    def __init__(self, name: str, place: str, right: str, wrong: str | None = None, memory: str = "sequential") -> None:
        self.name, self.right = name, right
        self.source, cases = place.split(": ")
        self.cases = cases.split(", ")
        self.wrong = right.replace("memory_order_release", "memory_order_relaxed") if wrong is None else wrong
        self.memory = "reordered" if wrong is None else memory

    def write(self, original: Path, changed: Path) -> Path:
        """Write the source with the bug to ``changed``, and return the path."""
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
        "deque.c: deque/one thief",
        TAKE_LAST,
        "    ns_atomic_u64_store(&self->ends, none, memory_order_seq_cst);\n    return true;\n",
    ),
    Bug(
        "tasks are published over a thief's steal",
        "split.c: deque/growth, lane/one thief",
        "if (tail == split && held) {",
        "if (held) {",
    ),
    Bug(
        "tasks are published before they are written",
        "split.c: deque/short, lane/short",
        "ns_atomic_u64_store(ends, seen, memory_order_release);",
    ),
    Bug(
        "a slot is written again before its task is taken",
        "deque.c: deque/growth",
        "if (bottom - tail > self->mask) {",
        "if (bottom - tail > self->mask + 1) {",
    ),
    Bug(
        "the owner takes public tasks back without asking whether a thief has them",
        "split.c: lane/one thief",
        TAKE_BACK,
        "    ns_atomic_u64_store(ends, kept, memory_order_seq_cst);\n    return true;\n",
    ),
    Bug(
        "a stolen task has ended before what it did is seen",
        "lane.c: lane/short",
        "UINT64_C(1) + returned, memory_order_release);",
    ),
    Bug(
        "a slot is used again before the task that was stolen from it has ended",
        "lane.c: lane/again",
        "ns_lane_atomic(&slot->ended), memory_order_acquire);",
        "ns_lane_atomic(&slot->ended), memory_order_acquire) + 1;",
    ),
    Bug(
        "the task that is stolen next from a slot has ended before it was begun",
        "lane.c: lane/again",
        "ns_lane_atomic(&slot->ended), 0, memory_order_relaxed);",
        "ns_lane_atomic(&slot->ended), 1, memory_order_relaxed);",
    ),
    Bug(
        "a stolen task leaves no result",
        "lane.c: lane/short",
        "    if (returned) memcpy(slot->arguments + NS_RESULT_AT, arguments + NS_RESULT_AT, returned);\n",
        "    if (!returned) memcpy(slot->arguments, arguments, 1);\n",
    ),
    Bug(
        "what is pushed where a stolen task was counts as stolen",
        "lane.c: lane/again",
        "const uint64_t ends = ns_ends_of(index_of(self, slot), index_of(self, slot));\n",
        "const uint64_t ends = ns_ends_of(index_of(self, slot) + 1, index_of(self, slot) + 1);\n",
    ),
    Bug(
        "a lock is free before what it protects is written",
        "locks_words.c: lock/tas/three",
        "ns_atomic_u32_store(&((word_lock *)base)->state, FREE, memory_order_release);",
    ),
    Bug(
        "the next number is served before what the lock protects is written",
        "locks_words.c: lock/ticket/three",
        "ns_atomic_u32_store(&self->served, mine + 1, memory_order_release);",
    ),
    Bug(
        "who tries draws a number that is not served yet",
        "locks_words.c: lock/ticket/tried",
        "uint32_t drawn = served; /*",
        "uint32_t drawn = ns_atomic_u32_load(&self->drawn, memory_order_relaxed); /*",
    ),
    Bug(
        "who tries takes the place behind one that is not left",
        "locks_clh.c: lock/clh/looked at",
        "    if (swapped)\n        follow(self, before, mine);\n",
        "    if (swapped)\n        self->held = mine;\n",
    ),
    Bug(
        "who tries in vain keeps the lock of its node",
        "locks_cohort.c: lock/cohort/tried",
        "        ns_mcs_release(&mine->queue);\n        return false;\n",
        "        return false;\n",
    ),
    Bug(
        "who sleeps for a mutex is not woken",
        "locks_words.c: lock/mutex/three",
        "memory_order_release) == HELD_AND_WANTED)",
        "memory_order_release) == HELD)",
    ),
    Bug(
        "who is about to link itself behind the holder is forgotten",
        "mcs.c: lock/mcs/three",
        "        next = await_next(&self->holder);\n",
        "        return;\n",
    ),
    Bug(
        "the place in the lock is emptied after another has linked itself there",
        "mcs.c: lock/mcs/three",
        SETTLE,
        SETTLE.replace("memory_order_acq_rel", "memory_order_acquire"),
        "reordered",
    ),
    Bug(
        "the lock is handed over before what it protects is written",
        "mcs.c: lock/mcs/three",
        "ns_atomic_u32_store(&next->waits, 0, memory_order_release);",
    ),
    Bug(
        "a place is left before what the lock protects is written",
        "locks_clh.c: lock/clh/three",
        "held->state, LEFT, memory_order_release);",
    ),
    Bug(
        "a place is given back before it was left",
        "locks_clh.c: lock/clh/twice",
        "        ns_wait_for(&before->state, LEFT); /* acquires what the last holder did */\n",
        "        ns_atomic_u32_store(&before->state, FREE, memory_order_relaxed);\n"
        "        ns_wait_for(&before->state, LEFT);\n",
    ),
    Bug(
        "a node never lets go of the lock while it wants it",
        "locks_cohort.c: lock/cohort/batch",
        "mine->run < base->options.batch && ns_mcs_wanted",
        "ns_mcs_wanted",
    ),
    Bug(
        "a node hands the lock over once too often",
        "locks_cohort.c: lock/cohort/batch",
        "mine->run < base->options.batch",
        "mine->run <= base->options.batch",
    ),
    Bug(
        "a node believes that it still has the lock of all nodes",
        "locks_cohort.c: lock/cohort/three",
        "        mine->has_all = false;\n",
        "",
    ),
    Bug(
        "a waiter lets go of the lock before it is in the queue",
        "numa_conditions.c: condition/one",
        WAIT,
        "".join(reversed(WAIT.splitlines(keepends=True))),
    ),
    Bug(
        "a waiter falls asleep over the signal that it has been given",
        "numa_conditions.c: condition/one",
        FALL_ASLEEP,
        "    (void)found;\n    ns_atomic_u32_store(&mine->state, SLEEPING, memory_order_seq_cst);\n",
    ),
    Bug(
        "a signal is lost where nobody waits on the node of the signaller",
        "numa_conditions.c: condition/two",
        "if (!signal_beyond(self, node, 1, self->options.nodes)) signal_beyond(self, node, 0, 1);",
        "signal_beyond(self, node, 0, 1);",
    ),
    Bug(
        "a barrier opens for the last but one",
        "numa_barriers.c: barrier/central",
        "memory_order_acq_rel) + 1 == self->parties;",
        "memory_order_acq_rel) + 2 == self->parties;",
    ),
    Bug(
        "a barrier counts from zero again after those that it let go have come back",
        "numa_barriers.c: barrier/central",
        "    ns_atomic_u32_store(&self->arrived, 0, memory_order_relaxed);\n"
        "    /* release: what all did before is seen by those that leave */\n"
        "    ns_atomic_u32_store(&self->open, number, memory_order_release);\n",
        "    ns_atomic_u32_store(&self->open, number, memory_order_release);\n"
        "    ns_atomic_u32_store(&self->arrived, 0, memory_order_relaxed);\n",
    ),
    Bug(
        "a domain opens before the others have come",
        "numa_barriers.c: barrier/per-domain",
        "    arrive_central(self, party, number);\n    open_meeting(domain, number);\n",
        "    open_meeting(domain, number);\n    arrive_central(self, party, number);\n",
    ),
    Bug(
        "a flag is raised before what its party did is written",
        "numa_barriers.c: barrier/flag",
        "ns_atomic_u32_store(&self->seats[party]->arrived, number, memory_order_release);\n"
        "        ns_wait_for(&self->all.open, number);",
    ),
    Bug(
        "what is pushed onto the list of a task that has ended is waited for",
        "dependences.c: dependent/two after one",
        "        if (newest == &ended) return false;\n",
        "        if (newest == &ended) newest = NULL;\n",
    ),
    Bug(
        "a parent takes as free what has no list to wait in, and others take as theirs",
        "dependences.c: dependent/one after two",
        "static const uint32_t UNKNOWN = UINT32_C(1) << 31;",
        "static const uint32_t UNKNOWN = 1;",
    ),
    Bug(
        "a task that ends does not tell its parent what it did",
        "dependences.c: dependent/two after one",
        "    return ns_atomic_pointer_exchange(&self->waiting, &ended, memory_order_acq_rel);\n",
        "    return ns_atomic_pointer_exchange(&self->waiting, &ended, memory_order_acquire);\n",
        "reordered",
    ),
    Bug(
        "a push looks for sleepers before other workers see the task",
        "sleepers.c: sleep/each, sleep/uncancelled",
        "    if (rule->recheck != NS_RECHECK_NONE) ns_fence();\n",
        "",
        "buffered",
    ),
    Bug(
        "a worker sleeps without a second look for tasks",
        "sleepers.c: sleep/each, sleep/uncancelled",
        "    if (missed || order->is_over(order->context) || (looks && order->finds(order->context)))\n",
        "    if (missed || order->is_over(order->context) || (looks && !order->finds))\n",
    ),
    Bug(
        "a worker sleeps without a second look at the count of pushes",
        "sleepers.c: sleep/events",
        "ns_sleepers_pushes(self) != order->pushes;",
        "ns_sleepers_pushes(self) < order->pushes;",
    ),
    Bug(
        "a worker falls asleep after its wait is over",
        "sleepers.c: sleep/join",
        "    if (missed || order->is_over(order->context) || (looks",
        "    if (missed || (looks",
    ),
    Bug(
        "a worker that can take a task only at times keeps others asleep",
        "sleepers.c: sleep/beside idler",
        "ns_sleepers_cover_by(self, takers), SEARCHING)",
        "NS_REACH_SOMETIMES, SEARCHING)",
    ),
    Bug(
        "a sleeper is called back after it has fallen asleep, without a system call",
        "sleepers.c: sleep/each",
        "if (ns_atomic_u32_compare_exchange(state, &announced, NS_CALLED, ",
        "if (ns_atomic_u32_exchange(state, NS_CALLED, memory_order_release) + 1 || "
        "ns_atomic_u32_compare_exchange(state, &announced, NS_CALLED, ",
    ),
]
