/* What the rules of search and execution know of a worker, in every engine: the engines' own records begin with it. */
#ifndef NUMASIM_EXECUTION_WORKER_STATE_H
#define NUMASIM_EXECUTION_WORKER_STATE_H

#include "generated/counters.h"
#include "policy/round.h"

typedef struct {
    int64_t owed_ps; /* overhead to be paid with the next timed step */
    uint32_t id;
    int32_t node;
    int32_t own;     /* its own queue, or NS_UNKNOWN */
    bool own_back;   /* which end of that it takes from */
    bool overflowed; /* its own queue has been full, and it executes what it spawns */
    /* where it stands in its search */
    bool idle, probed, round_goes_on, probes_nobody, thresholds_known;
    uint32_t level, target; /* of its probe */
    int64_t fails;          /* fruitless rounds (or probes) in a row */
    uint64_t lap_begin;     /* how many victims it had drawn when the first of them had failed: ns_begin_lap */
    /* where its spawn order adapts: the present one, spawns and thefts when it was last decided */
    bool goes_first;
    int64_t spawns, robbed_before;
    int64_t failed, failed_remote; /* attempts of the open idle episode */
    uint32_t held[2], held_count;  /* the locks that its search holds */
    ns_counters counters;
    ns_round round;
} ns_worker_state;

/* Bring a record that is all zero to what a worker is at the start of a run. */
static inline void ns_worker_start(ns_worker_state *self, const ns_full_plan *plan, uint32_t id) {
    const uint32_t own = plan->steal.own[id];
    self->id = id;
    self->node = plan->node.at[id];
    self->own = own == NS_NO_QUEUE ? NS_UNKNOWN : (int32_t)own;
    self->goes_first = plan->adaptive.work_first;
    self->own_back = own != NS_NO_QUEUE && plan->steal.queues[own].own_end != 0;
}

/* Let it pay what it owes; the time that this takes. */
static inline int64_t ns_pay_owed(ns_worker_state *w) {
    const int64_t owed_ps = w->owed_ps;
    if (!owed_ps) return 0;
    w->owed_ps = 0;
    w->counters.overhead_ps += owed_ps;
    return owed_ps;
}

/* Count work that took `total_ps`, `local_ps` if all its bytes were local (model 6.4). */
static inline void ns_count_work(ns_counters *self, int64_t total_ps, int64_t local_ps) {
    self->work_local_ps += local_ps;
    self->inflation_numa_ps += total_ps - local_ps;
}

#endif
