/* Generated from numasim/schema by `python -m numasim.schema.generate_c`: not to be edited. */
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define NS_NONE8 255
#define NS_ALL16 65535
#define NS_ALL32 INT64_C(4294967295)
#define NS_NO_QUEUE 2147483647
#define NS_MIN_MARK (-1)
#define NS_MAX_MARK (-2)
#define NS_BELOW_MIN_MARK (-3)
#define NS_BELOW_MAX_MARK (-4)
#define NS_OWNER_MARK (-5)
#define NS_OWNER_EXACT_MARK (-6)
#define NS_ASLEEP_MARK (-7)
#define NS_FLAG_ATTEMPT 1
#define NS_FLAG_INVERT 2
#define NS_FLAG_GATED 4
#define NS_FLAG_UNLESS 8
#define NS_FLAG_OWN_FIRST 16
#define NS_FLAG_HEADS 32
#define NS_FLAG_FORGET 64
#define NS_FLAG_ABOVE 128
#define NS_EVERY_TIER 7
#define NS_TIER_SHIFT 4
#define NS_FLAG_TIERS 112
#define NS_FLAG_COPY 128
#define NS_FLAG_LOOKS 1
#define NS_FLAG_UNEVEN 2
#define NS_FLAG_HERE 4
#define NS_FLAG_SOURCE 8
#define NS_NOWHERE (-1)
#define NS_OPEN_HOME (-2)
#define NS_MILLION 1000000
#define NS_MOST_WORKERS 1048576
#define NS_MOST_NODES 16384
#define NS_MOST_ROWS INT64_C(2147483648)
#define NS_MOST_ITEMS INT64_C(4294967295)
#define NS_MOST_FACTOR INT64_C(8589934592)
#define NS_LONGEST_PS INT64_C(1152921504606846976)
#define NS_MOST_COST_PS INT64_C(9007199254740992)
#define NS_MOST_BYTES INT64_C(1125899906842624)
#define NS_MOST_PAGE_BYTES INT64_C(4294967296)
#define NS_MOST_UNIT_PAGES 1048576
#define NS_MOST_ACCESS_ROWS INT64_C(2147483648)
#define NS_MOST_STRIDE INT64_C(4611686018427387904)
#define NS_MOST_MOVED INT64_C(274877906944)
#define NS_MOST_SHARES 16777216
#define NS_MOST_OBJECTS INT64_C(1099511627776)
#define NS_MOST_OBJECT_BYTES INT64_C(1152921504606846976)
#define NS_MOST_OBJECTS_OPENED 16777216
#define NS_MOST_UNITS_PER_S INT64_C(140737488355328)
#define NS_MOST_PASSES INT64_C(4294967296)
#define NS_MOST_MISSES INT64_C(1099511627776)
#define NS_MOST_HZ INT64_C(1099511627776)
#define NS_MOST_PHASE_ROWS 100000
#define NS_BARGED_PS 1000000000
#define NS_CHUNK_BYTES 65536

enum ns_op {
    NS_OP_RUN = 0,
    NS_OP_SPAWN = 1,
    NS_OP_CALL = 2,
    NS_OP_WAIT = 3,
    NS_OP_LOCK = 4,
    NS_OP_UNLOCK = 5,
    NS_OP_ATOMIC = 6,
    NS_OP_BARRIER = 7,
    NS_OP_AWAIT = 8,
    NS_OP_SIGNAL = 9,
    NS_OP_BROADCAST = 10,
    NS_OP_BEGIN = 11,
    NS_OP_LOAD = 12,
    NS_OP_STORE = 13,
    NS_OP_COMMIT = 14,
    NS_OP_GROUP = 15,
    NS_OP_END_GROUP = 16,
    NS_OP_END
};

enum ns_row_kind {
    NS_ROW_TASK = 0,
    NS_ROW_CALL = 1,
    NS_ROW_IMPLICIT = 2
};

enum ns_use {
    NS_USE_READ = 1,
    NS_USE_WRITE = 2,
    NS_USE_READ_WRITE = 3
};

enum ns_deal {
    NS_DEAL_MASTER = 0,
    NS_DEAL_BLOCK = 1,
    NS_DEAL_CYCLIC = 2
};

enum ns_tier {
    NS_TIER_FREE = 1,
    NS_TIER_ROOT = 2,
    NS_TIER_LOCAL = 4
};

enum ns_sync_role {
    NS_SYNC_LOCK = 0,
    NS_SYNC_ATOMIC = 1,
    NS_SYNC_CONDITION = 2,
    NS_SYNC_BARRIER = 3,
    NS_SYNC_OBJECTS = 4
};

enum ns_anchor {
    NS_ANCHOR_ME = 0,
    NS_ANCHOR_ALL = 1,
    NS_ANCHOR_PARENT = 2,
    NS_ANCHOR_THIEF = 3,
    NS_ANCHOR_LAST = 4,
    NS_ANCHOR_LIGHTEST = 5,
    NS_ANCHOR_DATA = 6,
    NS_ANCHOR_LABEL = 7
};

enum ns_pick {
    NS_PICK_RANDOM = 0,
    NS_PICK_IN_ORDER = 1,
    NS_PICK_ROTATE = 2,
    NS_PICK_ROUND_ROBIN = 3,
    NS_PICK_AFTER_LAST = 4,
    NS_PICK_LONGEST = 5,
    NS_PICK_SHORTEST = 6,
    NS_PICK_CYCLIC = 7,
    NS_PICK_BLOCK = 8,
    NS_PICK_PERMUTATION = 9
};

enum ns_visit {
    NS_VISIT_NEAREST = 0,
    NS_VISIT_RANDOM = 1,
    NS_VISIT_WEIGHTED = 2
};

enum ns_reach {
    NS_REACH_NEVER = 0,
    NS_REACH_SOMETIMES = 1,
    NS_REACH_ALWAYS = 2
};

enum ns_amount_kind {
    NS_AMOUNT_COUNT = 0,
    NS_AMOUNT_SHARE = 1
};

enum ns_node_rank {
    NS_RANK_MOST = 0,
    NS_RANK_CHEAPEST = 1,
    NS_RANK_ANY = 2
};

enum ns_counted {
    NS_COUNT_READS = 1,
    NS_COUNT_WRITES = 2,
    NS_COUNT_BOTH = 3
};

enum ns_weigh {
    NS_WEIGH_BYTES = 0,
    NS_WEIGH_OBJECTS = 1
};

enum ns_end {
    NS_END_FRONT = 0,
    NS_END_BACK = 1
};

enum ns_full {
    NS_FULL_GROW = 0,
    NS_FULL_INLINE = 1,
    NS_FULL_NEXT = 2,
    NS_FULL_BLOCK = 3,
    NS_FULL_DISPLACE = 4,
    NS_FULL_SPILL_OLDEST = 5,
    NS_FULL_SPILL_NEWEST = 6
};

enum ns_join_kind {
    NS_JOIN_HELP = 0,
    NS_JOIN_OWN = 1,
    NS_JOIN_STRICT = 2,
    NS_JOIN_CONTINUATION = 3,
    NS_JOIN_BLOCK = 4,
    NS_JOIN_LEAPFROG = 5
};

enum ns_producer_kind {
    NS_PRODUCER_NONE = 0,
    NS_PRODUCER_EXTRA = 1,
    NS_PRODUCER_MASTER = 2
};

enum ns_threshold_rule {
    NS_RULE_LITERAL = 0,
    NS_RULE_AVAIL = 1,
    NS_RULE_FRACTION = 2
};

enum ns_threshold_time {
    NS_THRESHOLDS_FIRST_DRAIN = 0,
    NS_THRESHOLDS_PHASE = 1,
    NS_THRESHOLDS_FIXED = 2
};

enum ns_lock_kind {
    NS_LOCK_TAS = 0,
    NS_LOCK_TTAS = 1,
    NS_LOCK_TICKET = 2,
    NS_LOCK_MCS = 3,
    NS_LOCK_MUTEX = 4,
    NS_LOCK_COHORT = 5,
    NS_LOCK_CLH = 6,
    NS_LOCK_BARGING = 7
};

#define NS_EACH_LOCK_KIND(EACH) \
    EACH(tas, TAS) \
    EACH(ttas, TTAS) \
    EACH(ticket, TICKET) \
    EACH(mcs, MCS) \
    EACH(mutex, MUTEX) \
    EACH(cohort, COHORT) \
    EACH(clh, CLH) \
    EACH(barging, BARGING)

enum ns_barrier_kind {
    NS_BARRIER_CENTRAL = 0,
    NS_BARRIER_FLAG = 1,
    NS_BARRIER_TREE = 2,
    NS_BARRIER_PER_DOMAIN = 3
};

enum ns_cache_model {
    NS_CACHE_NONE = 0,
    NS_CACHE_SHARE = 1,
    NS_CACHE_LRU = 2
};

enum ns_contention {
    NS_CONTENTION_NONE = 0,
    NS_CONTENTION_SNAPSHOT = 1,
    NS_CONTENTION_FLUID = 2
};

enum ns_line_rule {
    NS_LINES_NO = 0,
    NS_LINES_YES = 1,
    NS_LINES_LATENCY = 2
};

enum ns_recheck_rule {
    NS_RECHECK_EACH = 0,
    NS_RECHECK_LAST = 1,
    NS_RECHECK_EVENTS = 2,
    NS_RECHECK_NONE = 3
};

enum ns_wake_rule {
    NS_WAKE_EVERY_PUSH = 0,
    NS_WAKE_NO_SEARCHER = 1,
    NS_WAKE_EMPTY_QUEUE = 2,
    NS_WAKE_UNCOVERED = 3
};

enum ns_whom_rule {
    NS_WHOM_NEWEST = 0,
    NS_WHOM_LOWEST = 1,
    NS_WHOM_ALL = 2
};

enum ns_chain_rule {
    NS_CHAIN_FINDER = 0,
    NS_CHAIN_LAST_SEARCHER = 1,
    NS_CHAIN_WOKEN = 2
};

enum ns_cap_rule {
    NS_CAP_COUNT = 0,
    NS_CAP_SHARE = 1,
    NS_CAP_BUSY_SHARE = 2
};

/* The words that stand for values of choices, in their order. */
extern const char *const NS_OP_WORD[18];
extern const char *const NS_ROW_KIND_WORD[3];
extern const char *const NS_USE_WORD[3];
extern const char *const NS_DEAL_WORD[3];
extern const char *const NS_TIER_WORD[3];
extern const char *const NS_SYNC_ROLE_WORD[5];
extern const char *const NS_ANCHOR_WORD[8];
extern const char *const NS_PICK_WORD[10];
extern const char *const NS_VISIT_WORD[3];
extern const char *const NS_REACH_WORD[3];
extern const char *const NS_AMOUNT_KIND_WORD[2];
extern const char *const NS_NODE_RANK_WORD[3];
extern const char *const NS_COUNTED_WORD[3];
extern const char *const NS_WEIGH_WORD[2];
extern const char *const NS_END_WORD[2];
extern const char *const NS_FULL_WORD[7];
extern const char *const NS_JOIN_KIND_WORD[6];
extern const char *const NS_PRODUCER_KIND_WORD[3];
extern const char *const NS_THRESHOLD_RULE_WORD[3];
extern const char *const NS_THRESHOLD_TIME_WORD[3];
extern const char *const NS_LOCK_KIND_WORD[8];
extern const char *const NS_BARRIER_KIND_WORD[4];
extern const char *const NS_CACHE_MODEL_WORD[3];
extern const char *const NS_CONTENTION_WORD[3];
extern const char *const NS_LINE_RULE_WORD[3];
extern const char *const NS_RECHECK_RULE_WORD[4];
extern const char *const NS_WAKE_RULE_WORD[4];
extern const char *const NS_WHOM_RULE_WORD[3];
extern const char *const NS_CHAIN_RULE_WORD[3];
extern const char *const NS_CAP_RULE_WORD[3];

/* A steal level, or a dispatch rule. */
typedef struct ns_level {
    uint32_t row; /* the level's first entry in `row` */
    uint32_t amount;
    uint32_t most; /* bound of an amount that is a share of the queue; 0: none */
    uint32_t first_iteration;
    uint32_t last_iteration;
    uint32_t every; /* tasks of the worker from one poll by the level to the next; 0: the level is in rounds */
    uint16_t tries;
    uint16_t sample;
    uint16_t leave;
    uint16_t leap_after; /* fruitless rounds in a leapfrogging join before a round by the level; 0: no such round */
    uint16_t pad;
    uint8_t anchor; /* Anchor */
    uint8_t pick; /* Pick */
    uint8_t visit; /* Visit */
    uint8_t segments; /* of a group */
    uint8_t watch; /* or NONE8 */
    uint8_t flags; /* FLAG_ATTEMPT and the other flags of levels in numasim/schema/enumerations.py */
    uint8_t chance; /* or NONE8 */
    uint8_t amount_kind; /* AmountKind */
    uint8_t data; /* or NONE8 */
    uint8_t toggle; /* number of the switch that the level depends on, or NONE8 */
} ns_level;
static_assert(sizeof(ns_level) == 44, "ns_level has another size in Python");
static_assert(offsetof(ns_level, row) == 0, "row is elsewhere in Python");
static_assert(offsetof(ns_level, amount) == 4, "amount is elsewhere in Python");
static_assert(offsetof(ns_level, most) == 8, "most is elsewhere in Python");
static_assert(offsetof(ns_level, first_iteration) == 12, "first_iteration is elsewhere in Python");
static_assert(offsetof(ns_level, last_iteration) == 16, "last_iteration is elsewhere in Python");
static_assert(offsetof(ns_level, every) == 20, "every is elsewhere in Python");
static_assert(offsetof(ns_level, tries) == 24, "tries is elsewhere in Python");
static_assert(offsetof(ns_level, sample) == 26, "sample is elsewhere in Python");
static_assert(offsetof(ns_level, leave) == 28, "leave is elsewhere in Python");
static_assert(offsetof(ns_level, leap_after) == 30, "leap_after is elsewhere in Python");
static_assert(offsetof(ns_level, pad) == 32, "pad is elsewhere in Python");
static_assert(offsetof(ns_level, anchor) == 34, "anchor is elsewhere in Python");
static_assert(offsetof(ns_level, pick) == 35, "pick is elsewhere in Python");
static_assert(offsetof(ns_level, visit) == 36, "visit is elsewhere in Python");
static_assert(offsetof(ns_level, segments) == 37, "segments is elsewhere in Python");
static_assert(offsetof(ns_level, watch) == 38, "watch is elsewhere in Python");
static_assert(offsetof(ns_level, flags) == 39, "flags is elsewhere in Python");
static_assert(offsetof(ns_level, chance) == 40, "chance is elsewhere in Python");
static_assert(offsetof(ns_level, amount_kind) == 41, "amount_kind is elsewhere in Python");
static_assert(offsetof(ns_level, data) == 42, "data is elsewhere in Python");
static_assert(offsetof(ns_level, toggle) == 43, "toggle is elsewhere in Python");

/* A queue of tasks. */
typedef struct ns_queue {
    int32_t home; /* node of the queue's words; -1 for a queue of the whole machine */
    int32_t owner; /* first worker of its unit */
    int32_t capacity; /* 0: without bound */
    uint16_t in_a_row; /* of a slot: tasks that its worker takes from it in a row before it closes; 0: any */
    uint8_t hidden; /* 1: only its owner takes from it */
    uint8_t family;
    uint8_t own_end; /* End */
    uint8_t steal_end; /* End */
    uint8_t full; /* Full */
    uint8_t pad;
} ns_queue;
static_assert(sizeof(ns_queue) == 20, "ns_queue has another size in Python");
static_assert(offsetof(ns_queue, home) == 0, "home is elsewhere in Python");
static_assert(offsetof(ns_queue, owner) == 4, "owner is elsewhere in Python");
static_assert(offsetof(ns_queue, capacity) == 8, "capacity is elsewhere in Python");
static_assert(offsetof(ns_queue, in_a_row) == 12, "in_a_row is elsewhere in Python");
static_assert(offsetof(ns_queue, hidden) == 14, "hidden is elsewhere in Python");
static_assert(offsetof(ns_queue, family) == 15, "family is elsewhere in Python");
static_assert(offsetof(ns_queue, own_end) == 16, "own_end is elsewhere in Python");
static_assert(offsetof(ns_queue, steal_end) == 17, "steal_end is elsewhere in Python");
static_assert(offsetof(ns_queue, full) == 18, "full is elsewhere in Python");
static_assert(offsetof(ns_queue, pad) == 19, "pad is elsewhere in Python");

/* The probability with which a level is entered, and its changes by success and failure. */
typedef struct ns_chance {
    int32_t first_ppm;
    int32_t most_ppm;
    int32_t hit_ppm;
    int32_t miss_ppm;
    int32_t elsewhere_hit_ppm;
    int32_t elsewhere_miss_ppm;
    int32_t level;
} ns_chance;
static_assert(sizeof(ns_chance) == 28, "ns_chance has another size in Python");
static_assert(offsetof(ns_chance, first_ppm) == 0, "first_ppm is elsewhere in Python");
static_assert(offsetof(ns_chance, most_ppm) == 4, "most_ppm is elsewhere in Python");
static_assert(offsetof(ns_chance, hit_ppm) == 8, "hit_ppm is elsewhere in Python");
static_assert(offsetof(ns_chance, miss_ppm) == 12, "miss_ppm is elsewhere in Python");
static_assert(offsetof(ns_chance, elsewhere_hit_ppm) == 16, "elsewhere_hit_ppm is elsewhere in Python");
static_assert(offsetof(ns_chance, elsewhere_miss_ppm) == 20, "elsewhere_miss_ppm is elsewhere in Python");
static_assert(offsetof(ns_chance, level) == 24, "level is elsewhere in Python");

/* The conditions of a dispatch rule on a task and its objects. */
typedef struct ns_data {
    int64_t min_bytes; /* of the objects that count */
    int32_t min_share_ppm; /* of them on the node chosen */
    uint8_t rank; /* NodeRank */
    uint8_t count; /* Counted */
    uint8_t weigh; /* Weigh */
    uint8_t flags; /* FLAG_LOOKS and its guards */
} ns_data;
static_assert(sizeof(ns_data) == 16, "ns_data has another size in Python");
static_assert(offsetof(ns_data, min_bytes) == 0, "min_bytes is elsewhere in Python");
static_assert(offsetof(ns_data, min_share_ppm) == 8, "min_share_ppm is elsewhere in Python");
static_assert(offsetof(ns_data, rank) == 12, "rank is elsewhere in Python");
static_assert(offsetof(ns_data, count) == 13, "count is elsewhere in Python");
static_assert(offsetof(ns_data, weigh) == 14, "weigh is elsewhere in Python");
static_assert(offsetof(ns_data, flags) == 15, "flags is elsewhere in Python");
