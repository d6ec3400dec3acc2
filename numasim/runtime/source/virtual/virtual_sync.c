#include "virtual/virtual_sync.h"

#include <string.h>

#include "numasim/runtime.h"

_Static_assert((int)NS_WORD_LOCK == NS_SYNC_LOCK && (int)NS_WORD_ATOMIC == NS_SYNC_ATOMIC &&
                   (int)NS_WORD_CONDITION == NS_SYNC_CONDITION && (int)NS_WORD_BARRIER == NS_SYNC_BARRIER,
               "the roles of programs are those of the core");

static void read_columns(ns_sync_plan *self, ns_field_reader *plan) {
    const ns_transfers *transfers = self->transfers;
    const int64_t last_node = (int64_t)transfers->nodes - 1;
    uint64_t count = 0;
    self->role = ns_field_reader_array(plan, "word_role", NS_FIELD_U8, NS_ANY_COUNT, &count);
    ns_field_reader_require(plan, count < NS_NOBODY, "word_role has too many entries");
    for (uint64_t at = 0; !plan->error && at < count; at++) {
        ns_field_reader_require(plan, self->role[at] <= NS_SYNC_BARRIER, "word_role[%u] is %u, which is no role",
                                (unsigned)at, self->role[at]);
    }
    self->home = ns_field_reader_i32(plan, "word_home", count, 0, last_node, NULL);
    self->worker_home = ns_field_reader_i32(plan, "worker_home", transfers->workers, 0, last_node, NULL);
    self->parties = ns_field_reader_i64(plan, "word_parties", count, 1, NS_MOST_WORKERS, NULL);
    self->count = plan->error ? 0 : (uint32_t)count;
}

static void read_rules(ns_sync_plan *self, ns_field_reader *plan) {
    static const char *const LOCK[] = {"tas", "ttas", "ticket", "mcs", "mutex", "cohort"};
    static const char *const BARRIER[] = {"central", "flag", "tree", "per-domain"};
    self->lock_kind = (enum ns_lock_kind)ns_field_reader_choice(plan, "lock_kind", LOCK, 6);
    self->barrier_kind = (enum ns_barrier_kind)ns_field_reader_choice(plan, "barrier_kind", BARRIER, 4);
    self->signal_ps = ns_field_reader_integer(plan, "signal_ps", 0, NS_MOST_COST_PS);
    self->rules = (ns_lock_rules){
        .fair = ns_field_reader_flag(plan, "lock_fair"),
        .batch = ns_field_reader_integer(plan, "lock_batch", 1, NS_LONGEST_PS),
        .spin_ps = ns_field_reader_integer(plan, "spin_ps", 0, NS_LONGEST_PS),
        .pause_ps = ns_field_reader_integer(plan, "pause_ps", 0, NS_MOST_COST_PS),
        .futex_ps = ns_field_reader_integer(plan, "futex_ps", 0, NS_MOST_COST_PS),
        .wake_ps = ns_field_reader_integer(plan, "wake_ps", 0, NS_MOST_COST_PS),
        .wake_remote_ps = ns_field_reader_integer(plan, "wake_remote_ps", 0, NS_MOST_COST_PS),
    };
}

int ns_virtual_sync_read(ns_sync_plan *self, ns_field_reader *plan, const ns_transfers *transfers) {
    *self = (ns_sync_plan){.transfers = transfers};
    read_columns(self, plan);
    read_rules(self, plan);
    return plan->error;
}

_Static_assert(sizeof(ns_sync_counts) == 5 * sizeof(int64_t), "a row of ns_report.words");

void ns_virtual_sync_report(const ns_sync *self, ns_report *report) {
    for (uint32_t word = 0; word < report->word_count; word++) {
        const ns_sync_counts row = ns_sync_count(self, word);
        memcpy(report->words + word * (sizeof row / sizeof(int64_t)), &row, sizeof row);
    }
}
