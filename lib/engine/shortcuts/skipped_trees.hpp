// Skipping ahead over fork-join trees, if joins do not hold the worker (join `continuation`; model 1.7 and 3.2).
//
// The tasks that have begun and not finished form a cactus stack. Every run (the serial work of one worker) is a stack
// of levels. A level is one task with its place in its program. The spawned children that have not begun are the
// worker's queue, with the children of the outermost level at the thieves' end. The worker takes children of the
// innermost level when it comes to the join of this level. A run is advanced to the present time only when its state is
// asked for. A whole subtree that ends by then is advanced in one step.
//
// A level with children in other runs stops its own run at its join. The innermost such level of a run is the run's
// blocker: the run ends at its join. Levels outside the blocker have no children left to begin, because thieves take
// children of the outermost level first. A steal therefore makes the end of the victim's run earlier by the child's
// serial time. If the steal makes a new blocker, the end also becomes earlier by the time of everything after the
// blocker's join, and later again when this join completes.
//
// The pace of a worker says how long each segment takes. When the worker's speed changes, the remaining time of the
// present segment is scaled, and the time of the later segments is summed at the new pace.
#pragma once

#include <algorithm>
#include <cassert>
#include <set>
#include <span>

#include "memory/access_prices.hpp"
#include "memory/memory_system.hpp"
#include "shortcuts/skipped_work.hpp"
#include "shortcuts/tree_sums.hpp"
#include "state/containers.hpp"

namespace numasim {

inline std::size_t node_index(const Worker& w) { return static_cast<std::size_t>(w.node); }

inline std::vector<std::size_t> distinct(std::span<const std::int32_t> nodes) {
    const std::set<std::int32_t> used(nodes.begin(), nodes.end());
    return {used.begin(), used.end()};
}

constexpr Speed FULL_SPEED{MILLION, MILLION};

class SkippedTrees final : public SkippedWork {
public:
    // The arguments must outlive the object.
    SkippedTrees(Run& run, MemorySystem& memory)
        : SkippedWork(run.team.size()),
          memory_(memory),
          team_(run.team),
          graph_(run.plan.graph),
          costs_(run, memory.pages(), distinct(run.plan.node)),
          sums_(graph_, costs_.times().local[static_cast<std::size_t>(*std::ranges::min_element(run.plan.node))],
                costs_.times().traffic, costs_.columns()),
          paces_(graph_, sums_, costs_),
          pace_(run.team.size()),
          full_(run.plan.nodes),
          local_(run.plan.nodes),
          run_of_(run.team.size(), NOBODY) {
        for (const std::size_t node : distinct(run.plan.node)) {
            const I64s local_ps = costs_.times().local[node];
            full_[node] = &paces_.at(node, FULL_SPEED);
            local_[node] = &paces_.of({local_ps.begin(), local_ps.end()});
        }
    }

    // Set the paces to the workers' present speeds, before a phase starts.
    void take_speeds() {
        for (const Worker& w : team_) pace_[w.id] = &paces_.at(node_index(w), memory_.speed(w));
    }

    // Give a root to a worker at the start of a phase.
    void start(Worker& w, std::uint32_t row, std::int64_t now_ps) {
        span_ps_ = std::max(span_ps_, sums_.span_ps(row));
        begin(w, row, NOBODY, now_ps);
    }

    bool holds_task(Worker& victim, std::int64_t now_ps) {
        const std::uint32_t id = run_of_[victim.id];
        if (id == NOBODY) return false;
        SerialRun& run = runs_[id];
        advance(run, victim, now_ps);
        return run.unbegun != 0;
    }

    void steal(Worker& thief, Worker& victim, std::int64_t now_ps) {
        SerialRun& run = runs_[run_of_[victim.id]];
        const std::uint32_t robbed = run.front;
        Level& level = levels_[robbed];
        const std::uint32_t child = child_at_front(level);
        begun(run, level);
        end_ps_[victim.id] -= pace(victim).serial_ps(child);
        const bool joins = is_join(level);
        if (joins) {
            ++level.elsewhere;
            if (run.blocker != robbed) end_ps_[victim.id] -= rest_after(level, pace(victim)).time_ps;
            run.blocker = robbed;
        }
        begin(thief, child, joins ? robbed : NOBODY, now_ps);
    }

    RunEnd ended(Worker& w, std::int64_t now_ps) {
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
        const auto [rest_ps, blocker] = rest_after(level, *pace_[waiting.worker]);
        waiting.blocker = blocker;
        end_ps_[waiting.worker] += rest_ps;
        return {.extended = waiting.worker};
    }

    // The worker's run is inside a segment, or the worker pays overhead before a segment.
    bool change_speed(Worker& w, std::int64_t now_ps) {
        const PaceSums& before = pace(w);
        const PaceSums& after = paces_.at(node_index(w), memory_.speed(w));
        if (&before == &after) return false;
        const std::uint32_t id = run_of_[w.id];
        if (id != NOBODY) advance(runs_[id], w, now_ps);
        pace_[w.id] = &after;
        if (id == NOBODY) return false;
        SerialRun& run = runs_[id];
        const std::uint32_t segment = graph_.op_arg[static_cast<std::size_t>(levels_[run.top].op)];
        const std::int64_t nominal_ps = after.segment_ps(segment), since_ps = std::max(now_ps, run.clock_ps);
        const std::int64_t left_ps = scaled_ps(run.quiet_until_ps - since_ps, before.segment_ps(segment), nominal_ps);
        run.quiet_until_ps = sum_ps(since_ps, left_ps);
        run.stretched_ps = run.quiet_until_ps - run.clock_ps - nominal_ps;
        move_end(w.id, sum_ps(run.quiet_until_ps, left_after_segment(run, after)));
        return true;
    }

private:
    // No task is spawned before the end of the segment that each run is in.
    std::int64_t next_change_ps() const {
        std::int64_t change_ps = std::numeric_limits<std::int64_t>::max();
        for (const std::uint32_t run : run_of_) {
            if (run != NOBODY) change_ps = std::min(change_ps, runs_[run].quiet_until_ps);
        }
        return change_ps;
    }

    // A task that has begun: its next op, and the children that its present group of ops (tree_sums.hpp) has spawned.
    struct Level {
        std::uint32_t row;
        std::uint32_t run;
        std::uint32_t outer = NOBODY;  // the level of its parent, if in the same run
        std::uint32_t inner = NOBODY;  // the level of its begun child, if in the same run
        std::int64_t op;
        std::int64_t group;
        std::int64_t front = 0, back = 0;  // children that have not begun: SPAWN ops between these
        std::int64_t unbegun = 0;
        std::int64_t elsewhere = 0;  // unfinished children of the group in other runs
    };

    struct SerialRun {
        std::uint32_t worker;          // NOBODY while the run waits at the join of `top`
        std::uint32_t joins;           // the level whose join waits for the run, or NOBODY
        std::uint32_t top;             // the innermost level
        std::uint32_t front = NOBODY;  // the outermost level with children that have not begun
        std::uint32_t blocker = NOBODY;
        std::int64_t unbegun = 0;
        std::int64_t clock_ps = 0;        // start of the next op of the innermost level
        std::int64_t quiet_until_ps = 0;  // before this time no op or child begins or ends
        std::int64_t stretched_ps = 0;    // added to the present segment's time at the present pace
    };

    // The time of a run after the join of a level, up to the join of `blocker`: the next blocker outside the level.
    struct Rest {
        std::int64_t time_ps;
        std::uint32_t blocker;
    };

    // Let the worker begin a run with the task of `row`.
    void begin(Worker& w, std::uint32_t row, std::uint32_t joins, std::int64_t now_ps) {
        const std::uint32_t run = runs_.add({.worker = w.id, .joins = joins, .top = NOBODY});
        runs_[run].top = open(row, run);
        ++unfinished_;
        go_on(w, run, now_ps, pace(w).serial_ps(row));
    }

    // Let the worker execute run `id`, which ends after `left_ps` more.
    void go_on(Worker& w, std::uint32_t id, std::int64_t now_ps, std::int64_t left_ps) {
        run_of_[w.id] = id;
        SerialRun& run = runs_[id];
        run.worker = w.id;
        run.clock_ps = run.quiet_until_ps = now_ps;
        const std::int64_t owed_ps = w.owed_ps;
        advance(run, w, now_ps);
        end_ps_[w.id] = now_ps + (owed_ps - w.owed_ps) + left_ps;
    }

    // Let the worker go on with the run of `level`, which has waited at the join of `level`.
    void resume(Worker& w, Level& level, std::int64_t now_ps) {
        SerialRun& run = runs_[level.run];
        const auto [rest_ps, blocker] = rest_after(level, pace(w));
        run.blocker = blocker;
        go_on(w, level.run, now_ps, rest_ps);
    }

    // End the worker's run, of which only the outermost level is left. Returns the level whose join waits for the run.
    std::uint32_t leave(Worker& w) {
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

    std::uint32_t open(std::uint32_t row, std::uint32_t run) {
        return levels_.add({.row = row, .run = run, .op = graph_.op_ptr[row], .group = sums_.first_group(row)});
    }

    Rest rest_after(const Level& level, const PaceSums& pace) const {
        Rest rest{pace.rest_ps(level.group + 1), NOBODY};
        for (std::uint32_t outer = level.outer; outer != NOBODY; outer = levels_[outer].outer) {
            const Level& around = levels_[outer];
            if (!is_join(around)) continue;
            if (around.elsewhere != 0) return {rest.time_ps, outer};
            rest.time_ps += pace.rest_ps(around.group + 1);
        }
        return rest;
    }

    // How long the run takes after its present segment, up to the join of its blocker (or to its end).
    std::int64_t left_after_segment(const SerialRun& run, const PaceSums& pace) const {
        const Level* level = &levels_[run.top];
        std::int64_t left_ps = pace.ops_ps(level->op + 1, sums_.group_end(level->group));
        for (;; level = &levels_[level->outer]) {
            if (level->unbegun != 0) left_ps = sum_ps(left_ps, pace.children_ps(level->front, level->back));
            if (is_join(*level)) {
                if (level->elsewhere != 0) return left_ps;
                left_ps = sum_ps(left_ps, pace.rest_ps(level->group + 1));
            }
            if (level->outer == NOBODY) return left_ps;
        }
    }

    // Advance the run to `until_ps`, or to its end if the end is earlier.
    void advance(SerialRun& run, Worker& w, std::int64_t until_ps) {
        if (until_ps < run.quiet_until_ps) return;
        while (step(run, w, until_ps)) {
        }
    }

    // Advance the run by one op or one child. Returns false if the op ends after `until_ps`, or if the run ends.
    bool step(SerialRun& run, Worker& w, std::int64_t until_ps) {
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

    bool execute(SerialRun& run, Worker& w, std::uint32_t segment, std::int64_t until_ps) {
        run.clock_ps += ns_pay_owed(&w);
        const std::int64_t wall_ps = pace(w).segment_ps(segment) + run.stretched_ps;
        run.quiet_until_ps = run.clock_ps + wall_ps;
        if (run.quiet_until_ps > until_ps) return false;
        run.clock_ps = run.quiet_until_ps;
        run.stretched_ps = 0;
        count_segment(w, segment, wall_ps);
        return true;
    }

    void spawn(SerialRun& run, Level& level) {
        if (level.unbegun++ == 0) level.front = level.op;
        level.back = level.op + 1;
        if (run.unbegun++ == 0) run.front = run.top;
    }

    // The worker takes the child that was spawned last. If the child's subtree ends by `until_ps`, it is advanced in
    // one step; else the child becomes the innermost level.
    void take_last(SerialRun& run, Worker& w, Level& level, std::int64_t until_ps) {
        const std::uint32_t child = child_at_back(level);
        begun(run, level);
        const std::int64_t end_ps = run.clock_ps + pace(w).serial_ps(child);
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

    // Pass the WAIT op of the level. Returns false if children in other runs have not finished.
    bool pass_join(Level& level) {
        if (level.elsewhere != 0) return false;
        ++level.group;
        ++level.op;
        return true;
    }

    // The task of the innermost level has finished. Returns false if it is the outermost level, too: the run ends.
    bool close(SerialRun& run, Worker& w) {
        const Level& level = levels_[run.top];
        if (level.outer == NOBODY) return false;
        w.counters.tasks += graph_.kind[level.row] == TASK;
        levels_.free(run.top);
        run.top = level.outer;
        return true;
    }

    std::uint32_t child_at_front(Level& level) {
        while (graph_.op_code[static_cast<std::size_t>(level.front)] != SPAWN) ++level.front;
        return graph_.op_arg[static_cast<std::size_t>(level.front++)];
    }

    std::uint32_t child_at_back(Level& level) {
        do {
            --level.back;
        } while (graph_.op_code[static_cast<std::size_t>(level.back)] != SPAWN);
        return graph_.op_arg[static_cast<std::size_t>(level.back)];
    }

    // A child of the level has left the queue: the worker or a thief begins it.
    void begun(SerialRun& run, Level& level) {
        --level.unbegun;
        --run.unbegun;
        if (run.unbegun == 0) return;
        while (levels_[run.front].unbegun == 0) run.front = levels_[run.front].inner;
    }

    bool is_join(const Level& level) const { return !sums_.is_last_group(level.row, level.group); }
    const PaceSums& pace(const Worker& w) const { return *pace_[w.id]; }

    void count_segment(Worker& w, std::uint32_t segment, std::int64_t wall_ps) {
        const SegmentTimes& times = costs_.times();
        const std::int64_t total_ps = times.total[node_index(w)][segment];
        ns_count_work(&w.counters, total_ps, times.local[node_index(w)][segment]);
        w.counters.inflation_smt_ps += wall_ps - total_ps;
        if (!times.traffic.empty()) memory_.move_bytes(w, &times.traffic[segment * costs_.columns()]);
    }

    void count_subtree(Worker& w, std::uint32_t row) {
        const std::int64_t total_ps = full_[node_index(w)]->serial_ps(row);
        w.counters.tasks += sums_.tasks(row);
        ns_count_work(&w.counters, total_ps, local_[node_index(w)]->serial_ps(row));
        w.counters.inflation_smt_ps += pace(w).serial_ps(row) - total_ps;
        if (!costs_.times().traffic.empty()) memory_.move_bytes(w, sums_.traffic(row));
    }

    MemorySystem& memory_;
    const Team& team_;
    const Graph& graph_;
    const SegmentCosts costs_;
    const TreeSums sums_;
    Paces paces_;
    std::vector<const PaceSums*> pace_;   // [workers]
    std::vector<const PaceSums*> full_;   // [nodes] at full speed
    std::vector<const PaceSums*> local_;  // [nodes] at full speed, if all bytes were local
    std::vector<std::uint32_t> run_of_;   // [workers] NOBODY: no run
    Pool<Level> levels_;
    Pool<SerialRun> runs_;
};

}  // namespace numasim
