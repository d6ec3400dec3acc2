"""The names of the counters of a run: of each worker, and of each synchronisation object (model 6)."""

from __future__ import annotations

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
SYNC_COUNTS = {  # of each synchronisation object
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
    "cache": "CACHED",  # from cache to cache
}
