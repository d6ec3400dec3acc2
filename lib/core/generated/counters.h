/* Generated from numasim/schema by `python -m numasim.schema.generate_c`: not to be edited. */
#pragma once

#include <stdint.h>

/* What is counted:
 *   tasks: bodies run, the root included, but no parts of teams
 *   steal_attempts: probes by levels other than `own`
 *   steal_success: of which at least one task was taken
 *   steal_attempts_remote: at queues of another node
 *   tasks_stolen: tasks taken
 *   no_victim: rounds in which no queue was probed
 *   commits: transactions that ended
 *   aborts: attempts of transactions that met a conflict
 *   wakeups: sleeps of a worker without a task that another worker ended
 *   wakeups_useless: after which the worker slept again without a task
 *   work_local_ps: work as if all bytes were local
 *   inflation_numa_ps: what remote bytes add to it; of threads: what they are pretended to add
 *   inflation_contention_ps: what others on the way to memory add
 *   inflation_smt_ps: what others on the core add
 *   overhead_ps: push, pop, join, take, page faults, waits for locks
 *   line_owner_ps: waits for cache lines at pushes, pops and joins, if lines are served
 *   line_thief_ps: waits for cache lines at probes and takes, likewise
 *   idle_steal_ps: probing
 *   idle_backoff_ps: waiting after fruitless rounds
 *   asleep_ps: asleep because there was no task
 *   wasted_ps: attempts of transactions that aborted
 *   handoffs_local: its line went to another worker of the node
 *   handoffs_remote: or of another node
 */

#define NS_EACH_COUNTER(EACH) \
    EACH(tasks, TASKS) \
    EACH(steal_attempts, STEAL_ATTEMPTS) \
    EACH(steal_success, STEAL_SUCCESS) \
    EACH(steal_attempts_remote, STEAL_ATTEMPTS_REMOTE) \
    EACH(steal_success_remote, STEAL_SUCCESS_REMOTE) \
    EACH(tasks_stolen, TASKS_STOLEN) \
    EACH(no_victim, NO_VICTIM) \
    EACH(commits, COMMITS) \
    EACH(aborts, ABORTS) \
    EACH(wakeups, WAKEUPS) \
    EACH(wakeups_useless, WAKEUPS_USELESS) \
    EACH(work_local_ps, WORK_LOCAL_PS) \
    EACH(inflation_numa_ps, INFLATION_NUMA_PS) \
    EACH(inflation_contention_ps, INFLATION_CONTENTION_PS) \
    EACH(inflation_smt_ps, INFLATION_SMT_PS) \
    EACH(overhead_ps, OVERHEAD_PS) \
    EACH(line_owner_ps, LINE_OWNER_PS) \
    EACH(line_thief_ps, LINE_THIEF_PS) \
    EACH(idle_steal_ps, IDLE_STEAL_PS) \
    EACH(idle_backoff_ps, IDLE_BACKOFF_PS) \
    EACH(idle_barrier_ps, IDLE_BARRIER_PS) \
    EACH(parked_ps, PARKED_PS) \
    EACH(asleep_ps, ASLEEP_PS) \
    EACH(wasted_ps, WASTED_PS)

typedef struct ns_counters {
    int64_t tasks;
    int64_t steal_attempts;
    int64_t steal_success;
    int64_t steal_attempts_remote;
    int64_t steal_success_remote;
    int64_t tasks_stolen;
    int64_t no_victim;
    int64_t commits;
    int64_t aborts;
    int64_t wakeups;
    int64_t wakeups_useless;
    int64_t work_local_ps;
    int64_t inflation_numa_ps;
    int64_t inflation_contention_ps;
    int64_t inflation_smt_ps;
    int64_t overhead_ps;
    int64_t line_owner_ps;
    int64_t line_thief_ps;
    int64_t idle_steal_ps;
    int64_t idle_backoff_ps;
    int64_t idle_barrier_ps;
    int64_t parked_ps;
    int64_t asleep_ps;
    int64_t wasted_ps;
} ns_counters;

enum { NS_COUNTER_COUNT = 24, NS_SYNC_COUNTER_COUNT = 5 };

#define NS_EACH_SYNC_COUNTER(EACH) \
    EACH(acquisitions, ACQUISITIONS) \
    EACH(handoffs_local, HANDOFFS_LOCAL) \
    EACH(handoffs_remote, HANDOFFS_REMOTE) \
    EACH(wait_ps, WAIT_PS) \
    EACH(hold_ps, HOLD_PS)
