/* Programs of tasks: the numbers of tasks and segments, and the words that they use. */
#include <string.h>

#include "generated/plan_checks.h"
#include "policy/dispatch.h"

static bool creates(uint8_t code) { return code == NS_OP_SPAWN || code == NS_OP_CALL; }

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static bool check_ops(ns_plan_reader *reader, const ns_full_plan *plan) {
    const ns_graph *graph = &plan->graph;
    int64_t end[UINT8_MAX + 1]; /* by code */
    for (int code = 0; code <= UINT8_MAX; code++) {
        end[code] = code == NS_OP_RUN ? plan->times.segments : creates((uint8_t)code) ? graph->rows : NS_MOST_ROWS;
    }
    bool holds = true;
    for (uint64_t at = 0; at < graph->op_code.count; at++) {
        holds &= graph->op_arg.at[at] < end[graph->op_code.at[at]];
    }
    return ns_plan_require(reader, holds, "op_arg has a value out of bounds");
}

/* Number the children of a row, of which each has its place and knows its parent; their rows have been numbered. */
static bool number_row(ns_plan_reader *reader, const ns_graph *graph, int64_t row, int64_t *size, int64_t *child) {
    int64_t next = 1;
    for (int64_t op = graph->op_ptr.at[row]; op < graph->op_ptr.at[row + 1]; op++) {
        if (!creates(graph->op_code.at[op])) continue;
        const int64_t created = graph->op_arg.at[op];
        const uint8_t kind = graph->op_code.at[op] == NS_OP_CALL ? NS_ROW_CALL : NS_ROW_TASK;
        if (!ns_plan_require(reader, created > row, "op_arg has a child above its parent") ||
            !ns_plan_require(reader, graph->kind.at[created] == kind, "op_arg has a child of the wrong kind") ||
            !ns_plan_require(reader, graph->folded || created == row + next,
                             "op_arg has a child that is out of order") ||
            !ns_plan_require(reader, graph->folded || graph->parent.at[created] == row,
                             "op_arg has a child of another")) {
            return false;
        }
        if (child) child[op] = next;
        if (!ns_plan_require(reader, !__builtin_add_overflow(next, size[created], &next),
                             "the graph has more than 2**63 tasks")) {
            return false;
        }
    }
    size[row] = next;
    return ns_plan_require(reader, graph->folded || graph->parent.at[row] < row, "parent has a value out of bounds");
}

/* The rows below each and the ids of children, from the last row up: a child's row is higher than its parent's. */
static bool number_tasks(ns_plan_reader *reader, ns_graph *graph) {
    int64_t *size = ns_plan_reader_take(reader, (uint64_t)graph->rows, sizeof *size), *child = NULL;
    if (graph->folded) child = ns_plan_reader_take(reader, graph->op_code.count, sizeof *child);
    if (!size || (graph->folded && !child)) return false;
    for (int64_t row = graph->rows - 1; row >= 0; row--) {
        if (!number_row(reader, graph, row, size, child)) return false;
    }
    graph->size = (ns_i64s){size, (uint64_t)graph->rows};
    graph->child = (ns_i64s){child, child ? graph->op_code.count : 0};
    return true;
}

/* Numbers of the segments that the tasks of a folded graph would have: a task's own first, then its children's. */
static bool number_segments(ns_plan_reader *reader, ns_graph *graph) {
    uint32_t *segment = ns_plan_reader_take(reader, graph->op_code.count, sizeof *segment);
    uint32_t *below = ns_plan_reader_take(reader, (uint64_t)graph->rows, sizeof *below);
    if (!segment || !below) return false;
    for (int64_t row = graph->rows - 1; row >= 0; row--) {
        const int64_t first = graph->op_ptr.at[row], last = graph->op_ptr.at[row + 1];
        uint32_t next = 0;
        for (int64_t op = first; op < last; op++) {
            if (graph->op_code.at[op] == NS_OP_RUN) segment[op] = next++;
        }
        for (int64_t op = first; op < last; op++) {
            if (!creates(graph->op_code.at[op])) continue;
            segment[op] = next;
            const bool fits = !__builtin_add_overflow(next, below[graph->op_arg.at[op]], &next);
            if (!ns_plan_require(reader, fits,
                                 "the graph has more than 2**32 segments, so that it can only be run skipping ahead")) {
                return false;
            }
        }
        below[row] = next;
    }
    graph->segment = (ns_u32s){segment, graph->op_code.count};
    graph->subtree_segments = (ns_u32s){below, (uint64_t)graph->rows};
    return true;
}

/* Groups stand in brackets; who skips ahead knows none. */
static bool check_groups(ns_plan_reader *reader, const ns_graph *graph, bool skipping) {
    for (int64_t row = 0; row < graph->rows; row++) {
        int64_t groups = 0; /* that the row is in */
        for (int64_t op = graph->op_ptr.at[row]; op < graph->op_ptr.at[row + 1]; op++) {
            const uint8_t code = graph->op_code.at[op];
            groups += (code == NS_OP_GROUP) - (code == NS_OP_END_GROUP);
            if (!ns_plan_require(reader, groups >= 0, "op_code ends a group that the task has not begun") ||
                !ns_plan_require(reader, !groups || !skipping, "op_code has groups, with which nothing is skipped")) {
                return false;
            }
        }
        if (!ns_plan_require(reader, !groups, "op_code leaves a group open")) return false;
    }
    return true;
}

/* Only tasks wait for others: calls run at once, and bodies with their worker. */
static bool check_successors(ns_plan_reader *reader, const ns_graph *graph) {
    bool holds = true;
    for (uint64_t at = 0; at < graph->successor.count; at++) {
        holds &= graph->kind.at[graph->successor.at[at]] == NS_ROW_TASK;
    }
    return ns_plan_require(reader, holds, "successor has a task that cannot wait");
}

bool ns_graph_check(ns_plan_reader *reader, ns_full_plan *plan, ns_graph *self) {
    self->tasks = self->folded ? 0 : self->rows; /* of a folded graph, its roots tell */
    return ns_plan_require(reader, self->op_code.count + (uint64_t)self->rows < (uint64_t)NS_MOST_ITEMS,
                           "op_code has too many entries") &&
           check_ops(reader, plan) && check_groups(reader, self, plan->skipping) && check_successors(reader, self) &&
           number_tasks(reader, self) && (!self->folded || plan->skipping || number_segments(reader, self));
}

/* ---- phases ------------------------------------------------------------------------------------------------------ */

/* The trees of a folded graph are numbered in the order of the roots that they grow from. */
static bool number_roots(ns_plan_reader *reader, ns_graph *graph, ns_phase *phase, uint32_t *segments) {
    int64_t *id = ns_plan_reader_take(reader, phase->roots.count, sizeof *id);
    uint32_t *segment = ns_plan_reader_take(reader, phase->roots.count, sizeof *segment);
    if (!id || !segment) return false;
    for (uint64_t at = 0; at < phase->roots.count; at++) {
        const int64_t root = phase->roots.at[at];
        if (!ns_plan_require(reader, graph->folded || graph->parent.at[root] < 0, "roots has a task with a parent") ||
            !ns_plan_require(reader, graph->kind.at[root] != NS_ROW_CALL, "roots has a task that nobody calls")) {
            return false;
        }
        id[at] = graph->folded ? graph->tasks : root;
        segment[at] = *segments;
        if (!graph->folded) continue;
        if (!ns_plan_require(reader, !__builtin_add_overflow(graph->tasks, graph->size.at[root], &graph->tasks),
                             "the graph has more than 2**63 tasks")) {
            return false;
        }
        if (graph->subtree_segments.count) *segments += graph->subtree_segments.at[root];
    }
    phase->ids = (ns_i64s){id, phase->roots.count};
    phase->segments = (ns_u32s){segment, phase->roots.count};
    return true;
}

static bool check_phases(ns_plan_reader *reader, ns_full_plan *plan) {
    uint32_t segments = 0;
    for (uint64_t at = 0; at < plan->phases.count; at++) {
        ns_phase *phase = (ns_phase *)&plan->phases.at[at];
        if (!number_roots(reader, &plan->graph, phase, &segments)) return false;
    }
    return true;
}

/* Loops come by their first phase, outer ones before those in them. */
static bool check_loops(ns_plan_reader *reader, const ns_loop_list *loops) {
    const ns_loop **open = ns_plan_reader_take(reader, loops->count, sizeof *open);
    if (!open) return false;
    uint64_t depth = 0;
    for (uint64_t at = 0; at < loops->count; at++) {
        const ns_loop *loop = &loops->at[at];
        while (depth && open[depth - 1]->end <= loop->first) depth--;
        if (!ns_plan_require(reader, !at || loops->at[at - 1].first <= loop->first,
                             "loops are not in the order of their phases") ||
            !ns_plan_require(reader, !depth || loop->end <= open[depth - 1]->end, "loops are not nested")) {
            return false;
        }
        open[depth++] = loop;
    }
    return true;
}

/* ---- synchronisation objects ------------------------------------------------------------------------------------- */

static enum ns_sync_role role_used(uint8_t code) {
    switch (code) {
        case NS_OP_ATOMIC: return NS_SYNC_ATOMIC;
        case NS_OP_BARRIER: return NS_SYNC_BARRIER;
        case NS_OP_AWAIT:
        case NS_OP_SIGNAL:
        case NS_OP_BROADCAST: return NS_SYNC_CONDITION;
        case NS_OP_BEGIN:
        case NS_OP_LOAD:
        case NS_OP_STORE:
        case NS_OP_COMMIT: return NS_SYNC_OBJECTS;
        default: return NS_SYNC_LOCK;
    }
}

/* The locks that a program holds, op by op. */
typedef struct {
    uint32_t *held;
    uint32_t count;
} locks_held;

static bool take_or_release(ns_plan_reader *reader, locks_held *locks, uint8_t code, uint32_t word) {
    uint32_t at = 0;
    while (at < locks->count && locks->held[at] != word) at++;
    const bool holds = at < locks->count;
    if (code == NS_OP_LOCK) {
        if (!ns_plan_require(reader, !holds, "op_code takes a lock twice")) return false;
        locks->held[locks->count++] = word;
    } else if (code == NS_OP_UNLOCK) {
        if (!ns_plan_require(reader, holds, "op_code releases a lock that the task does not hold")) return false;
        memmove(&locks->held[at], &locks->held[at + 1], (--locks->count - at) * sizeof *locks->held);
    }
    return true;
}

/* The memory of the transaction that a program is in, or none. */
typedef struct {
    uint32_t memory;
    bool inside;
} transaction;

/* Between BEGIN and the COMMIT of the same memory stand RUN, LOAD and STORE of it alone, the latter only there. */
static bool follow_transaction(ns_plan_reader *reader, transaction *self, uint8_t code, uint32_t word) {
    if (code == NS_OP_RUN) return true;
    const bool opens = code == NS_OP_LOAD || code == NS_OP_STORE || code == NS_OP_COMMIT;
    const bool fits = self->inside ? opens && word == self->memory : !opens;
    if (code == NS_OP_BEGIN || code == NS_OP_COMMIT) *self = (transaction){word, code == NS_OP_BEGIN};
    return ns_plan_require(reader, fits, "op_code has a transaction that is not in brackets");
}

static bool uses_word(uint8_t code) { return code >= NS_OP_LOCK && code <= NS_OP_COMMIT; }

static bool uses_words(const ns_graph *graph) {
    bool uses = false;
    for (uint64_t op = 0; op < graph->op_code.count; op++) uses |= uses_word(graph->op_code.at[op]);
    return uses;
}

/* Ops are about synchronisation objects of their role, and every row holds locks as in brackets. */
static bool check_uses(ns_plan_reader *reader, const ns_full_plan *plan) {
    const ns_graph *graph = &plan->graph;
    if (!uses_words(graph)) return true;
    const ns_u8s role = plan->words.role;
    locks_held locks = {ns_plan_reader_take(reader, role.count, sizeof *locks.held), 0};
    for (int64_t row = 0; locks.held && row < graph->rows; row++) {
        transaction attempt = {0, false};
        for (int64_t op = graph->op_ptr.at[row]; op < graph->op_ptr.at[row + 1]; op++) {
            const uint8_t code = graph->op_code.at[op];
            const uint32_t word = graph->op_arg.at[op];
            if (!follow_transaction(reader, &attempt, code, word)) return false;
            if (!uses_word(code)) continue;
            if (!ns_plan_require(reader, word < plan->words.declared, "op_arg has a value out of bounds") ||
                !ns_plan_require(reader, role.at[word] == role_used(code), "op_arg has a word of another role") ||
                !take_or_release(reader, &locks, code, word)) {
                return false;
            }
        }
        if (!ns_plan_require(reader, !locks.count, "op_code leaves a lock held") ||
            !ns_plan_require(reader, !attempt.inside, "op_code leaves a transaction open")) {
            return false;
        }
    }
    return locks.held != NULL;
}

static bool are_locks(ns_plan_reader *reader, const ns_plan_words *words, const char *name, ns_i32s locks) {
    for (uint64_t at = 0; at < locks.count; at++) {
        const int32_t lock = locks.at[at];
        const bool fits = lock == -1 || (lock >= (int64_t)words->declared && lock < (int64_t)words->role.count &&
                                         words->role.at[lock] == NS_SYNC_LOCK);
        if (!ns_plan_require(reader, fits, "%s has a word that is no lock of the search", name)) return false;
    }
    return true;
}

static bool ends_with_locks(const ns_plan_words *words) {
    for (uint64_t word = words->declared; word < words->role.count; word++) {
        if (words->role.at[word] != NS_SYNC_LOCK) return false;
    }
    return true;
}

/* The weights of a memory of objects rise, one for each object. */
static bool check_weights(ns_plan_reader *reader, const ns_plan_words *words) {
    uint64_t objects = 0;
    for (uint64_t word = 0; word < words->role.count; word++) {
        const int64_t first = words->weight_ptr.at[word], end = words->weight_ptr.at[word + 1];
        const bool is_memory = words->role.at[word] == NS_SYNC_OBJECTS;
        if (is_memory) objects += (uint64_t)words->parties.at[word];
        bool holds = first == end || (is_memory && end - first == words->parties.at[word]);
        for (int64_t at = first + 1; at < end; at++) holds &= words->weight.at[at - 1] < words->weight.at[at];
        if (!ns_plan_require(reader, holds, "word_weight does not rise once for each object")) return false;
    }
    return ns_plan_require(reader, objects <= NS_MOST_OBJECTS_OPENED, "word_parties has too many objects");
}

bool ns_plan_words_check(ns_plan_reader *reader, ns_full_plan *plan, ns_plan_words *self) {
    const uint64_t queues = plan->steal.queue_count, levels = plan->steal.steal_levels;
    self->rules.wake_ps = plan->costs.wake_ps;
    self->rules.wake_remote_ps = plan->costs.wake_remote_ps;
    self->transfers.between_ps = plan->line_ps.at;
    self->transfers.node = plan->node.at;
    self->transfers.workers = plan->workers;
    self->transfers.nodes = plan->nodes;
    return ns_plan_require(reader, !self->role.count || !plan->skipping,
                           "word_role has words, with which nothing is skipped") &&
           ns_plan_require(reader, ends_with_locks(self), "word_role has a word of the search that is no lock") &&
           ns_plan_require(reader, !self->level_lock.count || self->level_lock.count == levels * queues,
                           "level_lock does not have a row for each level") &&
           ns_plan_require(reader, !self->queue_lock.count || self->queue_lock.count == queues,
                           "queue_lock does not have an entry for each queue") &&
           check_weights(reader, self) && are_locks(reader, self, "level_lock", self->level_lock) &&
           are_locks(reader, self, "queue_lock", self->queue_lock);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool has_own_queues(const ns_plan *steal) {
    for (uint32_t worker = 0; worker < steal->workers; worker++) {
        if (steal->own[worker] == NS_NO_QUEUE) return false;
    }
    return true;
}

/* What follows from the fields for every step of a run. Where tasks are dispatched by data, the fill of the own queue
 * says nothing of the queue that a task goes to. */
static void derive(ns_full_plan *self) {
    bool bounded = false, overflows = false;
    for (uint32_t q = 0; q < self->steal.queue_count; q++) {
        bounded |= self->steal.queues[q].capacity != 0;
        overflows |= self->steal.queues[q].full == NS_FULL_INLINE;
    }
    self->own_never_full = self->own_dispatch && !bounded;
    self->inlines = overflows && !self->looks_at_data;
    self->puts_take_time = self->costs.push_ps || self->words.queue_lock.count;
    self->locks_search = self->words.declared < self->words.role.count;
    self->locks_probes = self->words.level_lock.count || (self->words.queue_lock.count && !self->words.looks_first);
}

static bool moves_bytes(const ns_full_plan *plan) {
    for (uint64_t f = 0; f < plan->families.count; f++) {
        if (plan->families.at[f].accesses.count) return true;
    }
    return plan->accesses.region.count;
}

/* Whether more than the speeds of workers makes the time of work depend on others, or is drawn for each segment. */
static bool couples_by_events(const ns_full_plan *plan) {
    const ns_effects *effects = &plan->effects;
    const bool shared = effects->contention != NS_CONTENTION_NONE || effects->queueing;
    return effects->coupled && ((shared && moves_bytes(plan)) || (effects->task_noise_ppm && plan->graph.rows));
}

static bool changes_pages(const ns_full_plan *plan) {
    for (uint64_t f = 0; f < plan->families.count; f++) {
        const ns_family *family = &plan->families.at[f];
        if (family->fresh.count || family->freed.count) return true;
        for (uint64_t at = 0; at < family->node_accesses.count; at++) {
            if (family->node_accesses.at[at].returned_ppm) return true;
        }
    }
    return false;
}

bool ns_full_plan_check(ns_plan_reader *reader, ns_full_plan *plan, ns_full_plan *self) {
    const bool lines_move = self->costs.line || self->words.role.count;
    const bool needs_own = self->own_dispatch || self->one_queue_each || self->skipping;
    const bool has_pages = self->effects.coupled && self->looks_at_accesses;
    (void)plan;
    derive(self);
    return ns_plan_require(reader, has_pages || !changes_pages(self),
                           "fresh and freed are of runs that are coupled and look at accesses") &&
           ns_plan_require(reader, !lines_move || self->line_ps.count == (uint64_t)self->workers * self->workers,
                           "line_ps does not have a row for each worker") &&
           ns_plan_require(reader, !self->skipping || !couples_by_events(self),
                           "a run that bandwidth, queueing or noise couples cannot skip ahead") &&
           ns_plan_require(reader, self->looks_at_data || !ns_looks_at_data(&self->steal),
                           "looks_at_data is 0, but a dispatch rule asks where data is") &&
           ns_plan_require(reader, !needs_own || has_own_queues(&self->steal), "own has a worker without a queue") &&
           check_phases(reader, self) && check_loops(reader, &self->loops) && check_uses(reader, self);
}
