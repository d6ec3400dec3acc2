/* Distances between hardware threads: the time to pass a cache line from one thread to another; the same while all
 * cores access the line; and the time from waking a sleeping thread until the woken thread runs. */
#include <time.h>

#include "platform/atomics.h"
#include "platform/waiting.h"
#include "probe/probe.h"

enum { ROUNDS = 1000, WAKES = 8, QUICK_PAIRS = 64 };
static const long PAUSES_NS = 10000000000; /* sum of all pauses if no sample is discarded */
static const long LONGEST_PAUSE_NS = 40000000;
static const double ASLEEP_NS = 60000; /* a thread that begins to sleep is surely asleep after this time */

/* ---- lines ------------------------------------------------------------------------------------------------------- */

typedef struct {
    NS_OWN_LINE ns_atomic_u64 ball;
    NS_OWN_LINE long pause_ns; /* pause between samples, in which a hypervisor may move hardware threads */
} court;

static void serve(void *context) {
    court *self = context;
    nanosleep(&(struct timespec){.tv_nsec = self->pause_ns}, NULL);
    ns_atomic_u64_store(&self->ball, 0, memory_order_relaxed); /* relaxed: the start of the team orders this store */
}

/* Each member waits for its turns, 2 k + member, and then gives the next turn to the other member. */
static void play(void *context, uint32_t member) {
    court *self = context;
    for (uint64_t turn = member; turn < 2 * ROUNDS; turn += 2) {
        /* relaxed: only the cache line itself is handed over */
        while (ns_atomic_u64_load(&self->ball, memory_order_relaxed) != turn) continue;
        ns_atomic_u64_store(&self->ball, turn + 1, memory_order_relaxed);
    }
}

static void probe_line(ns_probe *self, const ns_cpu *a, const ns_cpu *b, long pause_ns) {
    court shared = {.pause_ns = pause_ns};
    const uint32_t cpu[] = {a->id, b->id};
    const ns_subject transfer = {"line_transfer", "ns", a->id, b->id};
    ns_sampling rally = {.cpu = cpu, .members = 2, .body = play, .context = &shared, .operations = 2 * ROUNDS};
    rally.prepare = serve;
    rally.wanders = true;
    ns_probe_sample(self, &transfer, &rally);
}

/* Probe all pairs of hardware threads. If there are more than QUICK_PAIRS pairs, a quick probe takes only the pairs
 * with the first hardware thread. */
void ns_probe_lines(ns_probe *self) {
    const ns_topology *topology = self->topology;
    const uint32_t count = topology->cpu_count;
    const uint32_t all = count * (count - 1) / 2;
    const bool few = self->quick && all > QUICK_PAIRS;
    const long share_ns = PAUSES_NS / ((few ? count : all) + 1) / (long)self->wanted;
    const long pause_ns = share_ns < LONGEST_PAUSE_NS ? share_ns : LONGEST_PAUSE_NS;
    for (uint32_t a = 0; a < (few ? 1 : count); a++) {
        for (uint32_t b = a + 1; b < count; b++) probe_line(self, &topology->cpu[a], &topology->cpu[b], pause_ns);
    }
    if (topology->core_count == 1) ns_probe_miss(self, "line_transfer", NS_PROBE_ONE_CORE);
}

/* ---- lines that several threads want at once --------------------------------------------------------------------- */

enum { ADDITIONS = 2000 };

typedef struct {
    NS_OWN_LINE ns_atomic_u64 word;
} crowd;

static void add_often(void *context, uint32_t member) {
    crowd *self = context;
    for (int step = 0; step < ADDITIONS; step++)
        ns_atomic_u64_fetch_add(&self->word, 1, memory_order_relaxed); /* relaxed: only the line is wanted */
}

/* Probe the time for each addition if one hardware thread of each core adds to the same word all the time: the time for
 * which a line serves one request. */
void ns_probe_contention(ns_probe *self) {
    static crowd shared;
    ns_probe_all_cores(self, "line_contended",
                       &(ns_sampling){.body = add_often, .context = &shared, .operations = ADDITIONS, .wanders = true});
}

/* ---- waking ------------------------------------------------------------------------------------------------------ */

typedef struct {
    NS_OWN_LINE ns_atomic_u32 word;
    double called_ns[WAKES], returned_ns[WAKES], awake_ns[WAKES];
    const double *end_ns; /* the array of the times that end the measured quantity */
} bedroom;

static void lie_down(void *context) {
    bedroom *self = context;
    ns_atomic_u32_store(&self->word, 0, memory_order_relaxed); /* relaxed: the start of the team orders this store */
}

/* Let member 0 wake member 1 several times. */
static void wake(void *context, uint32_t member) {
    bedroom *self = context;
    for (uint32_t wake = 0; member == 1 && wake < WAKES; wake++) {
        /* relaxed: only the word itself is handed over */
        while (ns_atomic_u32_load(&self->word, memory_order_relaxed) == wake) ns_futex_wait(&self->word, wake);
        self->awake_ns[wake] = ns_now_ns();
    }
    for (uint32_t wake = 0; member == 0 && wake < WAKES; wake++) {
        const double since = ns_now_ns();
        while (ns_now_ns() - since < ASLEEP_NS) ns_pause();
        self->called_ns[wake] = ns_now_ns();
        ns_atomic_u32_store(&self->word, wake + 1, memory_order_relaxed); /* relaxed: only the word is passed */
        ns_futex_wake(&self->word, 1);
        self->returned_ns[wake] = ns_now_ns();
    }
}

/* Return the mean time from the start of a call that wakes to the entry of this call in `end_ns`. */
static double mean_until_end(const void *context, double span_ns) {
    const bedroom *self = context;
    double sum = 0;
    for (int at = 0; at < WAKES; at++) sum += self->end_ns[at] - self->called_ns[at];
    return sum / WAKES;
}

static void probe_wake(ns_probe *self, const ns_cpu *a, const ns_cpu *b) {
    bedroom shared = {0};
    const uint32_t cpu[] = {a->id, b->id};
    const ns_subject latency = {"wake", "ns", a->id, b->id}, call = {"wake_call", "ns", a->id, b->id};
    ns_sampling wakes = {.cpu = cpu, .members = 2, .body = wake, .context = &shared, .prepare = lie_down};
    wakes.value = mean_until_end;
    shared.end_ns = shared.awake_ns;
    ns_probe_sample(self, &latency, &wakes);
    shared.end_ns = shared.returned_ns;
    ns_probe_sample(self, &call, &wakes);
}

/* Probe wakes from the first hardware thread to another core of its node, and to one core of each other node. */
void ns_probe_wakes(ns_probe *self) {
    const ns_topology *topology = self->topology;
    uint32_t seen = UINT32_MAX;
    for (uint32_t at = 1; at < topology->cpu_count; at++) {
        const ns_cpu *cpu = &topology->cpu[at];
        if (cpu->core == topology->cpu[0].core || cpu->node == seen) continue;
        probe_wake(self, &topology->cpu[0], cpu);
        seen = cpu->node;
    }
    if (topology->core_count > 1) return;
    ns_probe_miss(self, "wake", NS_PROBE_ONE_CORE);
    ns_probe_miss(self, "wake_call", NS_PROBE_ONE_CORE);
}
