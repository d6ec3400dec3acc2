#include "execution/live_subtrees.h"

#include <string.h>

bool ns_live_create(ns_live_subtrees *self, const ns_full_plan *plan) {
    *self = (ns_live_subtrees){.gate = plan->steal.gate};
    if (!plan->counts_live) return true;
    const uint64_t rows = (uint64_t)plan->graph.rows;
    self->live = ns_pieces_take(&self->memory, plan->workers, sizeof *self->live);
    self->awaited = ns_pieces_take(&self->memory, plan->workers, sizeof *self->awaited);
    self->root = ns_pieces_take(&self->memory, rows, sizeof *self->root);
    self->left = ns_pieces_take(&self->memory, rows, sizeof *self->left);
    self->unit = ns_pieces_take(&self->memory, rows, sizeof *self->unit);
    return !self->memory.is_short;
}

void ns_live_follow(ns_live_subtrees *self, const ns_graph *graph, const ns_control *in_force) {
    const uint8_t *tier = in_force->tier.at;
    self->label = in_force->label.count ? in_force->label.at : NULL;
    for (int64_t row = 0; row < graph->rows; row++) { /* parents come before their children */
        const int64_t parent = graph->parent.at[row];
        const int64_t above = parent < 0 ? NS_UNKNOWN : self->root[parent];
        self->root[row] = above == NS_UNKNOWN && tier[row] == NS_TIER_ROOT ? row : above;
        self->unit[row] = NS_UNKNOWN;
    }
}

void ns_live_start_phase(ns_live_subtrees *self, const ns_full_plan *plan, const ns_phase *phase) {
    if (!plan->counts_live) return;
    memset(self->awaited, 0, plan->workers * sizeof *self->awaited);
    for (uint64_t r = 0; r < phase->roots.count; r++) {
        const int64_t first = phase->roots.at[r], end = first + plan->graph.size.at[first];
        for (int64_t row = first; row < end; row++) {
            if (self->root[row] != row || ns_live_label(self, row) == NS_UNKNOWN) continue;
            self->awaited[ns_live_label(self, row)]++;
        }
    }
}
