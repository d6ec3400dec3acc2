/* Loads that miss all caches, for each pair of a node with processors and a node with memory. The latency is measured
 * by following pointers in random order, the bandwidth by all cores of a node reading at once. Pages: the first touch,
 * by one thread and by all cores at once (which share the address space), and the migration to another node. */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/draws.h"
#include "probe/probe.h"

enum {
    LINE_BYTES = 64,
    HOPS = 4000,
    PAGE_BYTES = 4096,
    PAGES = 256,
    MOVE = 2, /* MPOL_MF_MOVE */
    CACHE_MULTIPLE = 4,
    PIECE_LINES = 1 << 17,
    PIECES = 8
};
static const size_t LEAST_BYTES = (size_t)32 << 20, MOST_BYTES = (size_t)1 << 30, MOST_QUICK_BYTES = (size_t)128 << 20;

typedef struct line line;
struct line {
    line *next;
    uint64_t place;
    char rest[LINE_BYTES - sizeof(line *) - sizeof(uint64_t)];
};
_Static_assert(sizeof(line) == LINE_BYTES, "one hop, one line");

typedef struct {
    line *lines; /* [count] all on one node */
    size_t count;
    line *at;                            /* the line that the pointer chase has reached */
    uint32_t team;                       /* number of threads that read at once */
    size_t piece;                        /* number of lines that each thread reads in one sample */
    size_t position;                     /* index of the first line that the first thread reads in this sample */
    volatile uint64_t sum[NS_TEAM_MOST]; /* [team] of the words that each thread has read */
} memory;

static memory buffer; /* too large for a stack */

/* Return four times the size of the largest cache, within limits: then at most a quarter of the loads hit a cache. */
static size_t bytes_beyond_caches(const ns_probe *self) {
    const size_t most = self->quick ? MOST_QUICK_BYTES : MOST_BYTES;
    size_t bytes = LEAST_BYTES;
    for (uint32_t at = 0; at < self->topology->cache_count; at++) {
        const size_t wanted = CACHE_MULTIPLE * (size_t)self->topology->cache[at].bytes;
        if (wanted > bytes) bytes = wanted;
    }
    return bytes < most ? bytes : most;
}

/* Link all lines in a random cycle (Sattolo's algorithm), so that no prefetcher can predict the order of the lines. */
static void link_lines(memory *self) {
    for (size_t at = 0; at < self->count; at++) self->lines[at].place = at;
    for (size_t last = self->count - 1; last > 0; last--) {
        const size_t other = ns_below(ns_draw(0, last), last);
        const uint64_t place = self->lines[last].place;
        self->lines[last].place = self->lines[other].place;
        self->lines[other].place = place;
    }
    for (size_t at = 0; at < self->count; at++) self->lines[at].next = &self->lines[self->lines[at].place];
    self->at = self->lines;
}

static void set_buffer(void *bare, size_t bytes) {
    buffer = (memory){.lines = bare, .count = bytes / LINE_BYTES};
    madvise(bare, bytes, MADV_HUGEPAGE); /* huge pages make address translations hit, so that only loads are timed */
    link_lines(&buffer);
}

static void hop(memory *self, size_t hops) {
    line *at = self->at;
    for (; hops > 0; hops--) at = at->next;
    self->at = at;
}

static void chase(void *context, uint32_t member) { hop(context, HOPS); }

static void read_share(void *context, uint32_t member) {
    memory *self = context;
    const uint64_t *word = (const uint64_t *)(const void *)(self->lines + self->position + member * self->piece);
    uint64_t sum[8] = {0};
    for (size_t at = 0; at < self->piece * (LINE_BYTES / sizeof *word); at += 8) {
        for (size_t lane = 0; lane < 8; lane++) sum[lane] += word[at + lane];
    }
    for (size_t lane = 1; lane < 8; lane++) sum[0] += sum[lane];
    self->sum[member] = sum[0];
}

/* Move on to the next lines. Samples are short, so that other programs disturb few of them. Each sample reads other
 * lines than the previous sample, so that no line is in a cache. */
static void move_on(void *context) {
    memory *self = context;
    const size_t all = self->team * self->piece;
    self->position += all;
    if (self->position + all > self->count) self->position = 0;
}

static double gigabytes_per_second(const void *context, double span_ns) {
    const memory *self = context;
    return (double)(self->team * self->piece * LINE_BYTES) / span_ns;
}

static void probe_pair(ns_probe *self, uint32_t from, const ns_node *to) {
    uint32_t cpu[NS_TEAM_MOST];
    const int64_t reader = self->topology->node[from].id;
    const uint32_t cores = ns_team_of_cores(self->topology, from, cpu);
    const ns_subject latency = {"memory_latency", "ns", reader, to->id};
    const ns_subject bandwidth = {"memory_bandwidth", "GB/s", reader, to->id};
    ns_probe_sample(self, &latency,
                    &(ns_sampling){.cpu = cpu, .members = 1, .body = chase, .context = &buffer, .operations = HOPS});
    buffer.team = cores;
    buffer.piece = (buffer.count < PIECES * PIECE_LINES * cores ? buffer.count / PIECES / cores : PIECE_LINES);
    ns_probe_sample(self, &bandwidth,
                    &(ns_sampling){.cpu = cpu,
                                   .members = cores,
                                   .body = read_share,
                                   .context = &buffer,
                                   .prepare = move_on,
                                   .value = gigabytes_per_second});
}

static void probe_node(ns_probe *self, const ns_node *to) {
    void *made = NULL;
    const size_t bytes = bytes_beyond_caches(self);
    if (to->memory_bytes && bytes > (size_t)to->memory_bytes / 2) {
        ns_probe_miss(self, "memory_latency", "a node has too little memory beside the caches");
        return;
    }
    const int error = ns_node_allocate(&made, to->id, bytes);
    const bool elsewhere = error && self->topology->node_count > 1;
    if (!made || elsewhere) {
        ns_probe_miss(self, "memory_latency", made ? "memory cannot be bound to its node" : "memory is short");
        ns_node_release(made, bytes);
        return;
    }
    set_buffer(made, bytes);
    for (uint32_t from = 0; from < self->topology->node_count; from++) {
        if (self->topology->node[from].cpu_count) probe_pair(self, from, to);
    }
    ns_node_release(made, bytes);
}

void ns_probe_memory(ns_probe *self) {
    for (uint32_t to = 0; to < self->topology->node_count; to++) {
        const ns_node *node = &self->topology->node[to];
        if (node->memory_bytes || self->topology->node_count == 1) probe_node(self, node);
    }
    if (self->topology->node_count == 1) {
        ns_probe_miss(self, "remote_memory", "there is one node only");
    }
}

/* ---- caches ------------------------------------------------------------------------------------------------------ */

static size_t bytes_within_last_level(const ns_topology *topology) {
    if (topology->cache_count < 2 || topology->cache[topology->cache_count - 1].level < 3) return 0;
    const ns_cache *last = &topology->cache[topology->cache_count - 1];
    const size_t wanted = CACHE_MULTIPLE * (size_t)last[-1].bytes, most = (size_t)last->bytes / 2;
    return wanted < most ? wanted : most;
}

/* Probe a pointer chase through four times the size of the second-level cache, or through half the size of the
 * last-level cache if this is smaller. Linking the lines has put the lines into the last-level cache. At most a quarter
 * of the loads hit a nearer cache. */
void ns_probe_cache(ns_probe *self) {
    const size_t bytes = bytes_within_last_level(self->topology);
    const ns_cpu *cpu = &self->topology->cpu[0];
    const char *name = "cache_latency";
    if (!bytes) {
        ns_probe_miss(self, name, "there is no third level of caches");
        return;
    }
    void *made = NULL;
    ns_node_allocate(&made, self->topology->node[cpu->node].id,
                     bytes); /* on any node, since the chase reads only from the cache */
    if (made) {
        set_buffer(made, bytes);
        hop(&buffer, 2 * buffer.count); /* brings lines that the linking evicted back into the cache */
        ns_probe_alone(self, name, &(ns_sampling){.body = chase, .context = &buffer, .operations = HOPS});
    } else {
        ns_probe_miss(self, name, "memory is short");
    }
    ns_node_release(made, bytes);
}

/* ---- pages ------------------------------------------------------------------------------------------------------- */

/* Map small pages for a probe. Return NULL, with a gap, if memory is short. */
static void *map_pages(ns_probe *self, const char *name, size_t bytes) {
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        ns_probe_miss(self, name, "memory is short");
        return NULL;
    }
    madvise(pages, bytes, MADV_NOHUGEPAGE);
    return pages;
}

/* ---- first touch ------------------------------------------------------------------------------------------------- */

typedef struct {
    volatile char *pages; /* [members][PAGES] */
    size_t bytes;
} fresh;

static void renew(void *context) {
    fresh *self = context;
    madvise((void *)self->pages, self->bytes, MADV_DONTNEED); /* the next touch of each page faults again */
}

static void touch(void *context, uint32_t member) {
    fresh *self = context;
    volatile char *first = self->pages + (size_t)member * PAGES * PAGE_BYTES;
    for (size_t page = 0; page < PAGES; page++) first[page * PAGE_BYTES] = 1;
}

void ns_probe_faults(ns_probe *self) {
    uint32_t cpu[NS_TEAM_MOST];
    const uint32_t cores = ns_team_of_cores(self->topology, NS_ANY_NODE, cpu);
    fresh area = {.bytes = (size_t)cores * PAGES * PAGE_BYTES};
    void *pages = map_pages(self, "page_fault", area.bytes);
    if (!pages) return;
    area.pages = pages;
    const ns_sampling touches = {.body = touch, .context = &area, .operations = PAGES, .prepare = renew};
    ns_probe_alone(self, "page_fault", &touches);
    ns_probe_all_cores(self, "page_fault_together", &touches);
    munmap(pages, area.bytes);
}

/* ---- migration --------------------------------------------------------------------------------------------------- */

typedef struct {
    void *page[PAGES];
    int home[PAGES], away[PAGES], status[PAGES]; /* node numbers; `status`: a page's node after a move, or an error */
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
    move_to(self, self->away);
}

static double of_each_moved(const void *context, double span_ns) {
    const removal *self = context;
    for (int page = 0; page < PAGES; page++) {
        if (self->status[page] != self->away[page]) return NS_PROBE_WORTHLESS;
    }
    return span_ns / PAGES;
}

/* Find two nodes with memory. Return false if fewer than two nodes have memory. */
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
        ns_probe_miss(self, "page_migration", "there is one node only");
        return;
    }
    const size_t bytes = (size_t)PAGES * PAGE_BYTES;
    void *pages = map_pages(self, "page_migration", bytes);
    removal moved;
    if (!pages) return;
    for (int page = 0; page < PAGES; page++) {
        moved.page[page] = (char *)pages + (size_t)page * PAGE_BYTES;
        *(volatile char *)moved.page[page] = 1;
        moved.home[page] = home;
        moved.away[page] = away;
    }
    ns_probe_alone(
        self, "page_migration",
        &(ns_sampling){
            .body = move_away, .context = &moved, .prepare = move_home, .value = of_each_moved, .switches = true});
    munmap(pages, bytes);
}
