/* Generated from numasim/schema by `python -m numasim.schema.generate_c`: not to be edited. */
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan_structs.h"

namespace numasim {

enum Op : std::uint8_t { RUN = NS_OP_RUN, SPAWN = NS_OP_SPAWN, CALL = NS_OP_CALL, WAIT = NS_OP_WAIT, LOCK = NS_OP_LOCK, UNLOCK = NS_OP_UNLOCK, ATOMIC = NS_OP_ATOMIC, BARRIER = NS_OP_BARRIER, AWAIT = NS_OP_AWAIT, SIGNAL = NS_OP_SIGNAL, BROADCAST = NS_OP_BROADCAST, BEGIN = NS_OP_BEGIN, LOAD = NS_OP_LOAD, STORE = NS_OP_STORE, COMMIT = NS_OP_COMMIT, GROUP = NS_OP_GROUP, END_GROUP = NS_OP_END_GROUP };
enum Kind : std::uint8_t { TASK = NS_ROW_TASK, CALLED = NS_ROW_CALL, IMPLICIT = NS_ROW_IMPLICIT };
enum AccessMode : std::uint8_t { READ = NS_USE_READ, WRITE = NS_USE_WRITE, READ_WRITE = NS_USE_READ_WRITE };
enum Tier : std::uint8_t { FREE = NS_TIER_FREE, ROOT = NS_TIER_ROOT, LOCAL = NS_TIER_LOCAL };
enum Role : std::uint8_t { LOCK_WORD = NS_SYNC_LOCK, ATOMIC_WORD = NS_SYNC_ATOMIC, CONDITION_WORD = NS_SYNC_CONDITION, BARRIER_WORD = NS_SYNC_BARRIER, OBJECTS_WORD = NS_SYNC_OBJECTS };
struct Join {
    static constexpr ns_join_kind HELP = NS_JOIN_HELP, OWN = NS_JOIN_OWN, STRICT = NS_JOIN_STRICT, CONTINUATION = NS_JOIN_CONTINUATION, BLOCK = NS_JOIN_BLOCK, LEAPFROG = NS_JOIN_LEAPFROG;
};
struct Maker {
    static constexpr ns_producer_kind NONE = NS_PRODUCER_NONE, EXTRA = NS_PRODUCER_EXTRA, MASTER = NS_PRODUCER_MASTER;
};
struct ThresholdTime {
    static constexpr ns_threshold_time FIRST_DRAIN = NS_THRESHOLDS_FIRST_DRAIN, PHASE = NS_THRESHOLDS_PHASE, FIXED = NS_THRESHOLDS_FIXED;
};
struct CacheModel {
    static constexpr ns_cache_model NONE = NS_CACHE_NONE, SHARE = NS_CACHE_SHARE, LRU = NS_CACHE_LRU;
};
struct Contention {
    static constexpr ns_contention NONE = NS_CONTENTION_NONE, SNAPSHOT = NS_CONTENTION_SNAPSHOT, FLUID = NS_CONTENTION_FLUID;
};

using SegmentTimes = ns_segment_times;
using Graph = ns_graph;
using Scan = ns_scan;
using Stage = ns_stage;
using Memory = ns_memory;
using Accesses = ns_accesses;
using OpenAccesses = ns_open_accesses;
using Amounts = ns_amounts;
using ItemAccess = ns_item_access;
using NodeAccess = ns_node_access;
using PageAmounts = ns_page_amounts;
using Family = ns_family;
using SegmentNeeds = ns_segment_needs;
using CacheSizes = ns_cache_sizes;
using Resources = ns_resources;
using SpeedRules = ns_speed_rules;
using PageCosts = ns_page_costs;
using Helpers = ns_helpers;
using ItemAccessPrice = ns_item_access_price;
using FamilyPrice = ns_family_price;
using Seat = ns_seat;
using Effects = ns_effects;
using Phase = ns_phase;
using Loop = ns_loop;
using Control = ns_control;
using Costs = ns_operation_costs;
using IdlePhase = ns_idle_phase;
using Idle = ns_idle;
using Words = ns_plan_words;
using ItemObject = ns_item_object;
using ItemObjects = ns_item_objects;
using TaskObjects = ns_task_objects;
using Plan = ns_full_plan;

// Kinds of traffic between nodes, and what they are called in results.
enum TrafficKind : std::size_t { FETCHED, OWNED, WRITTEN, CACHED, TRAFFIC_KINDS };
constexpr const char* TRAFFIC_NAMES[] = {"read", "ownership", "written", "cache"};

}  // namespace numasim
