/* A compiled strategy as an executor reads it: the records and tables of numasim/strategy/plan.py, in memory as there.
 *
 * Level records come steal levels first, then dispatch rules. `row[level.row + anchor] .. row[level.row + anchor + 1]`
 * are the segments of an anchor; a group is `level.segments` consecutive segments; segment s holds `queue[seg[s]]` to
 * `queue[seg[s + 1] - 1]`. The plan is never written to; all that changes lives in `ns_actor` and `ns_round`.
 *
 * Nothing here is checked again: pointers ascend, ids are in bounds, a row is made of whole groups, amounts and samples
 * are at least one, and a worker's own queue is nobody else's and names it as its `owner`.
 */
#ifndef NUMASIM_POLICY_PLAN_H
#define NUMASIM_POLICY_PLAN_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum { NS_NONE8 = 255, NS_ALL16 = 65535 };
#define NS_NO_QUEUE UINT32_C(0x7FFFFFFF) /* in `own` */

/* Watch bounds that mean the queue's own threshold s or S, and one less than it. */
enum { NS_MIN_MARK = -1, NS_MAX_MARK = -2, NS_BELOW_MIN_MARK = -3, NS_BELOW_MAX_MARK = -4 };

enum { NS_FLAG_ATTEMPT = 1, NS_FLAG_INVERT = 2 };
enum { NS_FLAG_LOOKS = 1, NS_FLAG_UNEVEN = 2, NS_FLAG_HERE = 4, NS_FLAG_SOURCE = 8 }; /* of a data record */

enum ns_anchor {
    NS_ANCHOR_ME,
    NS_ANCHOR_ALL,
    NS_ANCHOR_PARENT,
    NS_ANCHOR_THIEF,
    NS_ANCHOR_LAST,
    NS_ANCHOR_LIGHTEST,
    NS_ANCHOR_DATA
};

enum ns_pick {
    NS_PICK_RANDOM,
    NS_PICK_IN_ORDER,
    NS_PICK_ROTATE,
    NS_PICK_ROUND_ROBIN,
    NS_PICK_AFTER_LAST,
    NS_PICK_LONGEST,
    NS_PICK_SHORTEST,
    NS_PICK_CYCLIC,
    NS_PICK_BLOCK
};

enum ns_visit { NS_VISIT_NEAREST, NS_VISIT_RANDOM, NS_VISIT_WEIGHTED };
enum ns_amount_kind { NS_AMOUNT_COUNT, NS_AMOUNT_SHARE };
enum ns_node_rank { NS_RANK_MOST, NS_RANK_CHEAPEST, NS_RANK_ANY };
enum ns_counted { NS_COUNT_READS = 1, NS_COUNT_WRITES = 2, NS_COUNT_BOTH = 3 };
enum ns_weigh { NS_WEIGH_BYTES, NS_WEIGH_OBJECTS };
enum ns_full { NS_FULL_GROW, NS_FULL_INLINE, NS_FULL_NEXT, NS_FULL_BLOCK };

typedef struct {
    uint32_t row, amount, first_iteration, last_iteration;
    uint16_t tries, sample, leave;
    uint8_t anchor, pick, visit, segments, watch, flags, chance, amount_kind, data, pad;
} ns_level;
static_assert(sizeof(ns_level) == 32, "the record LEVEL of plan.py");

typedef struct {
    int32_t home;     /* node of the queue's words; -1 for a queue of the whole machine */
    int32_t owner;    /* first worker of its unit */
    int32_t capacity; /* 0: without bound */
    uint8_t family, own_end, steal_end, full;
} ns_queue;
static_assert(sizeof(ns_queue) == 16, "the record QUEUE of plan.py");

typedef struct {
    int32_t first_ppm, most_ppm, hit_ppm, miss_ppm, elsewhere_hit_ppm, elsewhere_miss_ppm, level;
} ns_chance;
static_assert(sizeof(ns_chance) == 28, "the record CHANCE of plan.py");

/* What a dispatch rule asks of a task and its objects. */
typedef struct {
    int64_t min_bytes;
    int32_t min_share_ppm;
    uint8_t rank, count, weigh, flags;
} ns_data;
static_assert(sizeof(ns_data) == 16, "the record DATA of plan.py");

typedef struct {
    const ns_level *level;
    const uint32_t *row, *seg, *queue;
    const uint64_t *weight;  /* [segments] cumulative within a row, for NS_VISIT_WEIGHTED */
    const int32_t *watch;    /* [watches][2]: the bit is set at length >= [0], cleared at length <= [1] */
    const ns_chance *chance; /* [chances] */
    const ns_queue *queues;  /* [queue_count] */
    const uint32_t *own;     /* [workers] the worker's own queue, or NS_NO_QUEUE */
    uint32_t workers, steal_levels, levels, rows, watches, chances, queue_count; /* rows: entries of `row` */
    const ns_data *data;                                                         /* [data_count] */
    const int32_t *node;       /* [workers + 1] of each worker, and of an extra producer */
    const int32_t *domains;    /* [domain_count] the nodes that have workers, ascending */
    const int64_t *latency_ps; /* [nodes][nodes] from a core of the first to memory of the second */
    uint32_t data_count, nodes, domain_count;
    const uint64_t *mask; /* [segments][ns_mask_words] the queues of each segment, or NULL: see masks.h */
} ns_plan;

#endif
