// The items of implicit ranges: their ids, how long each takes, and which bytes each moves (model 2.5 and 3.5).
//
// An item computes for a time C, waits for memory for a time M, and takes max(C, M). C is drawn uniformly from [low,
// high] with the item's own random numbers, or is an amount (below). A drawn C is computed again at each use. Only
// amounts that are given item by item are stored for each item. M comes from one table per access, or from amounts if
// accesses name nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "checked.hpp"
#include "plan.hpp"

namespace numasim {

// An entry of a stack or queue: the number of a task's frame, or the id of an item, which is at least `Graph::tasks`.
using Task = std::int64_t;

// The items first, first + step, ...; `step` may be negative.
struct Items {
    std::int64_t first, step, count;

    std::int64_t at(std::int64_t index) const { return first + index * step; }
};

// ---- amounts: a whole number for each item, given or drawn from a table (numasim/workload/amounts.py) ---------------

// Two random numbers of an item draw its compute time, and two each of its amounts: the number of the first of the two.
constexpr std::uint64_t COMPUTE_NUMBER = 2;
inline std::uint64_t number_of_access(std::uint64_t access) { return COMPUTE_NUMBER + 2 + 2 * access; }

// Whether all items have the same amount.
inline bool are_fixed(const Amounts& amounts) { return amounts.start.size() == 1 && amounts.low[0] == amounts.high[0]; }

// The amount of an item. If the amount is drawn, the item's random number `number` chooses a part of the table: the
// last part whose `start` is at most this random number. The next random number chooses an amount between `low` and
// `high` of the part.
inline std::int64_t amount_of(const Amounts& amounts, std::uint64_t seed, std::int64_t item, std::uint64_t number) {
    if (!amounts.items.empty()) return amounts.items[static_cast<std::size_t>(item)];
    if (are_fixed(amounts)) return amounts.low[0];
    const std::uint64_t base = ns_base(seed, NS_DRAW_DURATION, static_cast<std::uint64_t>(item));
    const auto* const behind = std::upper_bound(amounts.start.begin(), amounts.start.end(), ns_draw(base, number));
    const auto part = static_cast<std::size_t>(behind - amounts.start.begin()) - 1;
    const std::int64_t low = amounts.low[part];
    const auto width = static_cast<std::uint64_t>(amounts.high[part] - low) + 1;
    return low + static_cast<std::int64_t>(ns_below(ns_draw(base, number + 1), width));
}

// ---- the tables of accesses to regions ------------------------------------------------------------------------------

// The row of the tables of `access` that belongs to an item.
inline std::int64_t row_of(const ItemAccess& access, std::int64_t item) {
    return ns_table_row(access.divisor, access.by_quotient, access.by_remainder, item);
}

// Call `visit(row)` for each item. Quotient and remainder are updated from item to item, because divisions are slow.
template <typename Visit>
void each_row(const ItemAccess& access, Items items, Visit visit) {
    if (access.by_quotient == access.by_remainder) {
        for (std::int64_t i = 0; i < items.count; ++i) visit(row_of(access, items.at(i)));
        return;
    }
    const std::int64_t divisor = access.divisor;
    std::int64_t step_quotient = items.step / divisor, step_remainder = items.step % divisor;
    if (step_remainder < 0) --step_quotient, step_remainder += divisor;
    std::int64_t quotient = items.first / divisor, remainder = items.first % divisor;
    for (std::int64_t i = 0; i < items.count; ++i) {
        visit(access.by_quotient ? quotient : remainder);
        remainder += step_remainder;
        quotient += step_quotient;
        if (remainder >= divisor) remainder -= divisor, ++quotient;
    }
}

// Call `count(row, visits)` for the rows of `items` in a table with `rows` rows. If many items share rows, there is one
// call for each row, and `visits` is the number of its items.
template <typename Count>
void count_rows(const ItemAccess& access, std::int64_t rows, Items items, Count count) {
    if (rows <= 1) return count(std::int64_t{0}, items.count);
    if (rows > items.count) {
        each_row(access, items, [&](std::int64_t row) { count(row, std::int64_t{1}); });
        return;
    }
    std::vector<std::int64_t> visits(static_cast<std::size_t>(rows));
    each_row(access, items, [&](std::int64_t row) { ++visits[static_cast<std::size_t>(row)]; });
    for (std::int64_t row = 0; row < rows; ++row) count(row, visits[static_cast<std::size_t>(row)]);
}

// ---- bytes on given nodes, which no cache serves (model 1.8; numasim/plan/node_bytes.py) ---------------------------

// How long an item waits for its bytes on given nodes, and how long it would wait if all these bytes were local.
struct NodeWait {
    std::int64_t wait_ps = 0, local_ps = 0;
};

class NodeBytes {
public:
    // The arrays of `family` must outlive the object.
    NodeBytes(const Family& family, std::uint64_t seed) : accesses_(family.node_accesses), seed_(seed) {}

    bool any() const { return !accesses_.empty(); }
    // Whether the amounts of bytes are the same for all items.
    bool uniform() const {
        return std::ranges::all_of(accesses_, [](const NodeAccess& each) { return are_fixed(each.amounts); });
    }

    // The wait of an item that a worker of `node` executes. Calls `visit(access, home, bytes)` for its bytes.
    template <typename Visit>
    NodeWait wait(std::size_t node, std::int64_t item, Visit visit) const {
        NodeWait found;
        for (std::size_t number = 0; number < accesses_.size(); ++number) {
            const NodeAccess& access = accesses_[number];
            const std::int64_t factor = access.written ? 2 : 1;
            const std::int64_t* const latency = access.latency.at + node * access.home.size();
            const std::int64_t amount = amount_at(number, item);
            each_part(access, amount, [&](std::size_t at, std::int64_t bytes) {
                found.wait_ps = sum_ps(found.wait_ps, misses_ps(factor * bytes, latency[at], access.misses));
                visit(access, static_cast<std::size_t>(access.home[at]), bytes);
            });
            const std::int64_t local_ps = misses_ps(factor * amount, access.local_latency[node], access.misses);
            found.local_ps = sum_ps(found.local_ps, local_ps);
        }
        return found;
    }
    NodeWait wait(std::size_t node, std::int64_t item) const {
        return wait(node, item, [](const NodeAccess&, std::size_t, std::int64_t) {});
    }

    // Call `visit(access, home, bytes)` for the bytes of the item on each node.
    template <typename Visit>
    void each(std::int64_t item, Visit visit) const {
        for (std::size_t number = 0; number < accesses_.size(); ++number) {
            const NodeAccess& access = accesses_[number];
            each_part(access, amount_at(number, item), [&](std::size_t at, std::int64_t bytes) {
                visit(access, static_cast<std::size_t>(access.home[at]), bytes);
            });
        }
    }

private:
    std::int64_t amount_at(std::size_t number, std::int64_t item) const {
        return amount_of(accesses_[number].amounts, seed_, item, number_of_access(number));
    }

    // Divide an amount among the homes of an access, in proportion to their shares. Calls `visit(index, bytes)`.
    template <typename Visit>
    static void each_part(const NodeAccess& access, std::int64_t amount, Visit visit) {
        const std::size_t homes = access.home.size();
        if (homes == 1) return visit(std::size_t{0}, amount);
        const std::int64_t whole = access.share_end[homes - 1];
        std::int64_t done = 0;
        for (std::size_t at = 0; at < homes; ++at) {
            const std::int64_t upto = amount * access.share_end[at] / whole;
            visit(at, upto - done);
            done = upto;
        }
    }

    const ns_node_access_list accesses_;
    const std::uint64_t seed_;
};

// ---- times without contention and caches ----------------------------------------------------------------------------

struct ItemTime {
    std::int64_t total_ps, local_ps;  // `local_ps`: the total if all bytes were local
};

// Sums over several items, and their longest local time.
struct ItemSums {
    std::int64_t total_ps = 0, local_ps = 0, longest_local_ps = 0;
};

constexpr std::int64_t BLOCK_ITEMS = 512;  // items computed together: their arrays fit into the first-level cache
constexpr std::int64_t MOST_PS = std::numeric_limits<std::int64_t>::max();

inline std::int64_t narrow(Wide value) {
    if (value > MOST_PS) throw std::overflow_error("the times of a range's items add up to more than 63 bits hold");
    return static_cast<std::int64_t>(value);
}

inline std::int64_t rows_of(const ItemAccess& access, std::size_t nodes) {
    return static_cast<std::int64_t>(access.traffic.size() / nodes);
}

// `ItemTimes::compute_ps` of several items, in a loop that fits vector units. `width` must be below 2^32, so that every
// product fits into 64 bits.
NUMASIM_VECTORS static void draw_durations(std::uint64_t seed, Items items, std::int64_t low_ps, std::uint64_t width,
                                           std::int64_t* compute) {
    for (std::int64_t i = 0; i < items.count; ++i) {
        const std::uint64_t number =
            ns_draw(ns_base(seed, NS_DRAW_DURATION, static_cast<std::uint64_t>(items.first + i * items.step)), 0);
        const std::uint64_t below = ((number >> 32) * width + ((number & UINT32_MAX) * width >> 32)) >> 32;
        compute[i] = low_ps + static_cast<std::int64_t>(below);
    }
}

inline bool are_alike(const ns_page_amounts_list& given) { return given.empty() || are_fixed(given[0].amounts); }

// The times and bytes of the items of one range.
class ItemTimes {
public:
    // The arrays of `family` must outlive the object.
    ItemTimes(const Family& family, std::uint64_t seed, std::uint32_t nodes)
        : compute_(family.compute),
          node_bytes_(family, seed),
          low_ps_(family.low_ps),
          high_ps_(family.high_ps),
          drawn_(family.compute.items.empty() && family.compute.start.empty() && low_ps_ != high_ps_),
          given_(!drawn_ && low_ps_ != high_ps_),
          seed_(seed),
          nodes_(nodes),
          moves_bytes_(!family.accesses.empty() || node_bytes_.any()),
          like_pages_(are_alike(family.fresh) && are_alike(family.freed)),
          local_wait_ps_(family.local_wait.begin(), family.local_wait.end()),
          fixed_wait_ps_(nodes),
          longest_wait_ps_(nodes),
          fixed_traffic_(nodes) {
        for (const ItemAccess& access : family.accesses) tabulate(access);
    }

    // Return the times of an item that a worker of `node` executes.
    ItemTime time(std::size_t node, std::int64_t item) const {
        const std::int64_t compute = compute_ps(item);
        const NodeWait more = node_bytes_.wait(node, item);
        return {std::max(compute, sum_ps(wait_ps(node, item), more.wait_ps)),
                std::max(compute, sum_ps(local_wait_ps_[node], more.local_ps))};
    }

    // Return the compute time of an item.
    std::int64_t compute_ps(std::int64_t item) const {
        if (given_) return amount_of(compute_, seed_, item, COMPUTE_NUMBER);
        if (!drawn_) return low_ps_;
        const std::uint64_t number = ns_draw(ns_base(seed_, NS_DRAW_DURATION, static_cast<std::uint64_t>(item)), 0);
        return low_ps_ +
               static_cast<std::int64_t>(ns_below(number, static_cast<std::uint64_t>(high_ps_ - low_ps_) + 1));
    }

    // Write the total and the local time of each item of `items` to `total` and `local`.
    [[gnu::noinline]] void block(std::size_t node, Items items, std::int64_t* total, std::int64_t* local) const {
        if (node_bytes_.any()) {
            for (std::int64_t i = 0; i < items.count; ++i) {
                const ItemTime each = time(node, items.at(i));
                total[i] = each.total_ps;
                local[i] = each.local_ps;
            }
            return;
        }
        const std::int64_t local_wait = local_wait_ps_[node];
        wait_block(node, items, total);
        compute_block(items, local);
        for (std::int64_t i = 0; i < items.count; ++i) {
            total[i] = std::max(local[i], total[i]);
            local[i] = std::max(local[i], local_wait);
        }
    }

    // The sums of the times of `items`. Throws std::overflow_error for sums beyond 63 bits.
    [[gnu::noinline]] ItemSums sums(std::size_t node, Items items) const {
        if (items.count == 0) return {};
        if (uniform()) {
            const auto [total, local] = time(node, items.first);
            return {narrow(Wide{total} * items.count), narrow(Wide{local} * items.count), local};
        }
        const std::int64_t longest =
            std::max({high_ps_, longest_wait_ps_[node], local_wait_ps_[node], std::int64_t{1}});
        const std::int64_t most = node_bytes_.any() ? 1 : std::min(BLOCK_ITEMS, MOST_PS / longest);
        Wide total = 0, local = 0;
        ItemSums part;
        for (std::int64_t done = 0; done < items.count; done += most) {
            part = block_sums(node, {items.at(done), items.step, std::min(most, items.count - done)},
                              part.longest_local_ps);
            total += part.total_ps;
            local += part.local_ps;
        }
        return {narrow(total), narrow(local), part.longest_local_ps};
    }

    // Add to `bytes` [nodes] the bytes that an item moves from and to each node. Below: of all `items`, `times` times.
    [[gnu::noinline]] void add_traffic(std::int64_t item, std::int64_t* bytes) const {
        for (std::size_t home = 0; home < nodes_; ++home) bytes[home] += fixed_traffic_[home];
        for (const ItemAccess* access : indexed_) add_row(*access, row_of(*access, item), 1, bytes);
        add_node_bytes(item, 1, bytes);
    }

    [[gnu::noinline]] void add_traffic(Items items, std::int64_t times, std::int64_t* bytes) const {
        for (std::size_t home = 0; home < nodes_; ++home) bytes[home] += times * items.count * fixed_traffic_[home];
        for (const ItemAccess* access : indexed_) {
            count_rows(*access, rows_of(*access, nodes_), items,
                       [&](std::int64_t row, std::int64_t visits) { add_row(*access, row, times * visits, bytes); });
        }
        for (std::int64_t i = 0; node_bytes_.any() && i < items.count; ++i) add_node_bytes(items.at(i), times, bytes);
    }

    // Whether all items take the same time, move the same bytes and touch and give back equal numbers of pages.
    bool uniform() const { return low_ps_ == high_ps_ && indexed_.empty() && node_bytes_.uniform() && like_pages_; }

    bool moves_bytes() const { return moves_bytes_; }

    const NodeBytes& node_bytes() const { return node_bytes_; }

private:
    void tabulate(const ItemAccess& access) {
        const bool fixed = rows_of(access, nodes_) == 1;
        for (std::size_t node = 0; node < nodes_; ++node) {
            if (access.wait[node].empty()) continue;
            longest_wait_ps_[node] += *std::ranges::max_element(access.wait[node]);
            if (fixed) fixed_wait_ps_[node] += access.wait[node][0];
        }
        if (fixed) {
            add_row(access, 0, 1, fixed_traffic_.data());
        } else {
            indexed_.push_back(&access);
        }
    }

    std::int64_t wait_ps(std::size_t node, std::int64_t item) const {
        std::int64_t wait = fixed_wait_ps_[node];
        for (const ItemAccess* access : indexed_) {
            wait += access->wait[node][static_cast<std::size_t>(row_of(*access, item))];
        }
        return wait;
    }

    void compute_block(Items items, std::int64_t* compute) const {
        const auto width = static_cast<std::uint64_t>(high_ps_ - low_ps_) + 1;
        if (!drawn_ && !given_) {
            std::fill_n(compute, items.count, low_ps_);
        } else if (drawn_ && width <= UINT32_MAX) {
            draw_durations(seed_, items, low_ps_, width, compute);
        } else {
            for (std::int64_t i = 0; i < items.count; ++i) compute[i] = compute_ps(items.at(i));
        }
    }

    void wait_block(std::size_t node, Items items, std::int64_t* wait) const {
        std::fill_n(wait, items.count, fixed_wait_ps_[node]);
        for (const ItemAccess* access : indexed_) {
            const std::int64_t* const by_row = access->wait[node].data();
            std::int64_t* next = wait;
            each_row(*access, items, [&](std::int64_t row) { *next++ += by_row[row]; });
        }
    }

    // The sums of at most BLOCK_ITEMS items. These sums fit into 63 bits.
    ItemSums block_sums(std::size_t node, Items items, std::int64_t longest_local_ps) const {
        if (node_bytes_.any()) {
            const auto [total, local] = time(node, items.first);
            return {total, local, std::max(longest_local_ps, local)};
        }
        std::int64_t compute[BLOCK_ITEMS], wait[BLOCK_ITEMS];
        compute_block(items, compute);
        if (!indexed_.empty()) wait_block(node, items, wait);
        const std::int64_t fixed_wait = fixed_wait_ps_[node], local_wait = local_wait_ps_[node];
        ItemSums sums{0, 0, longest_local_ps};
        for (std::int64_t i = 0; i < items.count; ++i) {
            const std::int64_t local = std::max(compute[i], local_wait);
            sums.total_ps += std::max(compute[i], indexed_.empty() ? fixed_wait : wait[i]);
            sums.local_ps += local;
            sums.longest_local_ps = std::max(sums.longest_local_ps, local);
        }
        return sums;
    }

    void add_node_bytes(std::int64_t item, std::int64_t times, std::int64_t* bytes) const {
        node_bytes_.each(item, [&](const NodeAccess& access, std::size_t home, std::int64_t moved) {
            bytes[home] += times * moved * (access.written ? 2 : 1);
        });
    }

    void add_row(const ItemAccess& access, std::int64_t row, std::int64_t times, std::int64_t* bytes) const {
        const std::int64_t* const traffic = access.traffic.data() + row * static_cast<std::int64_t>(nodes_);
        for (std::size_t home = 0; home < nodes_; ++home) bytes[home] += times * traffic[home];
    }

    const Amounts& compute_;
    NodeBytes node_bytes_;
    std::int64_t low_ps_, high_ps_;
    bool drawn_, given_;  // how compute times are found: drawn from [low_ps_, high_ps_]; `compute_` has them
    std::uint64_t seed_;
    std::size_t nodes_;
    bool moves_bytes_;
    bool like_pages_;                            // all items touch and give back equal numbers of pages
    std::vector<std::int64_t> local_wait_ps_;    // [nodes]
    std::vector<std::int64_t> fixed_wait_ps_;    // [nodes] sum over the accesses that are the same for all items
    std::vector<std::int64_t> longest_wait_ps_;  // [nodes] upper bound on the wait of an item
    std::vector<std::int64_t> fixed_traffic_;  // [nodes] bytes by home of the accesses that are the same for all items
    std::vector<const ItemAccess*> indexed_;   // the accesses that differ between items
};

// The implicit ranges of a plan. Constant during a run.
class ItemRanges {
public:
    ItemRanges(const Plan& plan, std::uint64_t seed)
        : tasks_(plan.graph.tasks), first_{static_cast<std::uint64_t>(plan.graph.tasks)} {
        for (const Family& family : plan.families) {
            first_.push_back(first_.back() + static_cast<std::uint64_t>(family.count));
            times_.emplace_back(family, seed, plan.nodes);
        }
    }

    // Whether the task is an item.
    bool holds(Task task) const { return task >= tasks_; }

    std::size_t family_of(Task item) const {
        std::size_t family = 0;
        while (static_cast<std::uint64_t>(item) >= first_[family + 1]) ++family;
        return family;
    }

    std::uint64_t first(std::size_t family) const { return first_[family]; }
    std::uint64_t count(std::size_t family) const { return first_[family + 1] - first_[family]; }

    const std::vector<ItemTimes>& times() const { return times_; }
    const ItemTimes& times(std::size_t family) const { return times_[family]; }
    bool all_uniform() const { return std::ranges::all_of(times_, &ItemTimes::uniform); }

private:
    const Task tasks_;                  // ids of the graph's tasks are lower
    std::vector<std::uint64_t> first_;  // [families + 1] id of the first item
    std::vector<ItemTimes> times_;      // [families]
};

}  // namespace numasim
