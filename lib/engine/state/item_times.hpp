// How long the items of an implicit range take, and which bytes they move (model 2.5 and 3.5, no contention, no cache).
//
// An item computes for C, uniform on [low, high] by its own stream of draws or as amounts say, and waits for memory for
// M; it takes max(C, M). Nothing is stored per item but amounts that are given: C is hashed when it is asked for, M is
// looked up in one table per access, and follows from amounts where accesses name nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory/node_bytes.hpp"
#include "plan.hpp"
#include "state/item_rows.hpp"

namespace numasim {

struct ItemTime {
    std::int64_t total_ps, local_ps;  // the latter if all bytes were local
};

// Times of several items together.
struct ItemSums {
    std::int64_t total_ps = 0, local_ps = 0, longest_local_ps = 0;
};

class ItemTimes {
public:
    // The arrays that `family` refers to must outlive the object.
    ItemTimes(const Family& family, std::uint64_t seed, std::uint32_t nodes);

    // What an item takes on a node that has workers.
    ItemTime time(std::size_t node, std::int64_t item) const;
    std::int64_t total_ps(std::size_t node, std::int64_t item) const { return time(node, item).total_ps; }
    std::int64_t local_ps(std::size_t node, std::int64_t item) const { return time(node, item).local_ps; }

    // What an item computes for.
    std::int64_t compute_ps(std::int64_t item) const;

    // Both times, for the items first, first + step, ...: [count].
    void block(std::size_t node, std::int64_t first, std::int64_t step, std::int64_t count, std::int64_t* total,
               std::int64_t* local) const;

    // Their sums, in closed form where all items are equal. Throws std::overflow_error past 63 bits.
    ItemSums sums(std::size_t node, Items items) const;

    // Add to `bytes` [nodes] what an item, or each of `items`, moves from and to each home, `times` times.
    void add_traffic(std::int64_t item, std::int64_t* bytes, std::int64_t times = 1) const;
    void add_traffic(Items items, std::int64_t times, std::int64_t* bytes) const;

    // Whether all items take equally long, move the same bytes and have as many pages.
    bool uniform() const { return low_ps_ == high_ps_ && indexed_.empty() && node_bytes_.uniform() && like_pages_; }

    bool moves_bytes() const { return moves_bytes_; }

    const NodeBytes& node_bytes() const { return node_bytes_; }

private:
    void tabulate(const ItemAccess& access);
    std::int64_t wait_ps(std::size_t node, std::int64_t item) const;
    void compute_block(Items items, std::int64_t* compute_ps) const;
    void wait_block(std::size_t node, Items items, std::int64_t* wait_ps) const;
    ItemSums sums_one_by_one(std::size_t node, Items items) const;
    void add_node_bytes(std::int64_t item, std::int64_t times, std::int64_t* bytes) const;
    ItemSums block_sums(std::size_t node, Items items, std::int64_t longest_local_ps) const;
    void add_row(const ItemAccess& access, std::int64_t row, std::int64_t times, std::int64_t* bytes) const;
    void add_indexed(const ItemAccess& access, Items items, std::int64_t times, std::int64_t* bytes) const;

    const Amounts& compute_;
    NodeBytes node_bytes_;
    std::int64_t low_ps_, high_ps_;
    bool drawn_, given_;  // compute times: uniform between the two; one by one, or from a table
    std::uint64_t seed_;
    std::size_t nodes_;
    bool moves_bytes_;
    bool like_pages_;                            // all items touch as many pages first, and give back as many
    std::vector<std::int64_t> local_wait_ps_;    // [nodes]
    std::vector<std::int64_t> fixed_wait_ps_;    // [nodes] sum over the accesses that are the same for all items
    std::vector<std::int64_t> longest_wait_ps_;  // [nodes] bound on the wait of any item
    std::vector<std::int64_t> fixed_traffic_;    // [nodes] bytes by home of those same accesses
    std::vector<const ItemAccess*> indexed_;     // the other accesses
};

}  // namespace numasim
