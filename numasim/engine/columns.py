"""The columns of a results table: name, group, label, unit and meaning of each, in the order of the table (model 6).

The order and groups of columns (`numasim.engine.result`), the labels of axes and reports, and the reference pages come
from this list.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from numasim.frozen import Frozen

Kind = Literal["text", "integer", "ratio"]


class Column(Frozen):
    """A column of a table. A ``ratio`` is a float, null where its denominator is 0; an ``integer`` has 64 bits."""

    name: str
    group: str
    label: str  # the short text of an axis, without the unit
    unit: str  # ``ps`` (picoseconds), ``B`` (bytes); empty for counts, ratios and text
    meaning: str  # the definition, a sentence
    kind: Kind = "integer"


_GROUPS: dict[str, tuple[tuple[str, str, str] | tuple[str, str, str, Kind], ...]] = {  # (name, label, meaning, kind)
    "identity": (
        ("run_id", "run",
         "Hash of all that is simulated: machine, workload, strategy, runtime, effects, workers and seed; runs "
         "of one id have equal results on every engine. Names, sources and comments do not enter.", "text"),
        ("spec_hash", "specification",
         "Hash of the specification of a sweep without its axes and repeats; a single run has none.", "text"),
        ("seed", "seed", "The seed of the specification, from which the seed of each repeat is drawn (model 1.4)."),
        ("repeat", "repeat",
         "Which repeat of its cell the run is, from 0; equal repeats of cells are compared in pairs."),
        ("engine", "engine", "The engine that simulated the run: native or reference, with equal results.", "text"),
        ("machine", "machine", "The name of the machine, or the value of the axis machine.", "text"),
        ("workload", "workload", "The name of the workload, or the value of the axis workload.", "text"),
        ("strategy", "strategy", "The name of the strategy, or the value of the axis strategy.", "text"),
        ("workers", "workers", "The number of workers, each on a hardware thread of its own."),
    ),
    "outcome": (
        ("makespan_ps", "makespan", "The end of the last phase: how long the simulated program takes."),
        ("serial_ps", "serial time",
         "The time of the whole program on worker 0 alone, with all bytes local, no overhead, on a core of the "
         "fastest kind."),
        ("speedup", "speedup", "The serial time divided by the makespan.", "ratio"),
        ("efficiency", "efficiency", "The speedup divided by the number of workers.", "ratio"),
        ("trace_hash", "trace hash",
         "Hash of the steals, wake-ups, idle episodes and barriers of the run, equal on all engines (model 1.3).",
         "text"),
        ("event_hash", "event hash",
         "Hash of all events of the run; null where not all of them are gone through (model 1.3).", "text"),
        ("tasks", "tasks",
         "Tasks and range items that finished; inline calls and implicit bodies, which cannot be stolen, do not "
         "count."),
        ("span_ps", "span",
         "The sum over phases of the longest chain of work, had all bytes been local: the time that unlimited "
         "workers would need."),
        ("work_ps", "total work", "The work of all workers, had all bytes been local: the sum of work_local_ps."),
    ),
    "steals": (
        ("steal_attempts", "steal attempts",
         "Probes of queues by steal levels other than `own`; with `runtime.backoff.empty: count` also rounds in "
         "which no queue was probed."),
        ("steal_success", "successful steals", "Steal attempts that took at least one task."),
        ("steal_false", "false steals", "Steal attempts that took no task."),
        ("steal_attempts_remote", "remote steal attempts",
         "Steal attempts at a queue whose home is another node than the thief's."),
        ("steal_success_remote", "successful remote steals",
         "Successful steals from a queue whose home is another node than the thief's."),
        ("steal_false_remote", "false remote steals", "Remote steal attempts that took no task."),
        ("tasks_stolen", "tasks stolen", "Tasks taken by steal attempts; one steal may take several."),
        ("no_victim", "rounds without a victim", "Rounds of a search in which no queue was probed."),
        ("steal_miss_ratio", "steal miss ratio", "False steals divided by steal attempts (thesis, Tables 3.1 and 3.2).",
         "ratio"),
        ("steal_remote_ratio", "remote steal ratio", "Remote steal attempts divided by steal attempts.", "ratio"),
    ),
    "memory": (
        ("bytes_local", "local bytes",
         "Bytes moved between a core and the memory of its own node: read, fetched for ownership and written "
         "back."),
        ("bytes_remote", "remote bytes",
         "Bytes moved between a core and the memory of another node: read, fetched for ownership and written "
         "back."),
        ("bytes_cache", "bytes from caches",
         "Bytes served by the second-level cache or the last-level cache of the core's own cache domain."),
        ("bytes_c2c", "bytes from other caches", "Bytes sent by last-level caches of other cache domains."),
        ("bytes_prefetched", "prefetched bytes",
         "Bytes that helper threads brought into last-level caches (model 4.11), which are among those moved."),
        ("bytes_prefetched_used", "used prefetched bytes",
         "Prefetched bytes that the worker found in the cache when it came to them."),
        ("page_faults", "page faults",
         "Pages that got their first home during the run, and those that items of ranges touched for the first "
         "time."),
        ("pages_unmapped", "pages given back", "Pages that items of ranges gave back to the operating system."),
        ("pages_migrated", "pages migrated", "Moves of pages from one home to another during the run."),
        ("imc_busy_max", "busiest controller",
         "The largest ratio, over the memory controllers, of bytes moved to bytes that could have moved in the "
         "makespan; above 1 only without contention.", "ratio"),
        ("link_busy_max", "busiest link",
         "The largest ratio, over the directed links, of bytes moved to bytes that could have moved in the "
         "makespan; above 1 only without contention.", "ratio"),
    ),
    "locks": (
        ("lock_acquisitions", "lock acquisitions", "How often locks were taken and atomic words were operated on."),
        ("lock_handoffs_local", "local handoffs",
         "How often a line of a lock, atomic word, condition or barrier went to another worker of the same node."),
        ("lock_handoffs_remote", "remote handoffs",
         "How often a line of a lock, atomic word, condition or barrier went to a worker of another node."),
        ("lock_wait_ps", "lock waits",
         "The time from asking for a lock or atomic word until it was granted, over all workers; it is overhead."),
    ),
    "rest": (
        ("wakeups", "wake-ups", "Sleeps of workers without a task that another worker ended (model 4.15)."),
        ("wakeups_useless", "useless wake-ups",
         "Wake-ups after which the worker slept again without having found a task."),
        ("cpu_ps", "processor time",
         "Time of all workers in which they did not sleep: the time split without parked and asleep time."),
    ),
    "transactions": (
        ("commits", "commits", "Transactions that ended (model 4.11)."),
        ("aborts", "aborts", "Attempts of transactions that met a conflict and began again."),
        ("abort_ratio", "abort ratio", "Aborts divided by attempts: commits and aborts.", "ratio"),
    ),
    "time": (
        ("work_local_ps", "work",
         "Time that segments and items would have taken with all bytes local and nothing holding them back, "
         "caches as they were."),
        ("inflation_numa_ps", "remote memory",
         "Time that the distance of memory adds to work; negative where a machine's remote memory is nearer."),
        ("inflation_contention_ps", "contention",
         "Time that others on the way to memory add to work: shares of bandwidth below 1, and queueing at "
         "controllers."),
        ("inflation_smt_ps", "SMT sharing",
         "Time that slower speeds add to work: a shared core, a lower clock, a slower kind of core, spread."),
        ("overhead_ps", "overhead",
         "Time of the runtime's own operations: putting, taking and joining tasks, page faults and migrations, "
         "waits for locks and atomic words."),
        ("line_owner_ps", "lines at queues",
         "Time spent waiting for cache lines at pushes, pops and joins, if lines are served (model 5.6)."),
        ("line_thief_ps", "lines at probes",
         "Time spent waiting for cache lines at probes and takes, if lines are served (model 5.6)."),
        ("idle_steal_ps", "stealing", "Time spent on probes of queues."),
        ("idle_backoff_ps", "back-off", "Time spent waiting after failed rounds or probes."),
        ("idle_barrier_ps", "barrier", "Time spent at barriers, and in serial phases in which the worker has no part."),
        ("parked_ps", "parked", "Time spent asleep in a blocking join or for a condition."),
        ("asleep_ps", "asleep",
         "Time spent asleep because there was no task, until the worker looks again (model 4.15)."),
        ("wasted_ps", "aborted attempts",
         "Time of attempts of transactions that aborted, from the begin of each to its abort."),
    ),
    "cost": (
        ("mode", "mode",
         "How the run could be simulated: skipping (only steals are events), bulk (some items are counted "
         "without events) or eager (every event is gone through).", "text"),
        ("events", "events", "Events that the engine went through; the only count that depends on the engine."),
    ),
}  # fmt: skip


def _unit(name: str) -> str:
    return "ps" if name.endswith("_ps") else "B" if name.startswith("bytes_") else ""


DESCRIBED: Mapping[str, Column] = MappingProxyType(
    {
        name: Column(name, group, label, _unit(name), meaning, *kind)
        for group, columns in _GROUPS.items()
        for name, label, meaning, *kind in columns
    }
)


def of_group(group: str) -> tuple[str, ...]:
    """Return the names of the columns of one group, in their order."""
    return tuple(column.name for column in DESCRIBED.values() if column.group == group)


def of_kind(kind: Kind) -> frozenset[str]:
    """Return the names of the columns of one kind."""
    return frozenset(column.name for column in DESCRIBED.values() if column.kind == kind)
