/* The checks of a plan (a compiled program and strategy) that concern several fields, and the computation of members
 * that follow from fields. Python makes plans, and has checked the user's input; these checks keep a damaged plan from
 * breaking an engine. A task has a row in the task graph; its program is a list of ops. A segment is the work of one
 * RUN op. A family is a set of similar tasks without rows, its items. In a folded graph equal subtrees share rows. A
 * root is a task without a parent. A unit is a group of pages of a region of memory; a dynamic region is placed during
 * the run. A word is a synchronisation object. The words level, segment (of queues), row and anchor of strategies:
 * policy/round.h. */
#include "base/bitset.h"
#include "generated/plan_checks.h"
#include "policy/dispatch.h"
#include "policy/pick.h"

#define REQUIRE(...) ns_plan_require(reader, __VA_ARGS__)

/* ---- segments and accesses --------------------------------------------------------------------------------------- */

bool ns_segment_times_check(ns_plan_reader *reader, ns_full_plan *plan, ns_segment_times *self) {
    const uint64_t segments = (uint64_t)self->segments;
    for (uint64_t node = 0; node < self->total.count; node++) {
        if (!REQUIRE(self->total.at[node].count == self->local.at[node].count,
                     "local_ps.%u has another length than total_ps", (unsigned)node)) {
            return false;
        }
    }
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        const bool there = self->total.at[plan->node.at[worker]].count == segments;
        if (!REQUIRE(there, "total_ps is missing for a node with workers")) return false;
    }
    return true;
}

/* Whether the product of these three numbers is at most NS_MOST_BYTES. */
static bool is_countable(int64_t pieces, int64_t bytes, int64_t times) {
    int64_t moved;
    return !__builtin_mul_overflow(pieces, bytes, &moved) && !__builtin_mul_overflow(moved, times, &moved) &&
           moved <= NS_MOST_BYTES;
}

bool ns_accesses_check(ns_plan_reader *reader, ns_full_plan *plan, ns_accesses *self) {
    for (uint64_t at = 0; at < self->region.count; at++) {
        const int64_t bytes = plan->memory.region_pages.at[self->region.at[at]] * plan->memory.page_bytes;
        const int64_t rows = self->rows.at[at], row_bytes = self->row_bytes.at[at];
        int64_t end = 0;
        const bool known = !rows || (!__builtin_mul_overflow(rows - 1, self->stride.at[at], &end) &&
                                     !__builtin_add_overflow(end, self->offset.at[at] + row_bytes, &end));
        if (!REQUIRE(known && end <= bytes, "access %u reaches beyond its region", (unsigned)at) ||
            !REQUIRE(is_countable(rows, row_bytes, self->factor.at[at]),
                     "access %u moves more bytes than can be counted", (unsigned)at)) {
            return false;
        }
    }
    return true;
}

bool ns_segment_needs_check(ns_plan_reader *reader, ns_full_plan *plan, ns_segment_needs *self) {
    const ns_accesses *accesses = &plan->accesses;
    for (uint64_t at = 0; at < self->passes.count; at++) {
        const bool countable = is_countable(accesses->rows.at[at], accesses->row_bytes.at[at], self->passes.at[at]);
        if (!REQUIRE(countable, "access %u moves more bytes than can be counted", (unsigned)at)) return false;
    }
    return true;
}

/* Whether there is an access with this number, and it is to a dynamic region. */
static bool is_open(const ns_full_plan *plan, int64_t access) {
    return 0 <= access && (uint64_t)access < plan->accesses.region.count &&
           plan->memory.dynamic.at[plan->accesses.region.at[access]] != 0;
}

bool ns_open_accesses_check(ns_plan_reader *reader, ns_full_plan *plan, ns_open_accesses *self) {
    for (uint64_t at = 0; at < self->access.count; at++) {
        if (!REQUIRE(is_open(plan, self->access.at[at]),
                     "open_access[%u] is no access to a region that is placed during the run", (unsigned)at)) {
            return false;
        }
    }
    return ns_require_i64_pointer(reader, "open_ptr", self->ptr, (int64_t)self->access.count);
}

/* ---- regions and caches ------------------------------------------------------------------------------------------ */

/* Require that `nodes` has no node, one node, or a node for each unit, for each region. */
static bool check_nodes(ns_plan_reader *reader, const ns_memory *memory, const char *name, ns_node_lists nodes) {
    for (uint64_t region = 0; region < memory->region_pages.count; region++) {
        const int64_t pages = memory->region_pages.at[region], each = memory->unit_pages.at[region];
        const int64_t given = nodes.ptr.at[region + 1] - nodes.ptr.at[region];
        const bool fits = given < 2 || given == pages / each + (pages % each != 0);
        if (!REQUIRE(fits, "%s does not have an entry for each unit of a region", name)) return false;
    }
    return true;
}

bool ns_memory_check(ns_plan_reader *reader, ns_full_plan *plan, ns_memory *self) {
    for (uint64_t at = 0; at < self->stages.count; at++) {
        if (!check_nodes(reader, self, "wish", self->stages.at[at].wish)) return false;
    }
    return check_nodes(reader, self, "home", self->home);
}

/* The most pairs of a chunk (NS_CHUNK_BYTES of memory) and a cache that may hold a copy. Their records take up to 6
 * GiB, which the system provides page by page when used. */
#define MOST_COPIES (INT64_C(1) << 28)

bool ns_cache_sizes_check(ns_plan_reader *reader, ns_full_plan *plan, ns_cache_sizes *self) {
    const ns_i64s pages = plan->memory.region_pages;
    int64_t *bytes = ns_plan_reader_take(reader, pages.count, sizeof *bytes), chunks = 0;
    for (uint64_t region = 0; bytes && region < pages.count; region++) {
        bytes[region] = pages.at[region] * plan->memory.page_bytes;
        chunks += bytes[region] / NS_CHUNK_BYTES + 1;
        if (!REQUIRE(chunks <= MOST_COPIES / (int64_t)self->domains,
                     "llc_domains has more caches than can be followed for regions of these sizes")) {
            return false;
        }
    }
    self->region_bytes = (ns_i64s){bytes, pages.count};
    return bytes != NULL;
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

/* Whether a table with `rows` rows has a row for each of `items` items. The row of item i is i / divisor (by_quotient),
 * i % divisor (by_remainder), i (both), or 0 (neither). */
static bool has_rows(int64_t divisor, bool by_quotient, bool by_remainder, int64_t items, uint64_t rows) {
    const int64_t quotients = items / divisor + (items % divisor != 0);
    const int64_t remainders = items < divisor ? items : divisor;
    const int64_t needed = by_quotient ? (by_remainder ? items : quotients) : by_remainder ? remainders : 1;
    return rows >= (uint64_t)needed;
}

bool ns_amounts_check(ns_plan_reader *reader, ns_full_plan *plan, ns_amounts *self) {
    bool ordered = !self->start.count || self->start.at[0] == 0;
    for (uint64_t part = 0; part < self->start.count; part++) {
        ordered &= self->low.at[part] <= self->high.at[part];
        ordered &= !part || self->start.at[part - 1] < self->start.at[part];
    }
    return REQUIRE(ordered, "part_start does not ascend from 0, or a part ends before it begins");
}

/* Require an amount for each of `items` items, or a table to draw amounts from. No amount may exceed `most`. */
static bool check_amounts(ns_plan_reader *reader, const ns_amounts *self, int64_t items, int64_t most) {
    bool within = true;
    for (uint64_t at = 0; at < self->items.count; at++) within &= self->items.at[at] <= most;
    for (uint64_t at = 0; at < self->high.count; at++) within &= self->high.at[at] <= most;
    return REQUIRE(self->items.count ? self->items.count == (uint64_t)items : self->start.count > 0,
                   "amounts does not have an entry for each item") &&
           REQUIRE(within, "amounts are too large");
}

static bool check_page_amounts(ns_plan_reader *reader, const ns_family *family, ns_page_amounts_list list) {
    return !list.count || check_amounts(reader, &list.at[0].amounts, family->count, NS_MOST_MOVED);
}

static bool check_node_access(ns_plan_reader *reader, const ns_family *family, const ns_node_access *access) {
    bool ascending = access->home.count > 0;
    for (uint64_t at = 1; at < access->share_end.count; at++) {
        ascending &= access->share_end.at[at - 1] <= access->share_end.at[at];
    }
    return REQUIRE(ascending, "share_end does not ascend") &&
           check_amounts(reader, &access->amounts, family->count, NS_MOST_MOVED);
}

bool ns_family_check(ns_plan_reader *reader, ns_full_plan *plan, ns_family *self) {
    for (uint64_t at = 0; at < self->accesses.count; at++) {
        const ns_item_access *access = &self->accesses.at[at];
        const uint64_t rows = access->traffic.count / plan->nodes;
        const bool enough = has_rows(access->divisor, access->by_quotient, access->by_remainder, self->count, rows);
        if (!REQUIRE(enough, "traffic has too few rows")) return false;
        for (uint32_t worker = 0; worker < plan->workers; worker++) {
            const bool there = access->wait.at[plan->node.at[worker]].count != 0;
            if (!REQUIRE(there, "wait_ps is missing for a node with workers")) return false;
        }
    }
    for (uint64_t at = 0; at < self->node_accesses.count; at++) {
        if (!check_node_access(reader, self, &self->node_accesses.at[at])) return false;
    }
    const bool uniform = !self->compute.items.count && !self->compute.start.count;
    return check_page_amounts(reader, self, self->fresh) && check_page_amounts(reader, self, self->freed) &&
           (uniform || check_amounts(reader, &self->compute, self->count, self->high_ps));
}

/* Check the prices (times and uses of resources) of the items of a family for some workers. */
static bool check_price(ns_plan_reader *reader, const ns_family *family, const ns_family_price *price, uint32_t nodes) {
    bool ascends = true;
    for (uint64_t at = 1; at < price->resource.count; at++) {
        ascends &= price->resource.at[at - 1] < price->resource.at[at];
    }
    if (!REQUIRE(ascends, "resource does not ascend") ||
        !REQUIRE(price->accesses.count == family->accesses.count, "accesses has a wrong number of entries")) {
        return false;
    }
    for (uint64_t at = 0; at < price->accesses.count; at++) {
        const bool same = price->accesses.at[at].wait.count == family->accesses.at[at].traffic.count / nodes;
        if (!REQUIRE(same, "wait_ps of accesses.%u does not have an entry for each row", (unsigned)at)) return false;
    }
    return true;
}

bool ns_seat_check(ns_plan_reader *reader, ns_full_plan *plan, ns_seat *self) {
    for (uint64_t at = 0; at < self->families.count; at++) {
        if (!check_price(reader, &plan->families.at[at], &self->families.at[at], plan->nodes)) return false;
    }
    return true;
}

/* ---- objects of tasks -------------------------------------------------------------------------------------------- */

bool ns_task_objects_check(ns_plan_reader *reader, ns_full_plan *plan, ns_task_objects *self) {
    for (int64_t row = 0; row < plan->graph.rows; row++) {
        int64_t count = 0, bytes = 0;
        for (int64_t at = self->ptr.at[row]; at < self->ptr.at[row + 1]; at++) {
            const bool known = self->home.at[at] != NS_OPEN_HOME || is_open(plan, self->access.at[at]);
            if (!REQUIRE(known, "object_access[%u] is no access to a region that is placed during the run",
                         (unsigned)at) ||
                !REQUIRE(!__builtin_add_overflow(count, self->count.at[at], &count) &&
                             !__builtin_add_overflow(bytes, self->bytes.at[at], &bytes),
                         "the objects of task %u are more than can be counted", (unsigned)row)) {
                return false;
            }
        }
    }
    for (uint64_t number = 0; number < self->families.count; number++) {
        const ns_item_object_list *objects = &self->families.at[number].objects;
        for (uint64_t at = 0; at < objects->count; at++) {
            const ns_item_object *object = &objects->at[at];
            const bool enough = has_rows(object->divisor, object->by_quotient, object->by_remainder,
                                         plan->families.at[number].count, object->home.count);
            if (!REQUIRE(enough, "home has too few rows")) return false;
        }
    }
    return true;
}

/* ---- the task graph ---------------------------------------------------------------------------------------------- */

static bool creates(uint8_t code) { return code == NS_OP_SPAWN || code == NS_OP_CALL; }

static bool check_args(ns_plan_reader *reader, const ns_full_plan *plan) {
    const ns_graph *graph = &plan->graph;
    int64_t end[UINT8_MAX + 1]; /* by op code: the argument of the op must be less than this */
    for (int code = 0; code <= UINT8_MAX; code++) {
        end[code] = code == NS_OP_RUN ? plan->times.segments : creates((uint8_t)code) ? graph->rows : NS_MOST_ROWS;
    }
    bool holds = true;
    for (uint64_t at = 0; at < graph->op_code.count; at++) {
        holds &= graph->op_arg.at[at] < end[graph->op_code.at[at]];
    }
    return REQUIRE(holds, "op_arg has a value out of bounds");
}

/* Require that each task ends the groups (GROUP to END_GROUP) that it begins, and no others. If the run skips stretches
 * without steals, require that there are no ops but RUN, SPAWN and WAIT. */
static bool check_groups(ns_plan_reader *reader, const ns_graph *graph, bool skipping) {
    for (int64_t row = 0; row < graph->rows; row++) {
        int64_t groups = 0; /* number of groups that have begun and not ended */
        for (int64_t op = graph->op_ptr.at[row]; op < graph->op_ptr.at[row + 1]; op++) {
            const uint8_t code = graph->op_code.at[op];
            groups += (code == NS_OP_GROUP) - (code == NS_OP_END_GROUP);
            if (!REQUIRE(groups >= 0, "op_code ends a group that the task has not begun") ||
                !REQUIRE(!skipping || code == NS_OP_RUN || code == NS_OP_SPAWN || code == NS_OP_WAIT,
                         "op_code has an op that cannot be skipped over")) {
                return false;
            }
        }
        if (!REQUIRE(!groups, "op_code leaves a group open")) return false;
    }
    return true;
}

/* Set `size[row]` to the number of tasks in the subtree of a row, from the sizes of its children, and `child[op]`,
 * unless NULL, to the id of the child that the op creates less the id of the row's task. Require that the children have
 * the right kind and order. */
static bool number_row(ns_plan_reader *reader, const ns_graph *graph, int64_t row, int64_t *size, int64_t *child) {
    int64_t next = 1;
    for (int64_t op = graph->op_ptr.at[row]; op < graph->op_ptr.at[row + 1]; op++) {
        if (!creates(graph->op_code.at[op])) continue;
        const int64_t created = graph->op_arg.at[op];
        const uint8_t kind = graph->op_code.at[op] == NS_OP_CALL ? NS_ROW_CALL : NS_ROW_TASK;
        if (!REQUIRE(created > row, "op_arg has a child above its parent") ||
            !REQUIRE(graph->kind.at[created] == kind, "op_arg has a child of the wrong kind") ||
            !REQUIRE(graph->folded || (created == row + next && graph->parent.at[created] == row),
                     "op_arg has a child that is out of order, or of another task")) {
            return false;
        }
        if (child) child[op] = next;
        if (!REQUIRE(!__builtin_add_overflow(next, size[created], &next), "the graph has more than 2**63 tasks")) {
            return false;
        }
    }
    size[row] = next;
    return REQUIRE(graph->folded || graph->parent.at[row] < row, "parent has a value out of bounds");
}

/* Compute the sizes of subtrees and the ids of children, from the last row to the first: children have higher rows than
 * their parents. */
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

/* Compute the numbers that segments would have if the graph were not folded, relative to the first segment of their
 * task. The segments of a task come before the segments of its children. */
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
            if (!REQUIRE(fits, "the graph has more than 2**32 segments, so that it can only be run skipping ahead")) {
                return false;
            }
        }
        below[row] = next;
    }
    graph->segment = (ns_u32s){segment, graph->op_code.count};
    graph->subtree_segments = (ns_u32s){below, (uint64_t)graph->rows};
    return true;
}

bool ns_graph_check(ns_plan_reader *reader, ns_full_plan *plan, ns_graph *self) {
    self->tasks = self->folded ? 0 : self->rows; /* number_roots counts the tasks of a folded graph */
    return REQUIRE(self->op_code.count + (uint64_t)self->rows < (uint64_t)NS_MOST_ITEMS,
                   "op_code has too many entries") &&
           check_args(reader, plan) && check_groups(reader, self, plan->skipping) && number_tasks(reader, self) &&
           (!self->folded || plan->skipping || number_segments(reader, self));
}

/* Set the ids of the roots of a phase (in a folded graph: the number of tasks before each root) and the numbers of
 * their first segments. `*segments` counts the segments of all roots so far. */
static bool number_roots(ns_plan_reader *reader, ns_graph *graph, ns_phase *phase, uint32_t *segments) {
    int64_t *id = ns_plan_reader_take(reader, phase->roots.count, sizeof *id);
    uint32_t *segment = ns_plan_reader_take(reader, phase->roots.count, sizeof *segment);
    if (!id || !segment) return false;
    for (uint64_t at = 0; at < phase->roots.count; at++) {
        const int64_t root = phase->roots.at[at];
        if (!REQUIRE(graph->folded || graph->parent.at[root] < 0, "roots has a task with a parent") ||
            !REQUIRE(graph->kind.at[root] != NS_ROW_CALL, "roots has a task that nobody calls")) {
            return false;
        }
        id[at] = graph->folded ? graph->tasks : root;
        segment[at] = *segments;
        if (!graph->folded) continue;
        if (!REQUIRE(!__builtin_add_overflow(graph->tasks, graph->size.at[root], &graph->tasks),
                     "the graph has more than 2**63 tasks")) {
            return false;
        }
        if (graph->subtree_segments.count) *segments += graph->subtree_segments.at[root];
    }
    phase->ids = (ns_i64s){id, phase->roots.count};
    phase->segments = (ns_u32s){segment, phase->roots.count};
    return true;
}

/* ---- synchronisation objects ------------------------------------------------------------------------------------- */

/* Return the role of the word on which an op of this code works. */
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

/* What a task holds when its program comes to an op. */
typedef struct {
    uint64_t *locks;  /* the set of held locks */
    uint32_t held;    /* the number of held locks */
    uint32_t memory;  /* the word (a memory of objects) of the present transaction */
    bool transaction; /* whether there is a present transaction */
} holding;

static bool take_or_release(ns_plan_reader *reader, holding *self, uint8_t code, uint32_t word) {
    if (code != NS_OP_LOCK && code != NS_OP_UNLOCK) return true;
    const bool takes = code == NS_OP_LOCK;
    if (!REQUIRE(ns_set_has(self->locks, word) != takes,
                 takes ? "op_code takes a lock twice" : "op_code releases a lock that the task does not hold")) {
        return false;
    }
    ns_set_put(self->locks, word, takes);
    self->held += takes ? 1u : UINT32_MAX;
    return true;
}

/* Require that a program has no ops but RUN, LOAD and STORE between BEGIN and COMMIT, and that its LOAD and STORE name
 * the same memory as BEGIN. */
static bool follow_transaction(ns_plan_reader *reader, holding *self, uint8_t code, uint32_t word) {
    if (code == NS_OP_RUN) return true;
    const bool opens = code == NS_OP_LOAD || code == NS_OP_STORE || code == NS_OP_COMMIT;
    const bool fits = self->transaction ? opens && word == self->memory : !opens;
    if (code == NS_OP_BEGIN) self->memory = word;
    if (code == NS_OP_BEGIN || code == NS_OP_COMMIT) self->transaction = code == NS_OP_BEGIN;
    return REQUIRE(fits, "op_code has a transaction that is not in brackets");
}

/* Require that each op works on a word of the right role (lock, atomic word, ...), and that each task releases the
 * locks that it takes and ends the transactions that it begins. */
static bool check_uses(ns_plan_reader *reader, const ns_full_plan *plan) {
    const ns_graph *graph = &plan->graph;
    const ns_plan_words *words = &plan->words;
    holding now = {ns_plan_reader_take(reader, ns_set_words(words->declared) + 1, sizeof *now.locks), 0, 0, false};
    for (int64_t row = 0; now.locks && row < graph->rows; row++) {
        for (int64_t op = graph->op_ptr.at[row]; op < graph->op_ptr.at[row + 1]; op++) {
            const uint8_t code = graph->op_code.at[op];
            const uint32_t word = graph->op_arg.at[op];
            if (!follow_transaction(reader, &now, code, word)) return false;
            if (code < NS_OP_LOCK || code > NS_OP_COMMIT) continue;
            if (!REQUIRE(word < words->declared, "op_arg has a value out of bounds") ||
                !REQUIRE(words->role.at[word] == role_used(code), "op_arg has a word of another role") ||
                !take_or_release(reader, &now, code, word)) {
                return false;
            }
        }
        if (!REQUIRE(!now.held, "op_code leaves a lock held") ||
            !REQUIRE(!now.transaction, "op_code leaves a transaction open")) {
            return false;
        }
    }
    return now.locks != NULL;
}

static bool are_locks(ns_plan_reader *reader, const ns_plan_words *words, const char *name, ns_i32s locks) {
    for (uint64_t at = 0; at < locks.count; at++) {
        const int32_t lock = locks.at[at];
        const bool fits = lock == -1 || (lock >= (int64_t)words->declared && lock < (int64_t)words->role.count &&
                                         words->role.at[lock] == NS_SYNC_LOCK);
        if (!REQUIRE(fits, "%s has a word that is no lock of the search", name)) return false;
    }
    return true;
}

static bool check_weights(ns_plan_reader *reader, const ns_plan_words *words) {
    int64_t objects = 0;
    for (uint64_t word = 0; word < words->role.count; word++) {
        const int64_t first = words->weight_ptr.at[word], end = words->weight_ptr.at[word + 1];
        if (words->role.at[word] == NS_SYNC_OBJECTS) objects += words->parties.at[word];
        bool holds = first == end || end - first == words->parties.at[word];
        for (int64_t at = first + 1; at < end; at++) holds &= words->weight.at[at - 1] < words->weight.at[at];
        if (!REQUIRE(holds, "word_weight does not rise once for each object")) return false;
    }
    return REQUIRE(objects <= NS_MOST_OBJECTS_OPENED, "word_parties has too many objects");
}

bool ns_plan_words_check(ns_plan_reader *reader, ns_full_plan *plan, ns_plan_words *self) {
    self->rules.wake_ps = plan->costs.wake_ps;
    self->rules.wake_remote_ps = plan->costs.wake_remote_ps;
    self->transfers.between_ps = plan->line_ps.at;
    self->transfers.node = plan->node.at;
    self->transfers.workers = plan->workers;
    self->transfers.nodes = plan->nodes;
    return check_weights(reader, self) && are_locks(reader, self, "level_lock", self->level_lock) &&
           are_locks(reader, self, "queue_lock", self->queue_lock);
}

/* ---- the strategy ------------------------------------------------------------------------------------------------ */

enum { MOST_SWITCHES = 64 };

/* Return how many rows of segments a level needs at least: one for each anchor; 0 if the anchors are labels. */
static uint32_t anchors_of(const ns_plan *steal, const ns_level *level, bool steals) {
    switch (level->anchor) {
        case NS_ANCHOR_ALL: return 1;
        case NS_ANCHOR_LABEL: return 0;
        case NS_ANCHOR_LAST: return steal->queue_count;
        case NS_ANCHOR_LIGHTEST:
        case NS_ANCHOR_DATA: return steal->nodes;
        default: return steal->workers + (steals ? 0 : 1);
    }
}

static bool is_in_bounds(const ns_plan *steal, const ns_level *level, uint32_t end, bool steals) {
    const bool kinds = level->anchor <= NS_ANCHOR_LABEL && level->pick <= NS_PICK_PERMUTATION &&
                       level->visit <= NS_VISIT_WEIGHTED && level->amount_kind <= NS_AMOUNT_SHARE;
    const bool anchor = steals ? level->anchor < NS_ANCHOR_LIGHTEST
                               : level->anchor <= NS_ANCHOR_ALL || level->anchor >= NS_ANCHOR_LIGHTEST;
    const bool row = level->row <= end && end < steal->rows;
    const uint64_t heads = steals && level->flags & NS_FLAG_HEADS ? steal->workers : 0;
    return kinds && anchor && row && end - level->row >= heads + anchors_of(steal, level, steals) &&
           level->segments >= 1 && level->amount >= 1;
}

static bool check_level(ns_plan_reader *reader, const ns_plan *steal, uint32_t index) {
    const ns_level *level = &steal->level[index];
    const bool steals = index < steal->steal_levels, asks = level->data != NS_NONE8;
    const uint32_t end = index + 1 < steal->levels ? level[1].row : steal->rows - 1;
    if (!REQUIRE(is_in_bounds(steal, level, end, steals), "level[%u] is out of bounds", index) ||
        !REQUIRE(!asks || (!steals && level->data < steal->data_count), "level[%u] has data that is not there",
                 index) ||
        !REQUIRE(level->anchor != NS_ANCHOR_DATA || (asks && steal->data[level->data].flags & NS_FLAG_LOOKS),
                 "level[%u] has a rule that does not say which node", index) ||
        !REQUIRE(level->watch == NS_NONE8 || level->watch < steal->watches, "level[%u] has a watch that is not there",
                 index) ||
        !REQUIRE(level->chance == NS_NONE8 || level->chance < steal->chances,
                 "level[%u] has a chance that is not there", index) ||
        !REQUIRE(level->toggle == NS_NONE8 || level->toggle < MOST_SWITCHES, "level[%u] has a switch that is not there",
                 index) ||
        !REQUIRE(steals || !(level->flags & NS_FLAG_GATED), "level[%u] is a rule with a gate", index)) {
        return false;
    }
    for (uint32_t row = level->row; row < end; row++) {
        const bool whole = (steal->row[row + 1] - steal->row[row]) % level->segments == 0;
        if (!REQUIRE(whole, "level[%u] has a row of broken groups", index)) return false;
    }
    return true;
}

static bool check_queues(ns_plan_reader *reader, const ns_plan *steal) {
    for (uint32_t q = 0; q < steal->queue_count; q++) {
        const ns_queue *queue = &steal->queues[q];
        const bool fits = queue->home >= -1 && queue->home < (int64_t)steal->nodes && queue->owner >= 0 &&
                          (uint32_t)queue->owner < steal->workers && queue->capacity >= 0;
        if (!REQUIRE(fits, "queues[%u] is out of bounds", q)) return false;
    }
    const uint32_t entries = steal->seg[steal->row[steal->rows - 1]];
    for (uint32_t at = 0; at < entries; at++) {
        if (!REQUIRE(steal->queue[at] < steal->queue_count, "queue has a queue that is not there")) return false;
    }
    return true;
}

static bool check_own(ns_plan_reader *reader, const ns_plan *steal, int64_t refill) {
    bool needed = refill != 0;
    for (uint32_t at = 0; at < steal->steal_levels; at++)
        needed |= steal->level[at].amount_kind == NS_AMOUNT_SHARE || steal->level[at].amount > 1;
    for (uint32_t worker = 0; worker < steal->workers; worker++) {
        const uint32_t own = steal->own[worker];
        if (!REQUIRE(own < steal->queue_count || own == NS_NO_QUEUE, "own[%u] is a queue that is not there", worker) ||
            !REQUIRE(!needed || own != NS_NO_QUEUE, "own[%u] has no queue for the tasks that the worker steals",
                     worker) ||
            !REQUIRE(own == NS_NO_QUEUE || steal->queues[own].owner == (int32_t)worker,
                     "own[%u] is a queue that names another owner", worker)) {
            return false;
        }
    }
    return true;
}

static bool add_masks(ns_plan_reader *reader, ns_plan *steal) {
    if (!ns_masks_serve(steal)) return true;
    const uint64_t words = (uint64_t)steal->row[steal->rows - 1] * ns_mask_words(steal);
    uint64_t *mask = ns_plan_reader_take(reader, words, sizeof *mask);
    if (mask) ns_masks_fill(steal, mask);
    steal->mask = mask;
    return mask != NULL;
}

bool ns_plan_check(ns_plan_reader *reader, ns_full_plan *plan, ns_plan *self) {
    self->workers = plan->workers;
    self->nodes = plan->nodes;
    const bool sizes = self->levels && self->levels < NS_NONE8 && self->rows && self->queue_count &&
                       self->queue_count < NS_NO_QUEUE && self->data_count < NS_NONE8 && self->chances < NS_NONE8 &&
                       self->watches < NS_NONE8;
    if (!REQUIRE(sizes, "level, row, queues, chance, data or watch has a wrong number of entries")) return false;
    for (uint32_t at = 0; at < self->levels; at++) {
        if (!check_level(reader, self, at)) return false;
    }
    return check_queues(reader, self) && check_own(reader, self, plan->refill) && add_masks(reader, self);
}

bool ns_control_check(ns_plan_reader *reader, ns_full_plan *plan, ns_control *self) {
    const ns_plan *steal = &plan->steal;
    for (uint32_t at = 0; at < steal->levels; at++) {
        const ns_level *level = &steal->level[at];
        if (at < steal->steal_levels) {
            plan->counts_live |= (level->flags & NS_FLAG_GATED) != 0;
        } else {
            plan->rules_ask_tasks |= level->anchor == NS_ANCHOR_LABEL || level->flags & NS_FLAG_TIERS;
        }
    }
    return REQUIRE(!plan->counts_live || (self->tier.count == (uint64_t)plan->graph.rows && !plan->graph.folded),
                   "a level is gated, but tasks have no tiers");
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Compute members that the engines read in each step. If dispatch looks at the objects of tasks, a full own queue does
 * not make a worker execute its spawned tasks at once, because such a task may go to another queue. */
static void derive(ns_full_plan *self) {
    bool bounded = false, overflows = false;
    for (uint32_t q = 0; q < self->steal.queue_count; q++) {
        bounded |= self->steal.queues[q].capacity != 0;
        overflows |= self->steal.queues[q].full == NS_FULL_INLINE;
    }
    self->own_never_full = self->own_dispatch && !bounded;
    self->overflows = overflows && !self->looks_at_data;
    self->inlines = self->overflows || self->inline_above >= 0;
    self->puts_take_time = self->costs.push_ps || self->words.queue_lock.count;
    self->locks_search = self->words.declared < self->words.role.count;
    self->locks_probes = self->words.level_lock.count || (self->words.queue_lock.count && !self->words.looks_first);
}

bool ns_full_plan_check(ns_plan_reader *reader, ns_full_plan *plan, ns_full_plan *self) {
    const bool lines_move = self->costs.line != NS_LINES_NO || self->words.role.count;
    const bool needs_own = self->own_dispatch || self->one_queue_each || self->skipping;
    const uint64_t reaches = (1 + (uint64_t)self->steal.steal_levels) * self->steal.queue_count * self->workers;
    bool have_own = true; /* whether each worker has a queue of its own */
    for (uint32_t worker = 0; worker < self->workers; worker++) have_own &= self->steal.own[worker] != NS_NO_QUEUE;
    uint32_t segments = 0;
    derive(self);
    if (!REQUIRE(!lines_move || self->line_ps.count == (uint64_t)self->workers * self->workers,
                 "line_ps does not have a row for each worker") ||
        !REQUIRE(self->costs.line != NS_LINES_YES || self->queue_lines.count == self->steal.queue_count,
                 "queue_lines does not have a value for each queue") ||
        !REQUIRE(self->looks_at_data || !ns_looks_at_data(&self->steal),
                 "looks_at_data is 0, but a dispatch rule asks where data is") ||
        !REQUIRE(!needs_own || have_own, "own has a worker without a queue") ||
        !REQUIRE(!self->idle.reach.count || self->idle.reach.count == reaches,
                 "reach does not have a row for each level and queue")) {
        return false;
    }
    for (uint64_t at = 0; at < self->phases.count; at++) {
        if (!number_roots(reader, &self->graph, (ns_phase *)&self->phases.at[at], &segments)) return false;
    }
    return check_uses(reader, self);
}
