// What the engine is given: the arrays of numasim.engine.plan.Plan, borrowed from NumPy for the time of a run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "effects.hpp"
#include "policy/backoff.h"
#include "sync/barriers.h"
#include "sync/locks.h"
#include "policy/plan.h"
#include "policy/ranges.h"
#include "policy/thresholds.h"
#include "spans.hpp"

namespace numasim {

enum Op : std::uint8_t { RUN, SPAWN, CALL, WAIT, LOCK, UNLOCK, ATOMIC, BARRIER, AWAIT, SIGNAL, BROADCAST };
enum Role : std::uint8_t { LOCK_WORD, ATOMIC_WORD, CONDITION_WORD, BARRIER_WORD };
enum Kind : std::uint8_t { TASK, CALLED, IMPLICIT };
enum class Join { HELP, OWN, STRICT, CONTINUATION, BLOCK };
enum class Maker { NONE, EXTRA, MASTER };  // who creates the items of a range
enum class ThresholdTime { FIRST_DRAIN, PHASE, FIXED };

// Programs of tasks in CSR form (numasim/workload/graph.py). A `folded` graph has one row for all equal subtrees.
struct Graph {
    std::int64_t rows;
    std::int64_t tasks;  // ids of its tasks are below this: `rows`, where it is not folded
    bool folded;
    I64s op_ptr;   // [rows + 1]
    U8s op_code;   // [ops]
    U32s op_arg;   // [ops]
    U8s kind;      // [rows]
    I64s size;     // [rows] tasks in the subtree of each row, itself included
    I64s child;    // [ops] id of the task that an op spawns or calls, less that of its parent, where it is folded
    U32s segment;  // [ops] likewise: number of the op's segment, or of its child's first one, less that of its task
    I64s parent;   // [rows], not of a folded graph
    U8s kernel;    // [segments]
    I64s successor_ptr;  // [rows + 1]
    U32s successor;
};

// Times of segments by node; `total` and `local` of a node without workers are empty.
struct SegmentTimes {
    std::int64_t segments;
    std::vector<I64s> total, local;  // [nodes][segments]
    I64s traffic;                    // [segments * nodes] bytes of the settled accesses, or empty where there are none
};

// The accesses of segments, where a run has to look at them one by one.
struct Accesses {
    U32s region;                                        // [accesses]
    I64s offset, row_bytes, rows, stride, factor, mlp;  // [accesses]
    U8s writes;                                         // [accesses]
    I64s settled;  // [accesses * nodes] footprint on each home before the run, or empty where nobody asks
};

// Nodes of the pages of each region: none where nothing is said, one for all pages, or one for each unit.
struct RegionNodes {
    I64s ptr;  // [regions + 1] into `node`
    I32s node;

    I32s operator[](std::size_t region) const {
        const auto first = static_cast<std::size_t>(ptr[region]), last = static_cast<std::size_t>(ptr[region + 1]);
        return node.subspan(first, last - first);
    }
};

// What is done with pages from a phase on.
struct Stage {
    std::int64_t phase;
    RegionNodes wish;  // the nodes of pages that are placed; where nothing is said, that of the toucher
    bool reads_place;  // whether reads place pages
    bool marks;        // every page that is placed when the phase starts migrates to its next toucher
};

// Where the pages of regions are (numasim/engine/pages.py).
struct Memory {
    std::int64_t page_bytes;
    I64s region_pages;          // [regions]
    I64s unit_pages;            // [regions] pages that are placed and moved together
    U8s dynamic;                // [regions] whether pages are placed or moved while the program runs
    RegionNodes home;           // of dynamic regions before the run
    std::vector<Stage> stages;  // by phase; the first one is in force before the run
    I64s free_pages;            // [nodes] or empty where memory is not looked at
    I64s by_distance;           // [nodes * nodes] the nodes from each one on, nearest first; likewise
};

// Accesses whose pages are placed or moved during the run.
struct OpenAccesses {
    I64s ptr;         // [segments + 1] into `access`, or empty where there are none
    I64s access;      // which access
    I64s compute;     // [segments]
    I64s settled;     // [nodes * segments] memory time of the other accesses
    I64s latency_ps;  // [nodes * nodes]
};

// One access of the items of a range, tabulated over the distinct offsets that they give it.
struct ItemAccess {
    std::int64_t divisor;
    bool by_quotient, by_remainder;
    std::vector<I64s> wait;  // [nodes][rows] memory time, empty for a node without workers
    I64s traffic;            // [rows * nodes] bytes by home
};

struct Family {
    std::int64_t count, low_ps, high_ps;
    std::uint32_t kernel;
    I64s local_wait;  // [nodes] memory time if all bytes were local
    std::vector<ItemAccess> accesses;
};

// One object of every item of a range, at home on `home[row]`; the row is as in ItemAccess.
struct ItemObject {
    std::int64_t divisor;
    bool by_quotient, by_remainder;
    I32s home;  // [rows]
    std::int64_t bytes;
    std::uint32_t mode;
};

// What new tasks are about, where dispatch asks (numasim/engine/objects.py): those of row r are ptr[r] .. ptr[r + 1].
struct TaskObjects {
    static constexpr std::int32_t OPEN = -2;  // a home that is looked up when the task is dispatched

    I64s ptr;  // [rows + 1]
    I32s home;
    U8s mode;
    I64s count, bytes;
    I64s access;                                    // of an object whose home is looked up
    std::vector<std::vector<ItemObject>> families;  // [families]
};

struct Phase {
    std::vector<std::int64_t> roots;      // rows
    std::vector<std::int64_t> ids;        // of the roots
    std::vector<std::uint32_t> segments;  // number of their first segment
    std::int64_t family;                  // -1: none
    ns_deal deal;
    bool serial;
    std::int64_t repeat;
};

// Shared words in their places (numasim/strategy/locks.py); those of the program come first.
struct Words {
    U8s role;                                   // [words] Role
    std::span<const std::int32_t> home;         // [words]
    std::span<const std::int32_t> worker_home;  // [workers] where a word that is kept for each lives
    I64s parties;                               // [words]
    std::uint32_t declared;                     // how many are the program's
    std::span<const std::int32_t> level_lock;   // [steal levels * queues], or empty; -1: none
    std::span<const std::int32_t> queue_lock;   // [queues], or empty; -1: none
    ns_lock_kind kind;
    ns_barrier_kind barrier;
    ns_lock_rules rules;
    ns_transfers transfers;
};

struct Costs {
    std::int64_t push_ps, locate_ps, pop_ps, join_ps, wait_ps, resume_ps, take_ps, move_ps, wake_ps, wake_remote_ps,
        fault_ps, migrate_ps, signal_ps;
    std::int64_t probe_near_ps, probe_far_ps, least_probe_ps;
    bool line;  // probes, takes, joins and pushes elsewhere also pay the transfer of the cache line
};

struct Plan {
    std::uint32_t workers, nodes;
    std::uint64_t seed;
    std::span<const std::int32_t> node;  // [workers]
    I64s line_ps;  // [workers * workers] transfer of a cache line to each worker from each other's core
    Graph graph;
    SegmentTimes times;
    Accesses accesses;
    Memory memory;
    OpenAccesses open;
    Effects effects;
    std::vector<Family> families;
    std::vector<Phase> phases;
    Words words;
    ns_plan steal;
    TaskObjects objects;
    ns_threshold_rules thresholds;
    ThresholdTime threshold_time;
    ns_backoff backoff;
    bool backoff_after_probe, backoff_counts_empty;
    Costs costs;
    Join join;
    Maker maker;
    std::int64_t inline_resume_ppm;
    std::int64_t refill;  // -1: the queue's own threshold s
    bool work_first, skip, skipping;
    bool own_dispatch, sees_marks_only, one_queue_each;
    std::int64_t room;  // tasks that all queues hold together
};

}  // namespace numasim
