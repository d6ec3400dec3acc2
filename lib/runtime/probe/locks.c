/* What each kind of lock takes: by itself, and where two cores want it all the time. */
#include "numasim/locks.h"

#include "numasim/runtime.h"
#include "probe/probe.h"

enum { TURNS = 500 };

typedef struct {
    ns_numa_lock *lock;
    uint32_t node[2];
} contest;

static void take_turns(void *context, uint32_t member) {
    const contest *self = context;
    for (int turn = 0; turn < TURNS; turn++) {
        ns_numa_lock_acquire(self->lock, self->node[member]);
        ns_numa_lock_release(self->lock, self->node[member]);
    }
}

static void probe_kind(ns_probe *self, const char *kind, contest *held, const uint32_t *cpu, uint32_t members) {
    const int64_t from = cpu[0], to = cpu[1];
    const ns_subject alone = {"lock_uncontended", kind, "ns", NS_PROBE_NOWHERE, NS_PROBE_NOWHERE};
    const ns_subject both = {"lock_contended", kind, "ns", from, to};
    ns_sampling turns = {.cpu = cpu, .members = 1, .body = take_turns, .context = held, .operations = TURNS};
    ns_probe_sample(self, &alone, &turns);
    if (members < 2) {
        ns_probe_miss(self, "lock_contended", kind, NS_PROBE_ONE_CORE);
    } else {
        turns.members = 2;
        turns.operations = 2 * TURNS;
        ns_probe_sample(self, &both, &turns);
    }
}

void ns_probe_locks(ns_probe *self) {
    const ns_topology *topology = self->topology;
    const int64_t other = ns_probe_other_core(self, 0);
    const ns_cpu *a = &topology->cpu[0], *b = &topology->cpu[other < 0 ? 0 : other];
    const uint32_t cpu[] = {a->id, b->id};
    const char *kind;
    for (uint32_t at = 0; (kind = ns_numa_lock_kind(at)); at++) {
        contest held = {.node = {a->node, b->node}};
        const ns_numa_lock_options options = {kind, topology->node_count, (int32_t)topology->node[a->node].id, 0, 0};
        const int error = ns_numa_lock_create(&held.lock, &options);
        if (error) {
            ns_probe_miss(self, "lock_uncontended", kind, ns_error_sentence(error));
        } else {
            probe_kind(self, kind, &held, cpu, other < 0 ? 1 : 2);
            ns_numa_lock_destroy(held.lock);
        }
    }
}
