/* Reusable barriers. A party (one of the threads that meet) counts its arrivals; its n-th arrival waits until the
 * barrier has opened n times. A domain is the parties of one node. */
#include <stddef.h>
#include <string.h>

#include "numasim/locks.h"
#include "numasim/runtime.h"
#include "platform/near_memory.h"
#include "platform/waiting.h"

/* A central barrier of all parties, of the parties of one node, or of the nodes (one party of each). */
typedef struct {
    NS_OWN_LINE ns_atomic_u32 arrived; /* parties that have arrived since the last opening */
    NS_OWN_LINE ns_atomic_u32 open;    /* the number of the last opening */
    uint32_t parties;
} meeting;

/* The words of one party, in memory of its node. */
typedef struct {
    NS_OWN_LINE ns_atomic_u32 arrived; /* the number of the party's last arrival; other parties read it */
    NS_OWN_LINE ns_atomic_u32 go;      /* the number of the last opening for this party */
    uint32_t arrivals;                 /* the party's own count of its arrivals */
    uint32_t node;
} seat;

typedef struct {
    const char *name;
    void (*arrive)(ns_numa_barrier *self, uint32_t party, uint32_t number);
} operations;

struct ns_numa_barrier {
    const operations *operations;
    uint32_t parties, nodes;
    int32_t home;
    seat **seats;            /* [parties] each in memory of its party's node */
    meeting **domains;       /* [nodes] each in memory of its node; only per-domain */
    NS_OWN_LINE meeting all; /* the meeting of all parties; per-domain: of all nodes that have parties */
};

/* ---- the kinds --------------------------------------------------------------------------------------------------- */

/* Count an arrival. Return whether all parties have arrived. */
static bool count_in(meeting *self) {
    /* acquire, release: the last party sees all that the other parties did before */
    return ns_atomic_u32_fetch_add(&self->arrived, 1, memory_order_acq_rel) + 1 == self->parties;
}

static void open_meeting(meeting *self, uint32_t number) {
    /* relaxed: other parties see this store with the opening, before any party can arrive again */
    ns_atomic_u32_store(&self->arrived, 0, memory_order_relaxed);
    /* release: what all did before is seen by those that leave */
    ns_atomic_u32_store(&self->open, number, memory_order_release);
}

static void arrive_central(ns_numa_barrier *self, uint32_t party, uint32_t number) {
    if (count_in(&self->all))
        open_meeting(&self->all, number);
    else
        ns_wait_for(&self->all.open, number);
}

static void arrive_flag(ns_numa_barrier *self, uint32_t party, uint32_t number) {
    if (party) {
        /* release: party 0 sees all that this party did, and by way of party 0 all parties do */
        ns_atomic_u32_store(&self->seats[party]->arrived, number, memory_order_release);
        ns_wait_for(&self->all.open, number);
        return;
    }
    for (uint32_t other = 1; other < self->parties; other++) ns_wait_for(&self->seats[other]->arrived, number);
    ns_atomic_u32_store(&self->all.open, number, memory_order_release); /* as in open_meeting */
}

static void arrive_tree(ns_numa_barrier *self, uint32_t party, uint32_t number) {
    const uint32_t end = 2 * party + 3 < self->parties ? 2 * party + 3 : self->parties;
    for (uint32_t child = 2 * party + 1; child < end; child++) ns_wait_for(&self->seats[child]->arrived, number);
    if (party) {
        /* release: the parent party sees all that the parties below it did */
        ns_atomic_u32_store(&self->seats[party]->arrived, number, memory_order_release);
        ns_wait_for(&self->seats[party]->go, number);
    }
    for (uint32_t child = 2 * party + 1; child < end; child++)
        ns_atomic_u32_store(&self->seats[child]->go, number, memory_order_release); /* as in open_meeting */
}

static void arrive_per_domain(ns_numa_barrier *self, uint32_t party, uint32_t number) {
    meeting *domain = self->domains[self->seats[party]->node];
    if (!count_in(domain)) {
        ns_wait_for(&domain->open, number);
        return;
    }
    arrive_central(self, party, number);
    open_meeting(domain, number);
}

static const operations KIND[] = {
    {"central", arrive_central}, {"flag", arrive_flag}, {"tree", arrive_tree}, {"per-domain", arrive_per_domain}};
enum { KINDS = sizeof KIND / sizeof *KIND };

const char *ns_numa_barrier_kind(uint32_t at) { return at < KINDS ? KIND[at].name : NULL; }

int ns_numa_barrier_arrive(ns_numa_barrier *self, uint32_t party) {
    if (!self || party >= self->parties) return NS_ERROR_OPTION;
    self->operations->arrive(self, party, ++self->seats[party]->arrivals);
    return NS_OK;
}

/* ---- making a barrier -------------------------------------------------------------------------------------------- */

static int seat_parties(ns_numa_barrier *self, const uint32_t *party_node) {
    self->seats = ns_near_memory_allocate(self->parties * sizeof *self->seats, self->home);
    if (!self->seats) return NS_ERROR_MEMORY;
    self->nodes = 1;
    for (uint32_t party = 0; party < self->parties; party++) {
        const uint32_t node = party_node ? party_node[party] : 0;
        if (node >= NS_NUMA_NODES) return NS_ERROR_OPTION;
        if (node >= self->nodes) self->nodes = node + 1;
        self->seats[party] = ns_near_memory_allocate(sizeof(seat), (int32_t)node);
        if (!self->seats[party]) return NS_ERROR_MEMORY;
        self->seats[party]->node = node;
    }
    return NS_OK;
}

static int make_domains(ns_numa_barrier *self) {
    self->domains = ns_near_memory_allocate(self->nodes * sizeof *self->domains, self->home);
    if (!self->domains) return NS_ERROR_MEMORY;
    for (uint32_t node = 0; node < self->nodes; node++) {
        self->domains[node] = ns_near_memory_allocate(sizeof(meeting), (int32_t)node);
        if (!self->domains[node]) return NS_ERROR_MEMORY;
    }
    for (uint32_t party = 0; party < self->parties; party++) self->domains[self->seats[party]->node]->parties++;
    self->all.parties = 0;
    for (uint32_t node = 0; node < self->nodes; node++) self->all.parties += self->domains[node]->parties > 0;
    return NS_OK;
}

int ns_numa_barrier_create(ns_numa_barrier **self, const ns_numa_barrier_options *options) {
    if (self) *self = NULL;
    if (!self || !options) return NS_ERROR_OPTION;
    uint32_t kind = 0;
    while (kind < KINDS && strcmp(KIND[kind].name, options->kind ? options->kind : "per-domain")) kind++;
    if (kind == KINDS || !options->parties) return NS_ERROR_OPTION;
    ns_numa_barrier *made = ns_near_memory_allocate(sizeof *made, options->home);
    if (!made) return NS_ERROR_MEMORY;
    made->operations = &KIND[kind];
    made->parties = options->parties;
    made->home = options->home;
    made->all.parties = options->parties;
    int error = seat_parties(made, options->party_node);
    if (!error && made->operations->arrive == arrive_per_domain) error = make_domains(made);
    if (error)
        ns_numa_barrier_destroy(made);
    else
        *self = made;
    return error;
}

void ns_numa_barrier_destroy(ns_numa_barrier *self) {
    if (!self) return;
    for (uint32_t party = 0; self->seats && party < self->parties && self->seats[party]; party++)
        ns_near_memory_free(self->seats[party], sizeof(seat));
    for (uint32_t node = 0; self->domains && node < self->nodes; node++)
        ns_near_memory_free(self->domains[node], sizeof(meeting));
    ns_near_memory_free(self->domains, self->nodes * sizeof *self->domains);
    ns_near_memory_free(self->seats, self->parties * sizeof *self->seats);
    ns_near_memory_free(self, sizeof *self);
}
