#include "execution/live_subtrees.h"

#include <stdlib.h>

bool ns_live_create(ns_live_subtrees *self, const ns_full_plan *plan) {
    *self = (ns_live_subtrees){.gate = plan->steal.gate};
    if (!plan->counts_live) return true;
    const size_t rows = (size_t)plan->graph.rows + 1; /* no size is zero */
    self->live = calloc(plan->workers, sizeof *self->live);
    self->root = calloc(rows, sizeof *self->root);
    self->left = calloc(rows, sizeof *self->left);
    self->unit = calloc(rows, sizeof *self->unit);
    return self->live && self->root && self->left && self->unit;
}

void ns_live_destroy(ns_live_subtrees *self) {
    free(self->live);
    free(self->root);
    free(self->left);
    free(self->unit);
}

void ns_live_follow(ns_live_subtrees *self, const ns_graph *graph, const uint8_t *tier) {
    for (int64_t row = 0; row < graph->rows; row++) { /* parents come before their children */
        const int64_t parent = graph->parent.at[row];
        const int64_t above = parent < 0 ? NS_UNKNOWN : self->root[parent];
        self->root[row] = above == NS_UNKNOWN && tier[row] == NS_TIER_ROOT ? row : above;
        self->unit[row] = NS_UNKNOWN;
    }
}
