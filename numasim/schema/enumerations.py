"""The enumerations and constants of a plan: their names and values in Python, C and C++ (see the table at the end).

A number that is stored in an array is an ``IntEnum``. A choice that users write as a word is a ``Literal``; in C its
value is the position of the word. A level is an entry of a strategy's list of places to steal from, a rule one of its
list of choices of a queue for a new task (dispatch); a segment is a list of candidate queues of a level or rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal, get_args

# ---- programs of tasks (model 3) -----------------------------------------------------------------------------------


class Op(IntEnum):
    """One step of a task's program; its argument is in brackets: a *word* is a synchronisation object."""

    RUN = 0  # [segment]
    SPAWN = 1  # [task] a child that may run anywhere
    CALL = 2  # [task] a child that the worker executes at once
    WAIT = 3  # [0] wait until every child spawned so far has finished
    LOCK = 4  # [word] wait until the lock is granted
    UNLOCK = 5  # [word]
    ATOMIC = 6  # [word] one atomic operation on its cache line
    BARRIER = 7  # [word] wait until all parties have arrived
    AWAIT = 8  # [word] wait until the condition has been signalled
    SIGNAL = 9  # [word] let one waiter of the condition pass
    BROADCAST = 10  # [word] let as many waiters pass as the condition has parties
    BEGIN = 11  # [word] begin an attempt of a transaction on a memory of objects
    LOAD = 12  # [word] open an object of the memory to read it
    STORE = 13  # [word] open an object of the memory to write it
    COMMIT = 14  # [word] end the transaction
    GROUP = 15  # [0] begin a group of the tasks that are spawned from here on, and of the descendants of these tasks
    END_GROUP = 16  # [0] end the task's innermost group, and wait until the tasks of this group have finished


class Kind(IntEnum):
    """The kind of a row of the task arrays."""

    TASK = 0  # a spawned task (and the root): counted in ``tasks``
    CALL = 1  # a called task: not counted, never queued
    IMPLICIT = 2  # work that is given to one worker, as an OpenMP implicit task: not counted, not stolen


class Mode(IntEnum):
    """How a segment uses the bytes of an access."""

    READ = 1
    WRITE = 2
    READ_WRITE = 3


class Deal(IntEnum):
    """Which of P workers gets each root task (that waits for none), or item of a range, as a phase starts."""

    MASTER = 0  # all to worker 0
    BLOCK = 1  # root r of R to worker floor(r * P / R)
    CYCLIC = 2  # root r to worker r mod P


class Tier(IntEnum):
    """The place of a task among the subtrees that a strategy keeps together (model 4.14); rules have a mask."""

    FREE = 1  # above all subtrees that are kept together
    ROOT = 2  # the topmost task of a subtree
    LOCAL = 4  # below the topmost task of a subtree


class Role(IntEnum):
    """The purpose of a synchronisation object."""

    LOCK = 0
    ATOMIC = 1
    CONDITION = 2
    BARRIER = 3
    OBJECTS = 4  # a memory of objects, for transactions


# ---- compiled strategies (model 4) ---------------------------------------------------------------------------------


class Anchor(IntEnum):
    """The object from which a level or rule searches: it has a row of candidate queues for each such object."""

    ME = 0  # this worker
    ALL = 1  # one row for all workers
    PARENT = 2  # the worker that spawned the task this worker last took from a queue
    THIEF = 3  # the worker that stole from this worker last
    LAST = 4  # the queue of this worker's last successful steal
    LIGHTEST = 5  # dispatch: the node whose queues hold the fewest tasks
    DATA = 6  # dispatch: the node, or nodes, that the rule's ranking chooses by the task's objects
    LABEL = 7  # dispatch: the unit that the task's label names


class Pick(IntEnum):
    """How queues are chosen from a segment, one after the other."""

    RANDOM = 0
    IN_ORDER = 1
    ROTATE = 2  # in order from a random queue on
    ROUND_ROBIN = 3  # in order from behind the last choice on
    AFTER_LAST = 4  # in order from the last victim on
    LONGEST = 5
    SHORTEST = 6
    CYCLIC = 7  # by the number of the task, modulo the number of queues
    BLOCK = 8  # by the number of the task, equal blocks of tasks to each queue
    PERMUTATION = 9  # from a random queue on, with a random stride


class Visit(IntEnum):
    """Which groups of equally near queues a level probes."""

    NEAREST = 0  # all, the nearest first
    RANDOM = 1  # one at random
    WEIGHTED = 2  # one at random, near ones more likely


class Reach(IntEnum):
    """When a searching worker can take a task from a queue by a level, while the level is in force."""

    NEVER = 0
    SOMETIMES = 1  # under conditions
    ALWAYS = 2


class AmountKind(IntEnum):
    """Whether a level's amount is a number of tasks or a divisor of the queue's length."""

    COUNT = 0
    SHARE = 1


class NodeRank(IntEnum):
    """Which nodes a rule chooses by the objects (pieces of memory) that a task accesses."""

    MOST = 0  # the node with the most of them
    CHEAPEST = 1  # the node from which all of them together are accessed fastest
    ANY = 2  # all nodes with one of them


class Counted(IntEnum):
    """Which objects of a task count, as a mask of `Mode`."""

    READS = 1
    WRITES = 2
    BOTH = 3


class Weigh(IntEnum):
    """How much each object counts (A-13)."""

    BYTES = 0  # as its number of bytes
    OBJECTS = 1  # as one


class End(IntEnum):
    """An end of a queue; tasks are pushed at the back."""

    FRONT = 0
    BACK = 1


class Full(IntEnum):
    """What happens to a new task whose queue is full."""

    GROW = 0  # the next rules choose a queue; if they find none, the worker executes the task at once
    INLINE = 1  # the worker executes its new tasks at once, until the queue has drained
    NEXT = 2  # the worker's tasks are dealt to all queues in turn
    BLOCK = 3  # as GROW
    DISPLACE = 4  # of a slot: the task in the queue leaves it for the queues of the next rules
    SPILL_OLDEST = 5  # the older half of the queue leaves it, with the new task, for a queue of the next rules
    SPILL_NEWEST = 6  # the newer half does


# ---- choices that users write down as words ------------------------------------------------------------------------

JoinKind = Literal["help", "own", "strict", "continuation", "block", "leapfrog"]  # how a worker waits for children
ProducerKind = Literal["none", "extra", "master"]  # the thread that creates the items of a range
ThresholdRule = Literal["literal", "avail", "fraction"]  # how the thresholds S and s of a queue are computed
ThresholdTime = Literal["first-drain", "phase", "fixed"]  # when the thresholds are computed
LockName = Literal["tas", "ttas", "ticket", "mcs", "mutex", "cohort", "clh", "barging"]
BarrierName = Literal["central", "flag", "tree", "per-domain"]
CacheModel = Literal["none", "share", "lru"]
ContentionModel = Literal["none", "snapshot", "fluid"]
LineName = Literal["no", "yes", "latency"]  # whether transfers of cache lines take time; yes: requests queue up, too
RecheckRule = Literal["each", "last", "events", "none"]  # which workers look again before they sleep
WakeRule = Literal["every-push", "no-searcher", "empty-queue", "uncovered"]  # which tasks wake a sleeper
WhomRule = Literal["newest", "lowest", "all"]  # which sleeper is woken
ChainRule = Literal["finder", "last-searcher", "woken"]  # which workers wake more sleepers
CapRule = Literal["count", "share", "busy-share"]  # the number that the searching workers are compared with

LOCK_DESCRIPTIONS: dict[LockName, str] = {  # formats for the parameters of a plan that matter for the kind of lock
    "tas": "test-and-set locks",
    "ttas": "test-and-test-and-set locks",
    "ticket": "ticket locks",
    "mcs": "MCS queue locks",
    "mutex": "mutexes that spin for {spin_ns} ns and then park",
    "cohort": "cohort locks that stay on a node for up to {batch} grants in a row",
    "clh": "CLH queue locks",
    "barging": "barging locks, whose waiters spin for {spin_ns} ns and then park",
}

LOCK_MEANINGS: dict[LockName, str] = {
    "tas": "Test-and-set: whoever waits tries again and again, which keeps the line busy.",
    "ttas": "Test-and-test-and-set: whoever waits reads, and tries when the lock is free.",
    "ticket": "Ticket lock: granted in the order of arrival, all waiters read one line.",
    "mcs": "Queue lock of Mellor-Crummey and Scott (1991): each waiter spins on a line of its own.",
    "mutex": "A waiter spins for spin_ns and then sleeps. The lock is handed over to the waiter that is woken.",
    "cohort": "Cohort lock (Dice, Marathe and Shavit 2012): granted within a node up to batch times in a row.",
    "clh": "Queue lock of Craig (1993) and of Magnusson, Landin and Hagersten (1994): each waiter spins on the "
    "line of the one before.",
    "barging": "A waiter spins for spin_ns and then sleeps. Any worker may take the lock while a sleeper wakes up, as "
    "with a mutex of pthreads.",
}
CACHE_MEANINGS: dict[CacheModel, str] = {
    "none": "There are no caches: every pass over memory goes to memory.",
    "share": "A piece of memory stays in a cache until as many other bytes as the cache holds have come in.",
    "lru": "A cache drops what was used least recently; slower, to say how good share is.",
}

# ---- constants -----------------------------------------------------------------------------------------------------

NONE8, ALL16, ALL32 = 255, 65535, 2**32 - 1
NO_QUEUE = 2**31 - 1  # in ``own``: a worker without a queue
MIN_MARK, MAX_MARK = -1, -2  # bounds of a watch that stand for the queue's own threshold s, or S
BELOW_MIN_MARK, BELOW_MAX_MARK = -3, -4  # bounds of a watch that stand for s - 1, or S - 1
OWNER_MARK, OWNER_EXACT_MARK = -5, -6  # both bounds of a watch whose bits only the owners of queues write
ASLEEP_MARK = -7  # both bounds of a watch whose bits say which owners of queues sleep (model 4.13)
FLAG_ATTEMPT, FLAG_INVERT = 1, 2  # flags of levels: probes count as steal attempts; queues without the watch's bit pass
FLAG_GATED, FLAG_UNLESS = 4, 8  # used while few subtrees of the worker's unit are live; used while its switch is off
FLAG_OWN_FIRST = 16  # of a steal level: the gate also waits until all subtrees with the unit's label have begun
FLAG_HEADS = 32  # of a steal level: a row for each worker comes first, empty if the worker does not use the level
FLAG_FORGET = 64  # of a steal level: a probe by the level that finds nothing forgets the last victim
FLAG_ABOVE = 128  # of a steal level: a share of the queue is rounded to the next whole number above it
EVERY_TIER = 7
TIER_SHIFT, FLAG_TIERS = 4, 112  # of a dispatch rule: a mask of tiers, shifted by TIER_SHIFT bits; 0: any tier
FLAG_COPY = 128  # of a dispatch rule: the rule leaves a copy of the task in its queue; later rules place the task
FLAG_LOOKS = 1  # flags of DATA records: the rule looks at the task's objects
FLAG_UNEVEN, FLAG_HERE, FLAG_SOURCE = 2, 4, 8  # the conditions ``uneven``, ``here`` and ``source`` of the rule
NOWHERE = -1  # the home of an object without placed pages
OPEN_HOME = -2  # the home of an object whose home is looked up when its task is dispatched
MILLION = 1_000_000

# The bounds of a plan.
MOST_WORKERS, MOST_NODES, MOST_ROWS = 2**20, 2**14, 2**31
MOST_ITEMS = 2**32 - 1
MOST_FACTOR = 2**33  # bytes moved for each byte of an access
LONGEST_PS, MOST_COST_PS = 2**60, 2**53
MOST_BYTES, MOST_PAGE_BYTES, MOST_UNIT_PAGES = 2**50, 2**32, 2**20
MOST_ACCESS_ROWS, MOST_STRIDE = 2**31, 2**62
MOST_MOVED, MOST_SHARES = 2**38, 2**24  # bytes that one access moves; units in which shares of these bytes are given
MOST_OBJECTS, MOST_OBJECT_BYTES = 2**40, 2**60
MOST_OBJECTS_OPENED = 2**24  # objects that all memories of transactions have together
MOST_UNITS_PER_S, MOST_PASSES, MOST_MISSES, MOST_HZ = 2**47, 2**32, 2**40, 2**40
MOST_PHASE_ROWS = 100_000  # rows of a result that count the runs of phases
BARGED_PS = 10**9  # how long an actor waits at most until a release hands a barging lock over to the actor
CHUNK_BYTES = 2**16  # the size of the pieces of memory that caches hold

# ---- the names of the counters of a run: of each worker, and of each synchronisation object (model 6) ---------------

COUNTS = {  # counters of each worker
    "tasks": "bodies run, the root included, but no parts of teams",
    "steal_attempts": "probes by levels other than `own`",
    "steal_success": "of which at least one task was taken",
    "steal_attempts_remote": "at queues of another node",
    "steal_success_remote": "",
    "tasks_stolen": "tasks taken",
    "no_victim": "rounds in which no queue was probed",
    "commits": "transactions that ended",
    "aborts": "attempts of transactions that met a conflict",
    "wakeups": "sleeps of a worker without a task that another worker ended",
    "wakeups_useless": "after which the worker slept again without a task",
}
TIMES = {  # parts of a worker's time, ps
    "work_local_ps": "work as if all bytes were local",
    "inflation_numa_ps": "what remote bytes add to it; of threads: what they are pretended to add",
    "inflation_contention_ps": "what others on the way to memory add",
    "inflation_smt_ps": "what others on the core add",
    "overhead_ps": "push, pop, join, take, page faults, waits for locks",
    "line_owner_ps": "waits for cache lines at pushes, pops and joins, if lines are served",
    "line_thief_ps": "waits for cache lines at probes and takes, likewise",
    "idle_steal_ps": "probing",
    "idle_backoff_ps": "waiting after fruitless rounds",
    "idle_barrier_ps": "",
    "parked_ps": "",
    "asleep_ps": "asleep because there was no task",
    "wasted_ps": "attempts of transactions that aborted",
}
SYNC_COUNTS = {  # counters of each synchronisation object
    "acquisitions": "",
    "handoffs_local": "its line went to another worker of the node",
    "handoffs_remote": "or of another node",
    "wait_ps": "",
    "hold_ps": "",
}
TRAFFIC = {  # kinds of bytes between nodes; in C++ under these names
    "read": "FETCHED",
    "ownership": "OWNED",
    "written": "WRITTEN",
    "cache": "CACHED",  # bytes from cache to cache
}

# ---- names in C and C++ --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Names:
    """The name of an enumeration in C, ``enum type`` with values ``prefix_NAME``, and in C++.

    ``cpp`` is the C++ type and ``cpp_names`` the C++ names of values that differ from the Python names. A choice of
    words is a scope in C++, an IntEnum is not.
    """

    values: Any  # an IntEnum, or a Literal of words
    type: str
    prefix: str
    cpp: str = ""
    cpp_names: tuple[str, ...] = ()

    @property
    def members(self) -> dict[str, int]:
        """Return the values by their names in C, without the prefix."""
        if self.of_words:
            return {word.upper().replace("-", "_"): at for at, word in enumerate(self.words)}
        return {member.name: int(member) for member in self.values}

    @property
    def words(self) -> tuple[str, ...]:
        """Return the values as users write them."""
        return get_args(self.values) or tuple(member.name.lower() for member in self.values)

    @property
    def of_words(self) -> bool:
        """Return whether the values are words in Python, not numbers."""
        return bool(get_args(self.values))


ENUMERATIONS = (
    Names(Op, "ns_op", "NS_OP", "Op"),
    Names(Kind, "ns_row_kind", "NS_ROW", "Kind", ("TASK", "CALLED", "IMPLICIT")),
    Names(Mode, "ns_use", "NS_USE", "AccessMode"),
    Names(Deal, "ns_deal", "NS_DEAL"),
    Names(Tier, "ns_tier", "NS_TIER", "Tier"),
    Names(
        Role,
        "ns_sync_role",
        "NS_SYNC",
        "Role",
        ("LOCK_WORD", "ATOMIC_WORD", "CONDITION_WORD", "BARRIER_WORD", "OBJECTS_WORD"),
    ),
    Names(Anchor, "ns_anchor", "NS_ANCHOR"),
    Names(Pick, "ns_pick", "NS_PICK"),
    Names(Visit, "ns_visit", "NS_VISIT"),
    Names(Reach, "ns_reach", "NS_REACH"),
    Names(AmountKind, "ns_amount_kind", "NS_AMOUNT"),
    Names(NodeRank, "ns_node_rank", "NS_RANK"),
    Names(Counted, "ns_counted", "NS_COUNT"),
    Names(Weigh, "ns_weigh", "NS_WEIGH"),
    Names(End, "ns_end", "NS_END"),
    Names(Full, "ns_full", "NS_FULL"),
    Names(JoinKind, "ns_join_kind", "NS_JOIN", "Join"),
    Names(ProducerKind, "ns_producer_kind", "NS_PRODUCER", "Maker"),
    Names(ThresholdRule, "ns_threshold_rule", "NS_RULE"),
    Names(ThresholdTime, "ns_threshold_time", "NS_THRESHOLDS", "ThresholdTime"),
    Names(LockName, "ns_lock_kind", "NS_LOCK"),
    Names(BarrierName, "ns_barrier_kind", "NS_BARRIER"),
    Names(CacheModel, "ns_cache_model", "NS_CACHE", "CacheModel"),
    Names(ContentionModel, "ns_contention", "NS_CONTENTION", "Contention"),
    Names(LineName, "ns_line_rule", "NS_LINES"),
    Names(RecheckRule, "ns_recheck_rule", "NS_RECHECK"),
    Names(WakeRule, "ns_wake_rule", "NS_WAKE"),
    Names(WhomRule, "ns_whom_rule", "NS_WHOM"),
    Names(ChainRule, "ns_chain_rule", "NS_CHAIN"),
    Names(CapRule, "ns_cap_rule", "NS_CAP"),
)

CONSTANTS: dict[str, int] = {  # in C: NS_ and the name
    name: value for name, value in list(globals().items()) if name.isupper() and isinstance(value, int)
}
