/* Barriers: each time (episode) that threads meet, no thread passes before all have come, and each thread then sees all
 * that the threads did before. */
#include "explore.h"
#include "numasim/locks.h"
#include "platform/near_memory.h"

enum { PARTIES = 3, EPISODES = 2 };

static struct barrier_case {
    ns_numa_barrier *barrier;
    ns_atomic_u32 *mark[PARTIES]; /* the last episode that each party has reached */
} it;

static void make(const char *kind) {
    static const uint32_t nodes[PARTIES] = {0, 1, 0};
    const ns_numa_barrier_options options = {.kind = kind, .parties = PARTIES, .party_node = nodes};
    ns_explore_require(!ns_numa_barrier_create(&it.barrier, &options), "the barrier can be made");
    for (uint32_t id = 0; id < PARTIES; id++) it.mark[id] = ns_near_memory_allocate(sizeof *it.mark[id], 0);
}

static void meet(uint32_t id) {
    for (uint32_t episode = 1; episode <= EPISODES; episode++) {
        ns_atomic_u32_store(it.mark[id], episode, memory_order_relaxed); /* relaxed: only the barrier must order this
                                                                            store */
        ns_numa_barrier_arrive(it.barrier, id);
        for (uint32_t other = 0; other < PARTIES; other++) {
            ns_explore_forget(4 * episode + other);
            ns_explore_require(other == id || ns_atomic_u32_load(it.mark[other], memory_order_relaxed) >= episode,
                               "nobody passes a barrier before all have come");
        }
        ns_explore_forget(4 * episode + PARTIES);
    }
}

#define OF_KIND(kind, name) \
    static void make_##kind(void) { make(name); }
OF_KIND(central, "central")
OF_KIND(flag, "flag")
OF_KIND(tree, "tree")
OF_KIND(per_domain, "per-domain")

const ns_explore_case NS_BARRIER_CASES[] = {{"barrier/central", PARTIES, make_central, meet, NULL},
                                            {"barrier/flag", PARTIES, make_flag, meet, NULL},
                                            {"barrier/tree", PARTIES, make_tree, meet, NULL},
                                            {"barrier/per-domain", PARTIES, make_per_domain, meet, NULL},
                                            {.name = NULL}};
