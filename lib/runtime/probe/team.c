#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "numasim/runtime.h"
#include "numasim/topology.h"
#include "platform/atomics.h"
#include "probe/probe.h"

typedef struct {
    NS_OWN_LINE ns_atomic_u32 arrived;
    NS_OWN_LINE uint32_t members;
    ns_team_body *body;
    void *context;
} team;

typedef struct {
    NS_OWN_LINE team *team;
    uint32_t index, cpu;
    pthread_t thread;
    double start_ns, end_ns;
    int error;
    bool preempted;
} member;
_Static_assert(sizeof(member) % NS_LINE_BYTES == 0, "members are written by different threads");

uint32_t ns_team_of_cores(const ns_topology *topology, uint32_t node, uint32_t *cpu) {
    uint32_t count = 0;
    for (uint32_t at = 0; at < topology->cpu_count && count < NS_TEAM_MOST; at++) {
        const ns_cpu *one = &topology->cpu[at];
        if ((node == NS_ANY_NODE || one->node == node) && one->sibling == 0) cpu[count++] = one->id;
    }
    return count;
}

long ns_preemptions(void) {
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw;
}

static void wait_for_all(team *self) {
    /* acquire, release: when the members start, each sees all that the others did before they arrived */
    ns_atomic_u32_fetch_add(&self->arrived, 1, memory_order_acq_rel);
    for (uint32_t looks = 1; ns_atomic_u32_load(&self->arrived, memory_order_acquire) < self->members; looks++) {
        if (looks % 1024 == 0) {
            ns_yield(); /* a member may still wait for a processor */
        } else {
            ns_pause();
        }
    }
}

static void *run_member(void *argument) {
    member *self = argument;
    self->error = ns_cpu_pin(self->cpu);
    wait_for_all(self->team);
    const long before = ns_preemptions();
    self->start_ns = ns_now_ns();
    self->team->body(self->team->context, self->index);
    self->end_ns = ns_now_ns();
    self->preempted = ns_preemptions() != before;
    return NULL;
}

static int conclude(const member *all, uint32_t members, ns_team_outcome *outcome) {
    double start_ns = all->start_ns, end_ns = all->end_ns;
    int error = NS_OK;
    outcome->preempted = false;
    for (uint32_t at = 0; at < members; at++) {
        if (all[at].start_ns < start_ns) start_ns = all[at].start_ns;
        if (all[at].end_ns > end_ns) end_ns = all[at].end_ns;
        outcome->preempted = outcome->preempted || all[at].preempted;
        if (all[at].error) error = all[at].error;
    }
    outcome->span_ns = end_ns - start_ns;
    return error;
}

int ns_team_run(const uint32_t *cpu, uint32_t members, ns_team_body *body, void *context, ns_team_outcome *outcome) {
    if (members == 0 || members > NS_TEAM_MOST) return NS_ERROR_OPTION;
    team shared = {.members = members, .body = body, .context = context};
    member *all = aligned_alloc(NS_LINE_BYTES, members * sizeof *all);
    if (!all) return NS_ERROR_MEMORY;
    uint32_t started = 1;
    for (uint32_t at = 0; at < members; at++) all[at] = (member){.team = &shared, .index = at, .cpu = cpu[at]};
    while (started < members && !pthread_create(&all[started].thread, NULL, run_member, &all[started])) started++;
    const bool whole = started == members;
    if (!whole) {
        /* release: the waiting threads see that no more threads come; they run the body, and the outcome is
         * discarded */
        ns_atomic_u32_fetch_add(&shared.arrived, members - started, memory_order_release);
    }
    run_member(&all[0]);
    for (uint32_t at = 1; at < started; at++) pthread_join(all[at].thread, NULL);
    const int error = whole ? conclude(all, members, outcome) : NS_ERROR_THREAD;
    free(all);
    return error;
}
