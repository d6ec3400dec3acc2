/* Generated from numasim/schema by `python -m numasim.schema.generate_c`: not to be edited. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "plan/views.h"
#include "enumerations.h"

/* Times of segments by node, if they are known before the run; empty for a node without workers. */
typedef struct ns_segment_times {
    int64_t segments;
    ns_i64_lists total; /* [nodes, segments] */
    ns_i64_lists local; /* [nodes, segments] */
    ns_i64s traffic; /* [segments, nodes] bytes of the settled accesses by home, empty if there are none */
} ns_segment_times;

/* Programs of tasks in CSR form (numasim/workload/graph.py). A folded graph has one row for all equal subtrees. */
typedef struct ns_graph {
    int64_t rows;
    bool folded;
    ns_u8s op_code; /* [ops] Op */
    ns_u32s op_arg; /* [ops] */
    ns_i64s op_ptr; /* [rows + 1] */
    ns_u8s kind; /* [rows] Kind */
    ns_u8s kernel; /* [segments] */
    ns_i64s parent; /* [rows] */
    ns_u32s successor; /* [edges] */
    ns_i64s successor_ptr; /* [rows + 1] */
    int64_t tasks; /* ids of tasks are below this */
    ns_i64s size; /* [rows] number of tasks in the subtree of each row, the row included */
    ns_i64s child; /* [ops] id of the task that an op spawns or calls, less the id of the parent, if the graph is folded */
    ns_u32s segment; /* [ops] number of the op's segment, or of the first segment of the op's child, less the number of the first segment of the op's task, if the graph is folded */
    ns_u32s subtree_segments; /* [rows] number of segments of the subtree, if the graph is folded */
} ns_graph;

/* How automatic NUMA balancing scans memory, and after how many hinting faults pages migrate. */
typedef struct ns_scan {
    int64_t delay_ps; /* from the begin of the stage to the first scan */
    int64_t period_ps; /* between scans; 0: nothing is scanned */
    int64_t bytes; /* of a scan */
    int64_t hint_fault_ps; /* the time of a hinting fault of a page; -1: the time of any page fault */
    int64_t migrate_after; /* hinting faults of one node in a row */
} ns_scan;

/* The rules for pages from a phase on. */
typedef struct ns_stage {
    int64_t phase;
    bool reads_place; /* whether reads place pages */
    bool marks; /* every page that is placed when the phase starts migrates to its next toucher */
    ns_scan scan;
    ns_node_lists wish; /* the nodes of pages that are placed; the node of the toucher if empty */
} ns_stage;
NS_VIEW(ns_stage_list, ns_stage);

/* Where the pages of regions are (engine/reference/memory/page_map.py). */
typedef struct ns_memory {
    int64_t page_bytes;
    ns_i64s region_pages; /* [regions] */
    ns_i64s unit_pages; /* [regions] pages that are placed and moved together */
    ns_u8s dynamic; /* [regions] whether pages are placed or moved while the program runs */
    ns_node_lists home; /* homes of the pages of dynamic regions before the run */
    ns_stage_list stages; /* by phase; the first one is in force before the run */
    ns_i32s home_of_node; /* [nodes] the node of memory that is wanted on each node: another node if that node has no memory */
    ns_i64s free_pages; /* [nodes] empty if nodes cannot be full */
    ns_i64s by_distance; /* [nodes, nodes] all nodes by distance from each node, nearest first; empty if nodes cannot be full */
} ns_memory;

/* The accesses of segments, for runs that need them one by one. */
typedef struct ns_accesses {
    ns_u32s region; /* [accesses] */
    ns_i64s offset; /* [accesses] */
    ns_i64s row_bytes; /* [accesses] */
    ns_i64s rows; /* [accesses] */
    ns_i64s stride; /* [accesses] */
    ns_i64s factor; /* [accesses] bytes moved for each byte of the footprint */
    ns_i64s mlp; /* [accesses] misses under way at once */
    ns_u8s writes; /* [accesses] */
    ns_i64s settled; /* [accesses, nodes] footprint on each home before the run; empty if unused */
} ns_accesses;

/* Accesses whose pages are placed or moved during the run; `ptr` is empty if there are none. */
typedef struct ns_open_accesses {
    ns_i64s ptr; /* [segments + 1] into `access` */
    ns_i64s access; /* [open accesses] */
    ns_i64s compute; /* [segments] */
    ns_i64s settled; /* [nodes, segments] memory time of the other accesses */
    ns_i64s latency_ps; /* [nodes, nodes] from a core of the first to memory of the second */
} ns_open_accesses;

/* A whole number for each item of a range, or a table to draw them from (numasim/workload/amounts.py). */
typedef struct ns_amounts {
    ns_i64s items; /* [items] empty if drawn */
    ns_u64s start; /* [parts] the lowest number that finds each part */
    ns_i64s low; /* [parts] */
    ns_i64s high; /* [parts] */
} ns_amounts;

/* One access of the items of a range, tabulated over its distinct offsets. */
typedef struct ns_item_access {
    int64_t divisor;
    bool by_quotient;
    bool by_remainder;
    ns_i64s traffic; /* [rows, nodes] bytes by home */
    ns_i64_lists wait; /* [nodes, rows] memory time, empty for a node without workers */
} ns_item_access;
NS_VIEW(ns_item_access_list, ns_item_access);

/* Bytes that items move from and to given homes, which no cache serves. */
typedef struct ns_node_access {
    ns_amounts amounts;
    ns_i32s home; /* [homes] */
    ns_i64s share_end; /* [homes] the end of each home's share of an amount, in units of which the last end is the whole */
    bool owned; /* bytes are fetched for ownership */
    bool written; /* bytes are written back */
    int64_t misses; /* under way at once, times 1000 */
    int64_t returned_ppm; /* the part of the bytes' memory that the item gives back */
    ns_i64s latency; /* [nodes, homes] */
    ns_i64s local_latency; /* [nodes] of each node's own memory */
} ns_node_access;
NS_VIEW(ns_node_access_list, ns_node_access);

/* Bytes of memory that each item touches first, or gives back. */
typedef struct ns_page_amounts {
    ns_amounts amounts;
} ns_page_amounts;
NS_VIEW(ns_page_amounts_list, ns_page_amounts);

/* Similar tasks that are never materialised. */
typedef struct ns_family {
    int64_t count;
    uint32_t kernel;
    int64_t low_ps;
    int64_t high_ps;
    ns_amounts compute; /* empty if times are uniform between the two */
    ns_i64s local_wait; /* [nodes] memory time if all bytes were local */
    ns_item_access_list accesses;
    ns_node_access_list node_accesses;
    ns_page_amounts_list fresh; /* bytes of memory that items touch first: none, or one */
    ns_page_amounts_list freed; /* bytes of memory that items give back: none, or one */
} ns_family;
NS_VIEW(ns_family_list, ns_family);

/* The computing and the accesses of the segments of the graph. */
typedef struct ns_segment_needs {
    ns_i64s compute_ps; /* [segments] */
    ns_i64s first_access; /* [segments + 1] */
    ns_u8s mode; /* [accesses] Mode */
    ns_i64s passes; /* [accesses] */
    ns_i64s misses; /* [accesses] misses under way at once, times 1000 */
} ns_segment_needs;

/* The caches. */
typedef struct ns_cache_sizes {
    enum ns_cache_model model;
    int64_t l2_bytes; /* -1: no cache that counts */
    int64_t hit_ps;
    int64_t remote_hit_ps;
    bool forwards; /* clean lines, too, come from other caches */
    uint64_t domains;
    ns_i64s llc_bytes; /* [llc domains] 0: no cache */
    ns_u32s domain; /* [workers] the last-level cache of each worker */
    ns_i64s region_bytes; /* [regions] */
} ns_cache_sizes;

/* The resources that flows share. Capacities are in units per second: bytes, or page faults. */
typedef struct ns_resources {
    ns_i64s capacity; /* [resources] */
    ns_paths reads; /* the resources that a line uses when it is read from a home */
    ns_paths writes; /* the resources that a line uses when it is written back to a home */
    ns_paths moves; /* the resources that a line uses when it moves between caches */
    ns_i32s llc_port; /* [llc domains] -1: none */
    int32_t faults; /* the address space, or -1 */
    int64_t fault_units; /* of the address space that a page fault takes */
    int64_t fault_alpha_ppm;
} ns_resources;

/* The rules for the speeds of workers. */
typedef struct ns_speed_rules {
    ns_u32s core; /* [workers] */
    ns_u32s socket; /* [workers] */
    bool slows_memory; /* workers that share a core also wait longer for memory */
    int64_t executing_ppm; /* speed of a thread beside one that executes */
    int64_t polling_ppm; /* beside one that polls */
    ns_i64s clock_active; /* [steps] empty if the clock is fixed */
    ns_i64s clock_hz; /* [steps] */
    int64_t clock_base_hz;
    ns_i64s core_ppm; /* [workers] speed of computing of each worker's core */
    int64_t worker_spread_ppm;
} ns_speed_rules;

/* The costs of items that touch memory first or give memory back. */
typedef struct ns_page_costs {
    int64_t unmap_ps; /* the time of giving back a page of the own node */
    ns_i64s unmap_far_ps; /* [nodes, homes] the time of giving back a page of each home, as seen from each node */
    int64_t flush_ps; /* the time of a flush, for all other threads together */
    int64_t unmap_batch; /* pages a flush; 0: all pages that an item gives back */
} ns_page_costs;

/* Helper threads (model 4.11). */
typedef struct ns_helpers {
    ns_u8s has; /* [workers] whether each worker has a helper */
    int64_t lifespan_bytes;
    int64_t work_ppm;
    int64_t start_ps;
    int64_t restart_ps;
} ns_helpers;

/* One access of the items of a range, tabulated like its ItemAccess. */
typedef struct ns_item_access_price {
    bool owned; /* bytes are fetched for ownership */
    ns_i64s wait; /* [rows] */
    ns_i64s fetched; /* [rows, nodes] */
    ns_i64s written; /* [rows, nodes] */
    int64_t cached_bytes;
} ns_item_access_price;
NS_VIEW(ns_item_access_price_list, ns_item_access_price);

/* The prices of the items of a family for the workers of a seat, and the demands of these workers. */
typedef struct ns_family_price {
    int64_t local_wait_ps;
    int64_t mean_compute_ps;
    int64_t mean_wait_ps;
    int64_t mean_pages_ps; /* time of page faults and of giving back memory */
    ns_u32s resource; /* [uses] resources that the mean item uses, ascending */
    ns_i64s units; /* [uses] units of each resource */
    ns_item_access_price_list accesses;
} ns_family_price;
NS_VIEW(ns_family_price_list, ns_family_price);

/* Workers that pay the same prices. */
typedef struct ns_seat {
    ns_family_price_list families;
} ns_seat;
NS_VIEW(ns_seat_list, ns_seat);

/* The couplings of the running segments of a plan: caches, bandwidth, shared cores, clocks, noise. */
typedef struct ns_effects {
    bool coupled; /* all other fields are there only if this holds */
    enum ns_contention contention;
    bool queueing;
    int64_t overlap_ppm;
    int64_t task_noise_ppm;
    ns_i64s latency_ps; /* [nodes, nodes] how long a load takes */
    ns_segment_needs segments;
    ns_cache_sizes caches;
    ns_resources resources;
    ns_speed_rules speeds;
    ns_page_costs pages;
    ns_helpers helpers;
    ns_seat_list prices; /* by price class */
    ns_u32s price_class; /* [workers] */
} ns_effects;

/* A part of the program after which all workers meet. */
typedef struct ns_phase {
    ns_i64s roots; /* [roots] rows */
    int64_t family; /* -1: none */
    enum ns_deal deal;
    bool serial;
    int64_t repeat;
    ns_i64s ids; /* [roots] ids of the roots */
    ns_u32s segments; /* [roots] number of the first segment of each root */
} ns_phase;
NS_VIEW(ns_phase_list, ns_phase);

/* The phases from `first` to `end` - 1, which a program goes through `repeat` times, one after the other. */
typedef struct ns_loop {
    int64_t first;
    int64_t end;
    int64_t repeat;
} ns_loop;
NS_VIEW(ns_loop_list, ns_loop);

/* How the spawn order of a worker adapts to what is stolen from it (model 3.3). */
typedef struct ns_adaptive {
    int64_t stack; /* least depth of calls with help-first; 0: fixed */
    int64_t every; /* spawns between two decisions */
    int64_t steals; /* least number of stolen tasks for help-first */
    bool work_first; /* at the start */
} ns_adaptive;

/* A compiled strategy as an executor reads it: the tables of numasim/strategy/steal_plan.py, in memory as there. */
typedef struct ns_plan {
    const ns_level *level;
    const uint32_t *row; /* [rows] entries of `row` */
    const uint32_t *seg; /* [segments + 1] */
    const uint32_t *queue; /* [queue entries] */
    const uint64_t *weight; /* [segments] cumulative within a row, for NS_VISIT_WEIGHTED */
    const int32_t *watch; /* [watches, 2] the bit is set at length >= [0], cleared at length <= [1] */
    const ns_chance *chance;
    const ns_queue *queues;
    const uint32_t *own; /* [workers] the worker's own queue, or NS_NO_QUEUE */
    uint32_t workers;
    uint32_t steal_levels;
    uint32_t levels;
    uint32_t rows;
    uint32_t watches;
    uint32_t chances;
    uint32_t queue_count;
    const ns_data *data;
    const int32_t *node; /* [workers + 1] of each worker, and of an extra producer */
    const int32_t *domains; /* [domains] the nodes that have workers, ascending */
    const int64_t *latency_ps; /* [nodes, nodes] from a core of the first to memory of the second */
    uint32_t data_count;
    uint32_t nodes;
    uint32_t domain_count;
    const uint64_t *mask; /* [segments][ns_mask_words] the queues of each segment, or NULL: see policy/pick.h */
    const int32_t *gate; /* [workers] the unit of each worker whose live subtrees are counted */
    int64_t live_most; /* live subtrees of a unit from which on gated levels are closed */
} ns_plan;

/* The decisions of a strategy for all tasks of a program, before the first iteration (model 4.14). */
typedef struct ns_control {
    ns_u8s tier; /* [rows] Tier; empty: all are local */
    ns_i32s label; /* [rows] the unit that each task is meant for, -1: no unit; empty if no task has a unit */
    ns_i32s item_label; /* [items] the unit that each item of a range is meant for; empty: by item_units */
    int64_t item_units; /* items of ranges have labels below this number, in equal blocks */
    uint64_t switches; /* a bit for each switch that is on */
} ns_control;

/* The thresholds S (`max_tasks`) and s (`min_tasks`), -1 if computed, and the rule by which they are computed. */
typedef struct ns_threshold_rules {
    int64_t max_tasks;
    int64_t min_tasks;
    int64_t fraction_ppm;
    enum ns_threshold_rule rule;
} ns_threshold_rules;

/* How long a worker waits after rounds without a task. */
typedef struct ns_backoff {
    int64_t first_ps;
    int64_t factor;
    int64_t max_ps; /* -1: without bound */
    int64_t poll_ps; /* the wait if no back-off is given */
    int64_t scan_ps; /* a round without a probe takes at least this long */
} ns_backoff;

/* The costs of the operations of a runtime. */
typedef struct ns_operation_costs {
    int64_t push_ps;
    int64_t locate_ps;
    int64_t pop_ps;
    int64_t join_ps;
    int64_t wait_ps;
    int64_t resume_ps;
    int64_t take_ps;
    int64_t move_ps;
    int64_t wake_ps;
    int64_t wake_remote_ps;
    int64_t fault_ps;
    int64_t migrate_ps;
    int64_t signal_ps;
    int64_t probe_near_ps;
    int64_t probe_far_ps;
    int64_t least_probe_ps;
    enum ns_line_rule line; /* whether and how transfers of cache lines are paid */
    int64_t unpark_ps;
    int64_t look_ps;
    int64_t deep_ps;
    int64_t deep_wake_ps;
    int64_t yield_ps;
} ns_operation_costs;

/* A phase of fruitless rounds of a worker that finds no task. */
typedef struct ns_idle_phase {
    int64_t rounds; /* 0: the rounds of for_ps */
    int64_t for_ps;
    int64_t wait_ps; /* after each round */
    bool naps; /* the worker is off its core in the waits */
    bool yields; /* on threads: the worker yields its core in the waits */
    bool crowded; /* waits grow with the number of searching workers */
} ns_idle_phase;
NS_VIEW(ns_idle_phase_list, ns_idle_phase);

/* What a worker does that finds no task (numasim/strategy/idle.py). */
typedef struct ns_idle {
    bool given; /* all other fields are there only if this holds */
    ns_idle_phase_list phases;
    int64_t cap; /* of searching workers; 0: none */
    enum ns_cap_rule cap_of;
    bool sleeps;
    enum ns_recheck_rule recheck;
    int64_t first_ps; /* after which a sleep ends by itself; 0: never */
    int64_t factor;
    int64_t max_ps;
    enum ns_wake_rule at;
    enum ns_whom_rule whom;
    int64_t chain; /* workers that are woken by those of chain_by */
    enum ns_chain_rule chain_by;
    bool counted;
    bool cancels;
    bool missed; /* a probe that fails at a lock wakes a sleeper */
    int64_t between_ps; /* -1: never */
    ns_u8s reach; /* [1 + steal levels, queues, workers] Reach by the own queue, then by each level; empty: everybody can always take from all queues */
} ns_idle;

/* The parameters of the kinds of locks. */
typedef struct ns_lock_rules {
    bool fair;
    int64_t batch;
    int64_t spin_ps;
    int64_t pause_ps;
    int64_t futex_ps;
    int64_t wake_ps;
    int64_t wake_remote_ps;
} ns_lock_rules;

/* The times to move a cache line to a worker. */
typedef struct ns_transfers {
    const int64_t *between_ps; /* [workers][workers] to each from each other's core */
    const int64_t *memory_ps; /* [nodes, nodes] to a core of the first node from memory of the second */
    const int32_t *node; /* [workers] */
    uint32_t workers;
    uint32_t nodes;
    bool cached; /* or words live in memory alone */
} ns_transfers;

/* Synchronisation objects in their places (numasim/strategy/sync_places.py); the program's objects come first. */
typedef struct ns_plan_words {
    ns_u8s role; /* [words] Role */
    ns_i32s home; /* [words] */
    ns_i32s worker_home; /* [workers] the node of a word that is kept for each worker */
    ns_i64s parties; /* [words] */
    ns_i64s undo_ps; /* [words] the wait after an aborted attempt on a memory of objects */
    ns_u8s same; /* [words] the next attempt on a memory of objects opens the same objects */
    ns_i64s weight; /* [weights] of the objects of memories that are not drawn uniformly, summed up to and with each object */
    ns_i64s weight_ptr; /* [words + 1] of each memory of objects; empty where its objects are equally likely */
    uint32_t declared;
    ns_i32s level_lock; /* [steal levels, queues] the lock of a probe, -1: no lock; empty if there are none */
    ns_i32s queue_lock; /* [queues] the lock of each queue, -1: no lock; empty if there are none */
    bool looks_first; /* a probe looks into a queue before it takes the queue's lock */
    enum ns_lock_kind kind;
    enum ns_barrier_kind barrier;
    ns_lock_rules rules;
    ns_transfers transfers;
} ns_plan_words;

/* One object of every item of a range, at home on `home[row]`; the row is as in ItemAccess. */
typedef struct ns_item_object {
    int64_t divisor;
    bool by_quotient;
    bool by_remainder;
    ns_i32s home; /* [rows] */
    int64_t bytes;
    uint32_t mode;
} ns_item_object;
NS_VIEW(ns_item_object_list, ns_item_object);

/* The objects of the items of a family. */
typedef struct ns_item_objects {
    ns_item_object_list objects;
} ns_item_objects;
NS_VIEW(ns_item_objects_list, ns_item_objects);

/* The objects of new tasks (engine/reference/memory/page_map.py): row r has ptr[r] .. ptr[r + 1]. */
typedef struct ns_task_objects {
    ns_i32s home; /* [objects] */
    ns_i64s ptr; /* [rows + 1] */
    ns_u8s mode; /* [objects] */
    ns_i64s count; /* [objects] */
    ns_i64s bytes; /* [objects] */
    ns_i64s access; /* [objects] of an object whose home is looked up */
    ns_item_objects_list families;
} ns_task_objects;

/* Everything that an engine is given. */
typedef struct ns_full_plan {
    uint32_t workers;
    uint32_t nodes;
    ns_i32s node; /* [workers] */
    bool skipping; /* only steals are events (model 1.7) */
    bool skip;
    ns_segment_times times;
    ns_graph graph;
    bool looks_at_accesses;
    ns_memory memory;
    ns_accesses accesses;
    ns_open_accesses open;
    ns_family_list families;
    ns_effects effects;
    ns_phase_list phases;
    ns_loop_list loops; /* by their first phase, outer ones before the loops in them; they are nested */
    int64_t refill; /* -1: the queue's own threshold s */
    bool work_first;
    ns_adaptive adaptive;
    uint32_t work_first_tiers; /* tiers of tasks that are begun at their spawn */
    ns_plan steal;
    ns_control control;
    ns_threshold_rules thresholds;
    enum ns_threshold_time threshold_time;
    ns_backoff backoff;
    bool backoff_after_probe;
    bool backoff_counts_empty;
    ns_operation_costs costs;
    ns_u8s queue_lines; /* [queues] cache lines of each queue's words */
    ns_idle idle;
    ns_i64s line_ps; /* [workers, workers] transfer of a cache line to each worker from the core of each other; empty if no line moves */
    ns_plan_words words;
    enum ns_join_kind join;
    enum ns_producer_kind maker;
    bool begins_released; /* a worker begins the first task whose last predecessor the worker has finished */
    int64_t inline_resume_ppm;
    int64_t inline_above; /* a new task is executed at once if more other tasks are unfinished; -1: no bound */
    bool own_dispatch; /* every worker puts new tasks into its own queue alone */
    bool sees_marks_only;
    bool one_queue_each;
    int64_t room; /* tasks that all queues hold together */
    bool looks_at_data; /* a dispatch rule asks where the objects of a new task are */
    ns_task_objects objects;
    bool locks_search; /* a search takes locks */
    bool locks_probes; /* probes that find no task take locks, too */
    bool own_never_full; /* every new task finds room in its worker's own queue */
    bool overflows; /* spawns are executed at once if a queue overflows */
    bool inlines; /* spawns may be executed at once, by a queue's length or by `inline_above` */
    bool puts_take_time;
    bool rules_ask_tasks; /* a dispatch rule asks for the tier or the label of a task */
    bool counts_live; /* a steal level depends on how many subtrees are live */
} ns_full_plan;
