#include "trees_ahead.hpp"

#include <algorithm>
#include <cassert>
#include <set>

namespace numasim {

namespace {

std::size_t node_of(const Worker& w) { return static_cast<std::size_t>(w.node); }

std::vector<std::size_t> distinct(std::span<const std::int32_t> nodes) {
    const std::set<std::int32_t> used(nodes.begin(), nodes.end());
    return {used.begin(), used.end()};
}

}  // namespace

TreesAhead::TreesAhead(const Graph& graph, const SegmentTimes& times, std::span<const std::int32_t> node_of_worker,
                       std::size_t nodes, std::int64_t* bytes)
    : Ahead(node_of_worker.size()),
      graph_(graph),
      times_(times),
      node_of_worker_(node_of_worker),
      sums_(graph, times, nodes, distinct(node_of_worker_)),
      nodes_(nodes),
      bytes_(bytes),
      strand_of_(node_of_worker_.size(), NOBODY) {}

// ---- strands ------------------------------------------------------------------------------------------------------

void TreesAhead::start(Worker& w, std::uint32_t row, std::int64_t now_ps) {
    span_ps_ = std::max(span_ps_, sums_.span_ps(row));
    begin(w, row, NOBODY, now_ps);
}

bool TreesAhead::holds_task(Worker& victim, std::int64_t now_ps) {
    const std::uint32_t id = strand_of_[victim.id];
    if (id == NOBODY) return false;
    Strand& strand = strands_[id];
    advance(strand, victim, now_ps);
    return strand.unbegun != 0;
}

void TreesAhead::steal(Worker& thief, Worker& victim, std::int64_t now_ps) {
    Strand& strand = strands_[strand_of_[victim.id]];
    const std::uint32_t robbed = strand.front;
    Level& level = levels_[robbed];
    const std::uint32_t child = child_at_front(level);
    begun(strand, level);
    end_ps_[victim.id] -= serial_ps(node_of(victim), child);
    const bool joins = is_join(level);
    if (joins) {
        ++level.elsewhere;
        if (strand.blocker != robbed) end_ps_[victim.id] -= rest_after(level, node_of(victim)).time_ps;
        strand.blocker = robbed;
    }
    begin(thief, child, joins ? robbed : NOBODY, now_ps);
}

StrandEnd TreesAhead::ended(Worker& w, std::int64_t now_ps) {
    Strand& strand = strands_[strand_of_[w.id]];
    advance(strand, w, now_ps);
    if (is_join(levels_[strand.top])) {
        strand.worker = NOBODY;
        strand_of_[w.id] = NOBODY;
        return {};
    }
    const std::uint32_t joined = leave(w);
    if (joined == NOBODY) return {};
    Level& level = levels_[joined];
    if (--level.elsewhere != 0) return {};
    Strand& waiting = strands_[level.strand];
    if (waiting.blocker != joined) return {};
    if (waiting.worker == NOBODY) {
        resume(w, level, now_ps);
        return {.goes_on = true};
    }
    const auto [rest_ps, blocker] = rest_after(level, static_cast<std::size_t>(node_of_worker_[waiting.worker]));
    waiting.blocker = blocker;
    end_ps_[waiting.worker] += rest_ps;
    return {.extended = waiting.worker};
}

// Nothing is spawned before the end of a segment.
std::int64_t TreesAhead::next_change_ps() const {
    std::int64_t change_ps = std::numeric_limits<std::int64_t>::max();
    for (const std::uint32_t strand : strand_of_) {
        if (strand != NOBODY) change_ps = std::min(change_ps, strands_[strand].quiet_until_ps);
    }
    return change_ps;
}

// Make a strand of a task that nobody has begun.
void TreesAhead::begin(Worker& w, std::uint32_t row, std::uint32_t joins, std::int64_t now_ps) {
    const std::uint32_t strand = strands_.add({.worker = w.id, .joins = joins, .top = NOBODY});
    strands_[strand].top = open(row, strand);
    ++unfinished_;
    go_on(w, strand, now_ps, serial_ps(node_of(w), row));
}

// Let a worker have a strand that takes it `left_ps` more.
void TreesAhead::go_on(Worker& w, std::uint32_t id, std::int64_t now_ps, std::int64_t left_ps) {
    strand_of_[w.id] = id;
    Strand& strand = strands_[id];
    strand.worker = w.id;
    strand.clock_ps = strand.quiet_until_ps = now_ps;
    const std::int64_t owed_ps = w.owed_ps;
    advance(strand, w, now_ps);
    end_ps_[w.id] = now_ps + (owed_ps - w.owed_ps) + left_ps;
}

// Go on after the join in which the strand of `level` is suspended.
void TreesAhead::resume(Worker& w, Level& level, std::int64_t now_ps) {
    Strand& strand = strands_[level.strand];
    const auto [rest_ps, blocker] = rest_after(level, node_of(w));
    strand.blocker = blocker;
    go_on(w, level.strand, now_ps, rest_ps);
}

// Finish the worker's strand, of which the outermost level is left; the level that waits for it.
std::uint32_t TreesAhead::leave(Worker& w) {
    const std::uint32_t id = strand_of_[w.id];
    const Strand& strand = strands_[id];
    assert(levels_[strand.top].outer == NOBODY);
    w.counters.tasks += graph_.kind[levels_[strand.top].row] == TASK;
    levels_.free(strand.top);
    strands_.free(id);
    strand_of_[w.id] = NOBODY;
    --unfinished_;
    return strand.joins;
}

std::uint32_t TreesAhead::open(std::uint32_t row, std::uint32_t strand) {
    return levels_.add({.row = row, .strand = strand, .op = graph_.op_ptr[row], .group = sums_.first_group(row)});
}

TreesAhead::Rest TreesAhead::rest_after(const Level& level, std::size_t node) const {
    const std::int64_t* const rest_ps = sums_.rest_ps(node);
    Rest rest{rest_ps[level.group + 1], NOBODY};
    for (std::uint32_t outer = level.outer; outer != NOBODY; outer = levels_[outer].outer) {
        const Level& around = levels_[outer];
        if (!is_join(around)) continue;
        if (around.elsewhere != 0) return {rest.time_ps, outer};
        rest.time_ps += rest_ps[around.group + 1];
    }
    return rest;
}

// ---- advancing ----------------------------------------------------------------------------------------------------

// Let all happen that happens by `until_ps`, up to where the strand ends.
void TreesAhead::advance(Strand& strand, Worker& w, std::int64_t until_ps) {
    if (until_ps < strand.quiet_until_ps) return;
    while (step(strand, w, until_ps)) {
    }
}

// One op or one child; false where that lies behind `until_ps`, or where the strand ends.
bool TreesAhead::step(Strand& strand, Worker& w, std::int64_t until_ps) {
    Level& level = levels_[strand.top];
    if (level.op < sums_.group_end(level.group)) {
        const auto op = static_cast<std::size_t>(level.op);
        if (graph_.op_code[op] == RUN && !run(strand, w, graph_.op_arg[op], until_ps)) return false;
        if (graph_.op_code[op] == SPAWN) spawn(strand, level);
        ++level.op;
        return true;
    }
    if (level.unbegun != 0) {
        take_last(strand, w, level, until_ps);
        return true;
    }
    return is_join(level) ? pass_join(level) : close(strand, w);
}

bool TreesAhead::run(Strand& strand, Worker& w, std::uint32_t segment, std::int64_t until_ps) {
    const std::int64_t total = w.total_ps[segment], local = w.local_ps[segment];
    strand.clock_ps += pay_owed(w);
    strand.quiet_until_ps = strand.clock_ps + total;
    if (strand.quiet_until_ps > until_ps) return false;
    strand.clock_ps = strand.quiet_until_ps;
    w.counters.work_local_ps += local;
    w.counters.inflation_numa_ps += total - local;
    if (!times_.traffic.empty()) add_bytes(node_of(w), &times_.traffic[segment * nodes_]);
    return true;
}

void TreesAhead::spawn(Strand& strand, Level& level) {
    if (level.unbegun++ == 0) level.front = level.op;
    level.back = level.op + 1;
    if (strand.unbegun++ == 0) strand.front = strand.top;
}

// The owner takes the child that was spawned last: the whole subtree if it fits, else a level of its own.
void TreesAhead::take_last(Strand& strand, Worker& w, Level& level, std::int64_t until_ps) {
    const std::uint32_t child = child_at_back(level);
    begun(strand, level);
    const std::int64_t end_ps = strand.clock_ps + serial_ps(node_of(w), child);
    if (end_ps <= until_ps && w.owed_ps == 0) {
        strand.clock_ps = end_ps;
        count_subtree(w, child);
        return;
    }
    const std::uint32_t outer = strand.top;
    strand.top = open(child, level.strand);
    levels_[outer].inner = strand.top;
    levels_[strand.top].outer = outer;
}

// Go on behind the WAIT if no child is under way elsewhere.
bool TreesAhead::pass_join(Level& level) {
    if (level.elsewhere != 0) return false;
    ++level.group;
    ++level.op;
    return true;
}

// The innermost task has finished; false where it was the strand's last.
bool TreesAhead::close(Strand& strand, Worker& w) {
    const Level& level = levels_[strand.top];
    if (level.outer == NOBODY) return false;
    w.counters.tasks += graph_.kind[level.row] == TASK;
    levels_.free(strand.top);
    strand.top = level.outer;
    return true;
}

// ---- children -----------------------------------------------------------------------------------------------------

std::uint32_t TreesAhead::child_at_front(Level& level) {
    while (graph_.op_code[static_cast<std::size_t>(level.front)] != SPAWN) ++level.front;
    return graph_.op_arg[static_cast<std::size_t>(level.front++)];
}

std::uint32_t TreesAhead::child_at_back(Level& level) {
    do {
        --level.back;
    } while (graph_.op_code[static_cast<std::size_t>(level.back)] != SPAWN);
    return graph_.op_arg[static_cast<std::size_t>(level.back)];
}

// A child of the level has been taken out of the queue.
void TreesAhead::begun(Strand& strand, Level& level) {
    --level.unbegun;
    --strand.unbegun;
    if (strand.unbegun == 0) return;
    while (levels_[strand.front].unbegun == 0) strand.front = levels_[strand.front].inner;
}

std::int64_t TreesAhead::serial_ps(std::size_t node, std::uint32_t row) const {
    return sums_.rest_ps(node)[sums_.first_group(row)];
}

void TreesAhead::count_subtree(Worker& w, std::uint32_t row) {
    const std::int64_t local = sums_.local_ps(node_of(w))[row];
    w.counters.tasks += sums_.tasks(row);
    w.counters.work_local_ps += local;
    w.counters.inflation_numa_ps += serial_ps(node_of(w), row) - local;
    if (!times_.traffic.empty()) add_bytes(node_of(w), sums_.traffic(row));
}

void TreesAhead::add_bytes(std::size_t node, const std::int64_t* traffic) {
    for (std::size_t home = 0; home < nodes_; ++home) bytes_[node * nodes_ + home] += traffic[home];
}

}  // namespace numasim
