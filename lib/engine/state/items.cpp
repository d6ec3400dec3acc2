#include "state/items.hpp"

#include <limits>
#include <stdexcept>

namespace numasim {

namespace {

constexpr std::int64_t BLOCK_ITEMS = 512;  // a block's arrays stay in the first-level cache
constexpr std::int64_t MOST_PS = std::numeric_limits<std::int64_t>::max();

std::int64_t narrow(Wide value) {
    if (value > MOST_PS) throw std::overflow_error("the times of a range's items add up to more than 63 bits hold");
    return static_cast<std::int64_t>(value);
}

std::int64_t rows_of(const ItemAccess& access, std::size_t nodes) {
    return static_cast<std::int64_t>(access.traffic.size() / nodes);
}

// `ItemTimes::compute_ps` of several items, in a loop that fits vector units. `width` has 32 bits, so that no product
// has more than 64.
NUMASIM_VECTORS void draw_durations(std::uint64_t seed, Items items, std::int64_t low_ps, std::uint64_t width,
                                    std::int64_t* compute) {
    for (std::int64_t i = 0; i < items.count; ++i) {
        const std::uint64_t number =
            ns_draw(ns_base(seed, NS_DRAW_DURATION, static_cast<std::uint64_t>(items.first + i * items.step)), 0);
        const std::uint64_t below = ((number >> 32) * width + ((number & UINT32_MAX) * width >> 32)) >> 32;
        compute[i] = low_ps + static_cast<std::int64_t>(below);
    }
}

bool are_alike(const ns_page_amounts_list& given) { return given.empty() || are_fixed(given[0].amounts); }

}  // namespace

ItemTimes::ItemTimes(const Family& family, std::uint64_t seed, std::uint32_t nodes)
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

void ItemTimes::tabulate(const ItemAccess& access) {
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

// ---- times --------------------------------------------------------------------------------------------------------

std::int64_t ItemTimes::compute_ps(std::int64_t item) const {
    if (given_) return amount_of(compute_, seed_, item, COMPUTE_NUMBER);
    if (!drawn_) return low_ps_;
    const std::uint64_t number = ns_draw(ns_base(seed_, NS_DRAW_DURATION, static_cast<std::uint64_t>(item)), 0);
    return low_ps_ + static_cast<std::int64_t>(ns_below(number, static_cast<std::uint64_t>(high_ps_ - low_ps_) + 1));
}

std::int64_t ItemTimes::wait_ps(std::size_t node, std::int64_t item) const {
    std::int64_t wait = fixed_wait_ps_[node];
    for (const ItemAccess* access : indexed_) {
        wait += access->wait[node][static_cast<std::size_t>(row_of(*access, item))];
    }
    return wait;
}

ItemTime ItemTimes::time(std::size_t node, std::int64_t item) const {
    const std::int64_t compute = compute_ps(item);
    const NodeWait more = node_bytes_.wait(node, item);
    return {std::max(compute, sum_ps(wait_ps(node, item), more.wait_ps)),
            std::max(compute, sum_ps(local_wait_ps_[node], more.local_ps))};
}

void ItemTimes::compute_block(Items items, std::int64_t* compute) const {
    const auto width = static_cast<std::uint64_t>(high_ps_ - low_ps_) + 1;
    if (!drawn_ && !given_) {
        std::fill_n(compute, items.count, low_ps_);
    } else if (drawn_ && width <= UINT32_MAX) {
        draw_durations(seed_, items, low_ps_, width, compute);
    } else {
        for (std::int64_t i = 0; i < items.count; ++i) compute[i] = compute_ps(items.at(i));
    }
}

void ItemTimes::wait_block(std::size_t node, Items items, std::int64_t* wait) const {
    std::fill_n(wait, items.count, fixed_wait_ps_[node]);
    for (const ItemAccess* access : indexed_) {
        const std::int64_t* const by_row = access->wait[node].data();
        std::int64_t* next = wait;
        each_row(*access, items, [&](std::int64_t row) { *next++ += by_row[row]; });
    }
}

void ItemTimes::block(std::size_t node, Items items, std::int64_t* total, std::int64_t* local) const {
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

ItemSums ItemTimes::sums(std::size_t node, Items items) const {
    if (items.count == 0) return {};
    if (uniform()) {
        const auto [total, local] = time(node, items.first);
        return {narrow(Wide{total} * items.count), narrow(Wide{local} * items.count), local};
    }
    const std::int64_t longest = std::max({high_ps_, longest_wait_ps_[node], local_wait_ps_[node], std::int64_t{1}});
    const std::int64_t most = node_bytes_.any() ? 1 : std::min(BLOCK_ITEMS, MOST_PS / longest);
    Wide total = 0, local = 0;
    ItemSums part;
    for (std::int64_t done = 0; done < items.count; done += most) {
        part =
            block_sums(node, {items.at(done), items.step, std::min(most, items.count - done)}, part.longest_local_ps);
        total += part.total_ps;
        local += part.local_ps;
    }
    return {narrow(total), narrow(local), part.longest_local_ps};
}

// The sums of at most BLOCK_ITEMS items, few enough not to overflow.
ItemSums ItemTimes::block_sums(std::size_t node, Items items, std::int64_t longest_local_ps) const {
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

// ---- bytes --------------------------------------------------------------------------------------------------------

void ItemTimes::add_traffic(Items items, std::int64_t times, std::int64_t* bytes) const {
    for (std::size_t home = 0; home < nodes_; ++home) bytes[home] += times * items.count * fixed_traffic_[home];
    for (const ItemAccess* access : indexed_) {
        count_rows(*access, rows_of(*access, nodes_), items,
                   [&](std::int64_t row, std::int64_t visits) { add_row(*access, row, times * visits, bytes); });
    }
    for (std::int64_t i = 0; node_bytes_.any() && i < items.count; ++i) add_node_bytes(items.at(i), times, bytes);
}

void ItemTimes::add_traffic(std::int64_t item, std::int64_t* bytes) const {
    for (std::size_t home = 0; home < nodes_; ++home) bytes[home] += fixed_traffic_[home];
    for (const ItemAccess* access : indexed_) add_row(*access, row_of(*access, item), 1, bytes);
    add_node_bytes(item, 1, bytes);
}

void ItemTimes::add_node_bytes(std::int64_t item, std::int64_t times, std::int64_t* bytes) const {
    node_bytes_.each(item, [&](const NodeAccess& access, std::size_t home, std::int64_t moved) {
        bytes[home] += times * moved * (access.written ? 2 : 1);
    });
}

void ItemTimes::add_row(const ItemAccess& access, std::int64_t row, std::int64_t times, std::int64_t* bytes) const {
    const std::int64_t* const traffic = access.traffic.data() + row * static_cast<std::int64_t>(nodes_);
    for (std::size_t home = 0; home < nodes_; ++home) bytes[home] += times * traffic[home];
}

}  // namespace numasim
