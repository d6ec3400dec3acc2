#include "shortcuts/skipped_trees.hpp"

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

SkippedTrees::SkippedTrees(const Graph& graph, const SegmentTimes& times, std::span<const std::int32_t> node_of_worker,
                           std::size_t nodes, std::int64_t* bytes)
    : SkippedWork(node_of_worker.size()),
      graph_(graph),
      times_(times),
      node_of_worker_(node_of_worker),
      sums_(graph, times, nodes, distinct(node_of_worker_)),
      nodes_(nodes),
      bytes_(bytes),
      run_of_(node_of_worker_.size(), NOBODY) {}

// ---- serial runs
// ------------------------------------------------------------------------------------------------------

void SkippedTrees::start(Worker& w, std::uint32_t row, std::int64_t now_ps) {
    span_ps_ = std::max(span_ps_, sums_.span_ps(row));
    begin(w, row, NOBODY, now_ps);
}

bool SkippedTrees::holds_task(Worker& victim, std::int64_t now_ps) {
    const std::uint32_t id = run_of_[victim.id];
    if (id == NOBODY) return false;
    SerialRun& run = runs_[id];
    advance(run, victim, now_ps);
    return run.unbegun != 0;
}

void SkippedTrees::steal(Worker& thief, Worker& victim, std::int64_t now_ps) {
    SerialRun& run = runs_[run_of_[victim.id]];
    const std::uint32_t robbed = run.front;
    Level& level = levels_[robbed];
    const std::uint32_t child = child_at_front(level);
    begun(run, level);
    end_ps_[victim.id] -= serial_ps(node_of(victim), child);
    const bool joins = is_join(level);
    if (joins) {
        ++level.elsewhere;
        if (run.blocker != robbed) end_ps_[victim.id] -= rest_after(level, node_of(victim)).time_ps;
        run.blocker = robbed;
    }
    begin(thief, child, joins ? robbed : NOBODY, now_ps);
}

RunEnd SkippedTrees::ended(Worker& w, std::int64_t now_ps) {
    SerialRun& run = runs_[run_of_[w.id]];
    advance(run, w, now_ps);
    if (is_join(levels_[run.top])) {
        run.worker = NOBODY;
        run_of_[w.id] = NOBODY;
        return {};
    }
    const std::uint32_t joined = leave(w);
    if (joined == NOBODY) return {};
    Level& level = levels_[joined];
    if (--level.elsewhere != 0) return {};
    SerialRun& waiting = runs_[level.run];
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
std::int64_t SkippedTrees::next_change_ps() const {
    std::int64_t change_ps = std::numeric_limits<std::int64_t>::max();
    for (const std::uint32_t run : run_of_) {
        if (run != NOBODY) change_ps = std::min(change_ps, runs_[run].quiet_until_ps);
    }
    return change_ps;
}

// Make a run of a task that nobody has begun.
void SkippedTrees::begin(Worker& w, std::uint32_t row, std::uint32_t joins, std::int64_t now_ps) {
    const std::uint32_t run = runs_.add({.worker = w.id, .joins = joins, .top = NOBODY});
    runs_[run].top = open(row, run);
    ++unfinished_;
    go_on(w, run, now_ps, serial_ps(node_of(w), row));
}

// Let a worker have a run that takes it `left_ps` more.
void SkippedTrees::go_on(Worker& w, std::uint32_t id, std::int64_t now_ps, std::int64_t left_ps) {
    run_of_[w.id] = id;
    SerialRun& run = runs_[id];
    run.worker = w.id;
    run.clock_ps = run.quiet_until_ps = now_ps;
    const std::int64_t owed_ps = w.owed_ps;
    advance(run, w, now_ps);
    end_ps_[w.id] = now_ps + (owed_ps - w.owed_ps) + left_ps;
}

// Go on after the join in which the run of `level` is suspended.
void SkippedTrees::resume(Worker& w, Level& level, std::int64_t now_ps) {
    SerialRun& run = runs_[level.run];
    const auto [rest_ps, blocker] = rest_after(level, node_of(w));
    run.blocker = blocker;
    go_on(w, level.run, now_ps, rest_ps);
}

// Finish the worker's run, of which the outermost level is left; the level that waits for it.
std::uint32_t SkippedTrees::leave(Worker& w) {
    const std::uint32_t id = run_of_[w.id];
    const SerialRun& run = runs_[id];
    assert(levels_[run.top].outer == NOBODY);
    w.counters.tasks += graph_.kind[levels_[run.top].row] == TASK;
    levels_.free(run.top);
    runs_.free(id);
    run_of_[w.id] = NOBODY;
    --unfinished_;
    return run.joins;
}

std::uint32_t SkippedTrees::open(std::uint32_t row, std::uint32_t run) {
    return levels_.add({.row = row, .run = run, .op = graph_.op_ptr[row], .group = sums_.first_group(row)});
}

SkippedTrees::Rest SkippedTrees::rest_after(const Level& level, std::size_t node) const {
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

// Let all happen that happens by `until_ps`, up to where the run ends.
void SkippedTrees::advance(SerialRun& run, Worker& w, std::int64_t until_ps) {
    if (until_ps < run.quiet_until_ps) return;
    while (step(run, w, until_ps)) {
    }
}

// One op or one child; false where that lies behind `until_ps`, or where the run ends.
bool SkippedTrees::step(SerialRun& run, Worker& w, std::int64_t until_ps) {
    Level& level = levels_[run.top];
    if (level.op < sums_.group_end(level.group)) {
        const auto op = static_cast<std::size_t>(level.op);
        if (graph_.op_code[op] == RUN && !execute(run, w, graph_.op_arg[op], until_ps)) return false;
        if (graph_.op_code[op] == SPAWN) spawn(run, level);
        ++level.op;
        return true;
    }
    if (level.unbegun != 0) {
        take_last(run, w, level, until_ps);
        return true;
    }
    return is_join(level) ? pass_join(level) : close(run, w);
}

bool SkippedTrees::execute(SerialRun& run, Worker& w, std::uint32_t segment, std::int64_t until_ps) {
    const std::int64_t total = w.total_ps[segment], local = w.local_ps[segment];
    run.clock_ps += ns_pay_owed(&w);
    run.quiet_until_ps = run.clock_ps + total;
    if (run.quiet_until_ps > until_ps) return false;
    run.clock_ps = run.quiet_until_ps;
    ns_count_work(&w.counters, total, local);
    if (!times_.traffic.empty()) add_bytes(node_of(w), &times_.traffic[segment * nodes_]);
    return true;
}

void SkippedTrees::spawn(SerialRun& run, Level& level) {
    if (level.unbegun++ == 0) level.front = level.op;
    level.back = level.op + 1;
    if (run.unbegun++ == 0) run.front = run.top;
}

// The owner takes the child that was spawned last: the whole subtree if it fits, else a level of its own.
void SkippedTrees::take_last(SerialRun& run, Worker& w, Level& level, std::int64_t until_ps) {
    const std::uint32_t child = child_at_back(level);
    begun(run, level);
    const std::int64_t end_ps = run.clock_ps + serial_ps(node_of(w), child);
    if (end_ps <= until_ps && w.owed_ps == 0) {
        run.clock_ps = end_ps;
        count_subtree(w, child);
        return;
    }
    const std::uint32_t outer = run.top;
    run.top = open(child, level.run);
    levels_[outer].inner = run.top;
    levels_[run.top].outer = outer;
}

// Go on behind the WAIT if no child is under way elsewhere.
bool SkippedTrees::pass_join(Level& level) {
    if (level.elsewhere != 0) return false;
    ++level.group;
    ++level.op;
    return true;
}

// The innermost task has finished; false where it was the run's last.
bool SkippedTrees::close(SerialRun& run, Worker& w) {
    const Level& level = levels_[run.top];
    if (level.outer == NOBODY) return false;
    w.counters.tasks += graph_.kind[level.row] == TASK;
    levels_.free(run.top);
    run.top = level.outer;
    return true;
}

// ---- children -----------------------------------------------------------------------------------------------------

std::uint32_t SkippedTrees::child_at_front(Level& level) {
    while (graph_.op_code[static_cast<std::size_t>(level.front)] != SPAWN) ++level.front;
    return graph_.op_arg[static_cast<std::size_t>(level.front++)];
}

std::uint32_t SkippedTrees::child_at_back(Level& level) {
    do {
        --level.back;
    } while (graph_.op_code[static_cast<std::size_t>(level.back)] != SPAWN);
    return graph_.op_arg[static_cast<std::size_t>(level.back)];
}

// A child of the level has been taken out of the queue.
void SkippedTrees::begun(SerialRun& run, Level& level) {
    --level.unbegun;
    --run.unbegun;
    if (run.unbegun == 0) return;
    while (levels_[run.front].unbegun == 0) run.front = levels_[run.front].inner;
}

std::int64_t SkippedTrees::serial_ps(std::size_t node, std::uint32_t row) const {
    return sums_.rest_ps(node)[sums_.first_group(row)];
}

void SkippedTrees::count_subtree(Worker& w, std::uint32_t row) {
    const std::int64_t local = sums_.local_ps(node_of(w))[row];
    w.counters.tasks += sums_.tasks(row);
    ns_count_work(&w.counters, serial_ps(node_of(w), row), local);
    if (!times_.traffic.empty()) add_bytes(node_of(w), sums_.traffic(row));
}

void SkippedTrees::add_bytes(std::size_t node, const std::int64_t* traffic) {
    for (std::size_t home = 0; home < nodes_; ++home) bytes_[node * nodes_ + home] += traffic[home];
}

}  // namespace numasim
