// Last-level caches: what of an access is found in the own domain's cache, in another's, or in memory (model 2.4;
// engine/reference/memory/caches.py).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "memory/chunks.hpp"
#include "plan.hpp"

namespace numasim {

// Where an access comes from; `sharers` are the workers of its domain that have work, this one among them.
struct Place {
    std::size_t domain;
    std::int32_t node;
    std::int64_t sharers;
};

// What one pass over an access finds.
struct Found {
    std::int64_t hit = 0;                // bytes in the own cache
    std::int64_t moved = 0;              // bytes in others' caches,
    std::vector<std::int64_t> moved_by;  // [nodes] by the node that sends them

    explicit Found(std::size_t nodes) : moved_by(nodes, 0) {}

    void move(std::size_t sender, std::int64_t bytes) {
        moved += bytes;
        moved_by[sender] += bytes;
    }

    void clear() {
        if (moved != 0) std::fill(moved_by.begin(), moved_by.end(), 0);
        hit = moved = 0;
    }
};

// The fraction `part / whole` of each further pass that the last-level cache serves.
struct Served {
    std::int64_t part, whole;
};

class Caches {
public:
    virtual ~Caches() = default;

    // An access will be walked before long.
    virtual void prefetch(const Footprint&) const {}

    // Walk an access once and add to `found`.
    virtual void first_pass(const Place& place, const Footprint& print, bool writes, Found& found) = 0;

    // `segment_bytes` is the footprint of all accesses of the segment.
    virtual Served later_pass(const Place& place, const Footprint& print, std::int64_t segment_bytes) = 0;
};

// The last-level caches of the machine; one without any finds nothing.
std::unique_ptr<Caches> make_caches(const CacheSizes& sizes, std::size_t nodes);

}  // namespace numasim
