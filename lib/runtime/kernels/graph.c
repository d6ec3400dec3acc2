/* Random fork-join graphs, run one after the other. Every task counts its runs: this shows lost and repeated tasks.
 *
 * Each task draws from a stream of random numbers of its own. Its number in the graph selects the stream. So a graph is
 * the same on every machine. (`numasim-runtime plan` runs the recorded task graph of a plan.) */
#include <stdatomic.h>
#include <stdlib.h>

#include "kernels/kernel.h"
#include "policy/draws.h"
#include "record/growing.h"

enum { DRAW_ARRIVAL = 8, MOST_ROWS = 8000000 };
enum { CHILDREN, HABITS, FIRST_TIME }; /* indices of the draws in a task's stream */
enum { WORKS_BETWEEN_SPAWNS = 1, WAITS_BETWEEN_SPAWNS = 2, WAITS_AT_END = 12 }; /* bits of the draw HABITS */

typedef struct {
    uint32_t children, size; /* size: the number of tasks in the subtree */
    _Atomic uint32_t ran;    /* how often the task has run */
} row;

typedef struct {
    uint64_t seed;
    ns_growing rows; /* a `row` for each task, in preorder */
} graph;

typedef struct {
    ns_state_memory memory;
    int64_t depth, width, seed, graphs, low_ps, high_ps;
    int64_t delay; /* `turns_per_ms` of `ns_delay_take` */
    graph *graph;  /* [graphs] */
} state;

static const ns_parameter PARAMETERS[] = {
    {"depth", NS_INTEGER, "8", 0, 200, NULL, "how deep a graph is", NS_AT(depth)},
    {"width", NS_INTEGER, "4", 1, 1000, NULL, "how many children a task has at most", NS_AT(width)},
    {"graph_seed", NS_INTEGER, "0", 0, INT64_MAX, NULL, "the seed of the first graph", NS_AT(seed)},
    {"graphs", NS_INTEGER, "1", 1, 1000000, NULL,
     "how many graphs are run; their seeds are graph_seed, graph_seed + 1, ...", NS_AT(graphs)},
    {"low_ns", NS_TIME, "100", 0, 1000000000000, NULL, "the least time of a segment", NS_AT(low_ps)},
    {"high_ns", NS_TIME, "1000", 0, 1000000000000, NULL, "the most time of a segment", NS_AT(high_ps)},
};

static uint64_t stream_of(const graph *self, uint64_t at) { return ns_base(self->seed, DRAW_ARRIVAL, at); }

static row *row_at(const graph *self, uint64_t at) { return (row *)self->rows.entries + at; }

/* ---- making graphs ----------------------------------------------------------------------------------------------- */

/* Draw the subtree of the next task, which is at depth `depth`, and add its rows to the graph. The root has at least
 * one child. Return NS_ERROR_OPTION if the graph has too many tasks. */
static int grow(graph *self, const state *of, int64_t depth) {
    const uint64_t at = self->rows.count;
    if (at == MOST_ROWS) return NS_ERROR_OPTION;
    if (!ns_growing_add(&self->rows, sizeof(row))) return NS_ERROR_MEMORY;
    const uint64_t width = (uint64_t)of->width, number = ns_draw(stream_of(self, at), CHILDREN);
    uint32_t children = 0;
    int error = NS_OK;
    if (depth < of->depth) children = (uint32_t)(at ? ns_below(number, width + 1) : 1 + ns_below(number, width));
    for (uint32_t child = 0; child < children && !error; child++) error = grow(self, of, depth + 1);
    *row_at(self, at) = (row){children, (uint32_t)(self->rows.count - at), 0};
    return error;
}

static int create(void *whole, ns_setting *setting) {
    state *self = whole;
    int error = NS_OK;
    if (self->low_ps > self->high_ps) return ns_setting_refuse(setting, "low_ns is above high_ns; swap them");
    if (setting->waits) self->delay = ns_delay_calibrate();
    self->graph = calloc((size_t)self->graphs, sizeof *self->graph);
    if (!self->graph) return NS_ERROR_MEMORY;
    for (int64_t at = 0; at < self->graphs && !error; at++) {
        self->graph[at].seed = ((uint64_t)self->seed + (uint64_t)at) & INT64_MAX;
        error = grow(&self->graph[at], self, 0);
    }
    if (error != NS_ERROR_OPTION) return error;
    return ns_setting_refuse(setting, "this graph has more than %d tasks; depth or width has to be smaller", MOST_ROWS);
}

static void release(void *whole) {
    state *self = whole;
    for (int64_t at = 0; self->graph && at < self->graphs; at++) free(self->graph[at].rows.entries);
    free(self->graph);
}

/* ---- running graphs ---------------------------------------------------------------------------------------------- */

typedef struct {
    const state *of;
    const graph *graph;
    uint64_t row; /* index in `graph` */
} task;

/* Spend the time of segment `number` of a task: a random time between `low_ps` and `high_ps`. */
static void take_segment(ns_task *self, const task *t, uint64_t number) {
    const uint64_t span = (uint64_t)(t->of->high_ps - t->of->low_ps) + 1;
    const uint64_t draw = ns_draw(stream_of(t->graph, t->row), FIRST_TIME + number);
    const int64_t picoseconds = t->of->low_ps + (int64_t)ns_below(draw, span);
    ns_delay_take(t->of->delay, picoseconds);
    if (self) ns_work(self, picoseconds);
}

/* Run a task. A draw determines whether the task works between its spawns, whether it waits between its spawns, and
 * whether it waits at its end and then works again. If `self` is NULL, spend only the time of its segments. */
static void run_row(ns_task *self, void *arguments) {
    const task *t = arguments;
    const uint64_t habits = ns_draw(stream_of(t->graph, t->row), HABITS);
    row *const own = row_at(t->graph, t->row);
    uint64_t segments = 0;
    task child = {t->of, t->graph, t->row + 1};
    /* relaxed: the counts are read after all tasks have ended */
    if (self) atomic_fetch_add_explicit(&own->ran, 1, memory_order_relaxed);
    take_segment(self, t, segments++);
    for (uint32_t number = 0; number < own->children; number++) {
        const uint64_t bits = habits >> (4 + 2 * (number % 24));
        if (self) ns_spawn(self, run_row, &child, sizeof child);
        child.row += row_at(t->graph, child.row)->size;
        if (habits & bits & WORKS_BETWEEN_SPAWNS) take_segment(self, t, segments++);
        if (self && (habits & WAITS_BETWEEN_SPAWNS) && (bits & 3) == 2) ns_join(self);
    }
    if (own->children && (habits & WAITS_AT_END)) {
        if (self) ns_join(self);
        take_segment(self, t, segments);
    }
}

static int run(void *whole, ns_pool *pool) {
    const state *self = whole;
    int error = NS_OK;
    for (int64_t at = 0; at < self->graphs && !error; at++) {
        error = ns_pool_run(pool, run_row, &(task){self, &self->graph[at], 0}, sizeof(task));
    }
    return error;
}

static void run_twin(void *whole) {
    const state *self = whole;
    for (const graph *of = self->graph; of < self->graph + self->graphs; of++) {
        for (uint64_t at = 0; at < of->rows.count; at++) run_row(NULL, &(task){self, of, at});
    }
}

static bool matches(const void *whole) {
    const state *self = whole;
    for (const graph *of = self->graph; of < self->graph + self->graphs; of++) {
        for (uint64_t at = 0; at < of->rows.count; at++) {
            if (atomic_load_explicit(&row_at(of, at)->ran, memory_order_relaxed) != 1) return false;
        }
    }
    return true;
}

const ns_kernel ns_graph_kernel = {
    .name = "graph",
    .meaning = "random fork-join graphs, of which every task runs exactly once",
    NS_KERNEL_COMMON,
    .create = create,
    .run = run,
    .release = release,
};
