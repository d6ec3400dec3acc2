/* What pages take: their first touch, by one thread and by all cores at once, which share the address space; and moving
 * one to another node.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "numasim/runtime.h"
#include "probe/probe.h"

enum { PAGE_BYTES = 4096, PAGES = 256, MOVE = 2 }; /* MOVE: MPOL_MF_MOVE */

/* ---- first touch ------------------------------------------------------------------------------------------------- */

typedef struct {
    volatile char *pages; /* [members][PAGES] */
    size_t bytes;
} fresh;

static void renew(void *context) {
    fresh *self = context;
    madvise((void *)self->pages, self->bytes, MADV_DONTNEED); /* the next touch faults again */
}

static void touch(void *context, uint32_t member) {
    fresh *self = context;
    volatile char *first = self->pages + (size_t)member * PAGES * PAGE_BYTES;
    for (size_t page = 0; page < PAGES; page++) first[page * PAGE_BYTES] = 1;
}

/* The first hardware thread of every core; returns how many. */
static uint32_t all_cores(const ns_topology *topology, uint32_t *cpu) {
    uint32_t count = 0;
    for (uint32_t at = 0; at < topology->cpu_count && count < NS_TEAM_MOST; at++) {
        if (topology->cpu[at].sibling == 0) cpu[count++] = topology->cpu[at].id;
    }
    return count;
}

void ns_probe_faults(ns_probe *self) {
    uint32_t cpu[NS_TEAM_MOST];
    const uint32_t cores = all_cores(self->topology, cpu);
    fresh area = {.bytes = (size_t)cores * PAGES * PAGE_BYTES};
    void *pages = mmap(NULL, area.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        ns_probe_miss(self, "page_fault", NULL, "memory is short");
        return;
    }
    madvise(pages, area.bytes, MADV_NOHUGEPAGE);
    area.pages = pages;
    const ns_subject together = {"page_fault_together", NULL, "ns", NS_PROBE_NOWHERE, NS_PROBE_NOWHERE};
    ns_probe_alone(self, "page_fault",
                   &(ns_sampling){.body = touch, .context = &area, .operations = PAGES, .prepare = renew});
    if (cores == 1) {
        ns_probe_miss(self, together.name, NULL, NS_PROBE_ONE_CORE);
    } else {
        ns_probe_sample(self, &together,
                        &(ns_sampling){.cpu = cpu,
                                       .members = cores,
                                       .body = touch,
                                       .context = &area,
                                       .operations = (double)cores * PAGES,
                                       .prepare = renew});
    }
    munmap(pages, area.bytes);
}

/* ---- migration --------------------------------------------------------------------------------------------------- */

typedef struct {
    void *page[PAGES];
    int home[PAGES], away[PAGES], status[PAGES]; /* nodes; what became of each page */
} removal;

static void move_to(removal *self, const int *nodes) {
    syscall(SYS_move_pages, 0, (unsigned long)PAGES, self->page, nodes, self->status, MOVE);
}

static void move_home(void *context) {
    removal *self = context;
    move_to(self, self->home);
}

static void move_away(void *context, uint32_t member) {
    removal *self = context;
    (void)member;
    move_to(self, self->away);
}

static double of_each_moved(const void *context, double span_ns) {
    const removal *self = context;
    for (int page = 0; page < PAGES; page++) {
        if (self->status[page] != self->away[page]) return NS_PROBE_WORTHLESS;
    }
    return span_ns / PAGES;
}

/* Two nodes that have memory; false where there are not as many. */
static bool two_nodes(const ns_topology *topology, int *home, int *away) {
    int found = 0;
    for (uint32_t at = 0; at < topology->node_count && found < 2; at++) {
        if (topology->node[at].memory_bytes) *(found++ ? away : home) = (int)topology->node[at].id;
    }
    return found == 2;
}

void ns_probe_migration(ns_probe *self) {
    int home = 0, away = 0;
    if (!two_nodes(self->topology, &home, &away)) {
        ns_probe_miss(self, "page_migration", NULL, "there is one node only");
        return;
    }
    const size_t bytes = (size_t)PAGES * PAGE_BYTES;
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    removal *moved = malloc(sizeof *moved);
    if (pages == MAP_FAILED || !moved) {
        ns_probe_miss(self, "page_migration", NULL, "memory is short");
    } else {
        madvise(pages, bytes, MADV_NOHUGEPAGE);
        for (int page = 0; page < PAGES; page++) {
            moved->page[page] = (char *)pages + (size_t)page * PAGE_BYTES;
            *(volatile char *)moved->page[page] = 1;
            moved->home[page] = home;
            moved->away[page] = away;
        }
        ns_probe_alone(
            self, "page_migration",
            &(ns_sampling){
                .body = move_away, .context = moved, .prepare = move_home, .value = of_each_moved, .switches = true});
    }
    if (pages != MAP_FAILED) munmap(pages, bytes);
    free(moved);
}
