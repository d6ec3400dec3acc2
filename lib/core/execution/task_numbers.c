#include "execution/task_numbers.h"

#include <stdlib.h>

static bool asks_for_numbers(const ns_plan *steal) {
    for (uint32_t at = steal->steal_levels; at < steal->levels; at++) {
        if (steal->level[at].pick == NS_PICK_CYCLIC || steal->level[at].pick == NS_PICK_BLOCK) return true;
    }
    return false;
}

/* Whether some entries (rows) of the graph are calls or implicit tasks. A folded graph (equal subtrees share rows) has
 * none: a graph with such rows is not folded if the strategy asks for numbers. */
static bool have_others(const ns_graph *graph) {
    for (int64_t row = 0; row < graph->rows && !graph->folded; row++) {
        if (graph->kind.at[row] != NS_ROW_TASK) return true;
    }
    return false;
}

static bool count_tasks(ns_task_numbers *self) {
    const ns_graph *graph = &self->plan->graph;
    self->before = ns_pieces_take(&self->memory, (uint64_t)graph->rows + 1, sizeof *self->before);
    if (!self->before) return false;
    for (int64_t row = 0; row < graph->rows; row++)
        self->before[row + 1] = self->before[row] + (graph->kind.at[row] == NS_ROW_TASK);
    return true;
}

bool ns_task_numbers_create(ns_task_numbers *self, const ns_full_plan *plan) {
    *self = (ns_task_numbers){.plan = plan, .count = 1};
    if (!asks_for_numbers(&plan->steal)) return true;
    uint64_t most = 0;
    for (uint64_t at = 0; at < plan->phases.count; at++) {
        if (plan->phases.at[at].roots.count > most) most = plan->phases.at[at].roots.count;
    }
    self->tree = ns_pieces_take(&self->memory, most, sizeof *self->tree);
    return self->tree && (!have_others(&plan->graph) || count_tasks(self));
}

static int compare(const void *one, const void *other) {
    const int64_t a = ((const ns_numbered_tree *)one)->id, b = ((const ns_numbered_tree *)other)->id;
    return (a > b) - (a < b);
}

static int64_t tasks_before(const ns_task_numbers *self, int64_t id) { return self->before ? self->before[id] : id; }

void ns_task_numbers_start_phase(ns_task_numbers *self, const ns_phase *phase) {
    if (!self->tree) return;
    bool ascend = true;
    self->trees = phase->roots.count;
    self->count = 0;
    for (uint64_t r = 0; r < self->trees; r++) {
        const int64_t id = phase->ids.at[r], size = self->plan->graph.size.at[phase->roots.at[r]];
        self->tree[r] = (ns_numbered_tree){.id = id, .number = (int64_t)self->count};
        self->count += (uint64_t)(tasks_before(self, id + size) - tasks_before(self, id));
        ascend &= !r || self->tree[r - 1].id < id;
    }
    if (!ascend) qsort(self->tree, self->trees, sizeof *self->tree, compare);
}

uint64_t ns_task_number(const ns_task_numbers *self, int64_t id) {
    if (!self->trees) return 0;
    uint64_t at = 0, trees = self->trees; /* binary search for the last tree whose root's id is at most `id` */
    while (trees > 1) {
        const uint64_t half = trees / 2;
        at += self->tree[at + half].id <= id ? half : 0;
        trees -= half;
    }
    return (uint64_t)(self->tree[at].number + tasks_before(self, id) - tasks_before(self, self->tree[at].id));
}
