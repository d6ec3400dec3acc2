#include "sync/barriers.h"

#include <stdlib.h>

#include "base/wide.h"

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

static int by_worker(const void *a, const void *b) {
    const ns_arrival *one = a, *other = b;
    return (one->worker > other->worker) - (one->worker < other->worker);
}

static int by_time(const void *a, const void *b) {
    const ns_arrival *one = a, *other = b;
    if (one->time_ps != other->time_ps) return one->time_ps < other->time_ps ? -1 : 1;
    return by_worker(a, b);
}

static int by_node(const void *a, const void *b) {
    const ns_arrival *one = a, *other = b;
    if (one->node != other->node) return one->node < other->node ? -1 : 1;
    return by_time(a, b);
}

static void sort(ns_arrival *arrivals, uint32_t count, int (*order)(const void *, const void *)) {
    qsort(arrivals, count, sizeof *arrivals, order);
}

/* Return the time at which all parties have increased a counter on `line`, one by one in the order of `arrivals`. */
static int64_t count_in(const ns_transfers *transfers, ns_line *line, const ns_arrival *arrivals, uint32_t count) {
    int64_t now = 0;
    for (uint32_t i = 0; i < count; i++) {
        now = ns_sum(later(now, arrivals[i].time_ps), ns_line_move(transfers, line, arrivals[i].worker));
    }
    return now;
}

/* Let all parties but the line's owner, which has written the line at `now`, read the line one by one. Sets `leave_ps`
 * of the readers. The last reader is the line's owner then. */
static void read_out(const ns_transfers *transfers, ns_line *line, int64_t now, ns_arrival *readers, uint32_t count) {
    const uint32_t writer = line->owner;
    for (uint32_t i = 0; i < count; i++) {
        if (readers[i].worker == writer) continue;
        line->owner = writer;
        now = ns_sum(now, ns_line_move(transfers, line, readers[i].worker));
        readers[i].leave_ps = now;
    }
}

/* All parties count themselves on one line. The last party opens the barrier on it, and the other parties read it. */
static int64_t central(const ns_transfers *transfers, ns_line *line, ns_arrival *arrivals, uint32_t count) {
    sort(arrivals, count, by_time);
    const int64_t opened = count_in(transfers, line, arrivals, count);
    arrivals[count - 1].leave_ps = opened;
    sort(arrivals, count, by_worker);
    read_out(transfers, line, opened, arrivals, count);
    return opened;
}

/* Each party writes its own line. The lowest party reads all these lines, and opens the barrier on the shared line. */
static int64_t flag(const ns_transfers *transfers, ns_barrier *barrier, ns_arrival *arrivals, uint32_t count) {
    sort(arrivals, count, by_worker);
    const uint32_t master = arrivals[0].worker;
    int64_t now = arrivals[0].time_ps;
    for (uint32_t i = 1; i < count; i++) {
        ns_line *line = &barrier->of_worker[arrivals[i].worker];
        const int64_t written = ns_sum(arrivals[i].time_ps, ns_line_move(transfers, line, arrivals[i].worker));
        now = ns_sum(later(now, written), ns_line_move(transfers, line, master));
    }
    now = ns_sum(now, ns_line_move(transfers, &barrier->shared, master));
    arrivals[0].leave_ps = now;
    read_out(transfers, &barrier->shared, now, arrivals, count);
    return now;
}

/* Party i waits until parties 2 i + 1 and 2 i + 2 have written their lines, and later releases them by these lines. */
static int64_t tree(const ns_transfers *transfers, ns_barrier *barrier, ns_arrival *arrivals, uint32_t count) {
    sort(arrivals, count, by_worker);
    for (uint32_t i = count - 1; i > 0; i--) {
        ns_arrival *child = &arrivals[i], *parent = &arrivals[(i - 1) / 2];
        ns_line *line = &barrier->of_worker[child->worker];
        const int64_t written = ns_sum(child->time_ps, ns_line_move(transfers, line, child->worker));
        parent->time_ps = ns_sum(later(parent->time_ps, written), ns_line_move(transfers, line, parent->worker));
    }
    const int64_t opened = arrivals[0].time_ps;
    arrivals[0].leave_ps = opened;
    for (uint32_t i = 1; i < count; i++) { /* `time_ps`: when a party can write to its next child */
        ns_arrival *child = &arrivals[i], *parent = &arrivals[(i - 1) / 2];
        ns_line *line = &barrier->of_worker[child->worker];
        parent->time_ps = ns_sum(parent->time_ps, ns_line_move(transfers, line, child->worker));
        child->leave_ps = child->time_ps = parent->time_ps;
    }
    return opened;
}

static uint32_t end_of_node(const ns_arrival *arrivals, uint32_t from, uint32_t count) {
    uint32_t end = from;
    while (end < count && arrivals[end].node == arrivals[from].node) end++;
    return end;
}

/* The parties of each node count themselves on a line of the node; the last party of each node goes on to `central`. */
static int64_t per_domain(const ns_transfers *transfers, ns_barrier *barrier, ns_arrival *arrivals, uint32_t count,
                          ns_arrival *leaders) {
    sort(arrivals, count, by_node);
    uint32_t domains = 0;
    for (uint32_t from = 0, end; from < count; from = end) {
        end = end_of_node(arrivals, from, count);
        ns_line *line = &barrier->of_node[arrivals[from].node];
        leaders[domains] = arrivals[end - 1];
        leaders[domains++].time_ps = count_in(transfers, line, arrivals + from, end - from);
        sort(arrivals + from, end - from, by_worker);
    }
    const int64_t opened = central(transfers, &barrier->shared, leaders, domains);
    sort(leaders, domains, by_node);
    for (uint32_t from = 0, domain = 0, end; from < count; from = end, domain++) {
        end = end_of_node(arrivals, from, count);
        read_out(transfers, &barrier->of_node[arrivals[from].node], leaders[domain].leave_ps, arrivals + from,
                 end - from);
        for (uint32_t i = from; i < end; i++) {
            if (arrivals[i].worker == leaders[domain].worker) arrivals[i].leave_ps = leaders[domain].leave_ps;
        }
    }
    return opened;
}

int64_t ns_barrier_open(enum ns_barrier_kind kind, const ns_transfers *transfers, ns_barrier *barrier,
                        ns_arrival *arrivals, uint32_t count, ns_arrival *leaders) {
    switch (kind) {
        case NS_BARRIER_CENTRAL: return central(transfers, &barrier->shared, arrivals, count);
        case NS_BARRIER_FLAG: return flag(transfers, barrier, arrivals, count);
        case NS_BARRIER_TREE: return tree(transfers, barrier, arrivals, count);
        default: return per_domain(transfers, barrier, arrivals, count, leaders);
    }
}
