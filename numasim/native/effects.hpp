// What couples the running segments of a plan: caches, bandwidth, shared cores, clocks, noise (model 2.3 to 2.9).
//
// The names are those of numasim/engine/effects.py and resources.py; everything is borrowed from NumPy for a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spans.hpp"

namespace numasim {

constexpr std::int64_t MILLION = 1'000'000;

enum class CacheModel { NONE, SHARE, LRU };
enum class Contention { NONE, SNAPSHOT, FLUID };
enum AccessMode : std::uint8_t { READ = 1, WRITE = 2, READ_WRITE = 3 };

// What the segments of the graph compute and touch; the shapes of accesses are those of `Accesses`.
struct SegmentNeeds {
    I64s compute_ps;    // [segments]
    I64s first_access;  // [segments + 1]
    U8s mode;           // [accesses]
    I64s passes;        // [accesses]
    I64s misses;        // [accesses] under way at once, times 1000
};

struct CacheSizes {
    CacheModel model;
    std::int64_t llc_bytes;  // 0: none
    std::int64_t l2_bytes;   // -1: none that counts
    std::int64_t hit_ps, remote_hit_ps;
    std::size_t domains;                     // last-level caches
    U32s domain;                             // [workers]
    std::vector<std::int64_t> region_bytes;  // [regions]
};

// Lists of resources by pair of nodes, in CSR form.
struct Paths {
    I64s first;  // [nodes * nodes + 1]
    U32s resource;
};

// What flows use together. Capacities are in units per second: bytes, or page faults.
struct Resources {
    I64s capacity;               // [resources]
    Paths reads, writes, moves;  // what a byte uses: from a home, to a home, between caches
    I32s llc_port;               // [domains] or -1
    std::int32_t faults;         // the address space, or -1
    std::int64_t fault_alpha_ppm;
};

// What the speeds of workers follow from.
struct SpeedRules {
    U32s core, socket;                        // [workers]
    bool slows_memory;                        // who shares a core also waits longer for memory
    std::int64_t executing_ppm, polling_ppm;  // of a thread beside one that does this
    I64s clock_active, clock_hz;              // [steps]; none where the clock is fixed
    std::int64_t clock_base_hz;
    std::int64_t worker_spread_ppm;
};

// One access of the items of a range, tabulated like its `ItemAccess`.
struct ItemAccessPrice {
    bool owned;             // what is fetched is fetched for ownership
    I64s wait;              // [rows]
    I64s fetched, written;  // [rows * nodes]
    std::int64_t cached_bytes;
};

// What the items of a family cost some workers (numasim/engine/item_prices.py), and what those ask for meanwhile.
struct FamilyPrice {
    std::int64_t local_wait_ps, mean_compute_ps, mean_wait_ps;
    U32s resource;  // that the mean item uses
    I64s units;     // of each
    std::vector<ItemAccessPrice> accesses;
};

struct Effects {
    bool coupled;  // all else is only there where this holds
    Contention contention;
    bool queueing;
    std::int64_t overlap_ppm, task_noise_ppm;
    I64s latency_ps;  // [nodes * nodes]
    SegmentNeeds segments;
    CacheSizes caches;
    Resources resources;
    SpeedRules speeds;
    U32s price_class;                              // [workers]
    std::vector<std::vector<FamilyPrice>> prices;  // [classes][families]
};

}  // namespace numasim
