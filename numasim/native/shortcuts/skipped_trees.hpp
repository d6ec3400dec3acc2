// Skipping ahead over fork-join trees under a continuation join (model 1.7 and 3.2).
//
// The tasks that have been begun and not finished form a cactus: every run is a stack of levels, a level is one task
// with its place in its program. Children that a level has spawned and nobody has begun make up the worker's queue, the
// outermost level's at the far end; the owner takes them from the inside when it comes to the join. A run is
// advanced only when somebody looks at it, and runs over whole subtrees that fit into the time that has passed.
//
// A level whose children are under way elsewhere stops its run at its join: the innermost such level, the run's
// blocker, decides when the run ends. Around the blocker no level has children left to begin, for thieves take those
// of the outermost level first. So a steal moves the end by the child's serial time and, where the blocker is new, by
// what follows its join; the completion of the join moves it back.
#pragma once

#include "shortcuts/pool.hpp"
#include "shortcuts/skipped_work.hpp"
#include "shortcuts/tree_sums.hpp"

namespace numasim {

class SkippedTrees final : public SkippedWork {
public:
    // `bytes` [nodes * nodes] receives what is moved from and to each home by each node; `graph`, `times` and
    // `node_of_worker` must outlive the object.
    SkippedTrees(const Graph& graph, const SegmentTimes& times, std::span<const std::int32_t> node_of_worker,
                 std::size_t nodes, std::int64_t* bytes);

    // Give a root to a worker at the start of a phase.
    void start(Worker& w, std::uint32_t row, std::int64_t now_ps);

    bool holds_task(Worker& victim, std::int64_t now_ps) override;
    void steal(Worker& thief, Worker& victim, std::int64_t now_ps) override;
    RunEnd ended(Worker& w, std::int64_t now_ps) override;

private:
    std::int64_t next_change_ps() const override;

    // A task that has been begun: its next op, and the children of the current group that nobody has begun.
    struct Level {
        std::uint32_t row;
        std::uint32_t run;
        std::uint32_t outer = NOBODY;  // the level of its parent, where that is in the same run
        std::uint32_t inner = NOBODY;  // the level of its child, if that has one in the same run
        std::int64_t op;
        std::int64_t group;
        std::int64_t front = 0, back = 0;  // the ops between which the SPAWNs of unbegun children lie
        std::int64_t unbegun = 0;
        std::int64_t elsewhere = 0;  // stolen children of the current group that have not finished
    };

    struct SerialRun {
        std::uint32_t worker;          // NOBODY while it is suspended in its innermost level
        std::uint32_t joins;           // the level that waits for it; NOBODY: none does
        std::uint32_t top;             // its innermost level
        std::uint32_t front = NOBODY;  // its outermost level with unbegun children
        std::uint32_t blocker = NOBODY;
        std::int64_t unbegun = 0;
        std::int64_t clock_ps = 0;        // when the next op of the innermost level starts
        std::int64_t quiet_until_ps = 0;  // nothing happens before
    };

    // What follows the join of a level up to the next blocker further out.
    struct Rest {
        std::int64_t time_ps;
        std::uint32_t blocker;
    };

    void begin(Worker& w, std::uint32_t row, std::uint32_t joins, std::int64_t now_ps);
    void go_on(Worker& w, std::uint32_t run, std::int64_t now_ps, std::int64_t left_ps);
    void resume(Worker& w, Level& level, std::int64_t now_ps);
    std::uint32_t leave(Worker& w);
    std::uint32_t open(std::uint32_t row, std::uint32_t run);
    Rest rest_after(const Level& level, std::size_t node) const;

    void advance(SerialRun& run, Worker& w, std::int64_t until_ps);
    bool step(SerialRun& run, Worker& w, std::int64_t until_ps);
    bool execute(SerialRun& run, Worker& w, std::uint32_t segment, std::int64_t until_ps);
    void spawn(SerialRun& run, Level& level);
    void take_last(SerialRun& run, Worker& w, Level& level, std::int64_t until_ps);
    bool pass_join(Level& level);
    bool close(SerialRun& run, Worker& w);

    std::uint32_t child_at_front(Level& level);
    std::uint32_t child_at_back(Level& level);
    void begun(SerialRun& run, Level& level);
    bool is_join(const Level& level) const { return !sums_.is_last_group(level.row, level.group); }
    std::int64_t serial_ps(std::size_t node, std::uint32_t row) const;
    void count_subtree(Worker& w, std::uint32_t row);
    void add_bytes(std::size_t node, const std::int64_t* traffic);

    const Graph& graph_;
    const SegmentTimes& times_;
    const std::span<const std::int32_t> node_of_worker_;
    TreeSums sums_;
    std::size_t nodes_;
    std::int64_t* bytes_;
    std::vector<std::uint32_t> run_of_;  // [workers] NOBODY: none
    Pool<Level> levels_;
    Pool<SerialRun> runs_;
};

}  // namespace numasim
