// Skipping ahead over fork-join trees under a continuation join (model 1.7 and 3.2).
//
// The tasks that have begun and not finished form a cactus stack. Every run is a stack of levels, and a level is one
// task with its place in its program. The spawned children of the levels that have not begun make up the worker's
// queue. Those of the outermost level are at the far end. The owner takes them from the innermost level when it comes
// to the join. A run is advanced only when it is looked at, and whole subtrees that fit into the passed time are
// advanced at once.
//
// A level with children under way in other runs stops its run at its join. The innermost such level, the run's blocker,
// decides when the run ends. Levels around the blocker have no children left to begin, since thieves take those of the
// outermost level first. A steal therefore moves the end of the run by the child's serial time, and if the blocker is
// new also by what follows its join. The completion of the join moves the end back.
//
// A worker goes through its run at its pace, which says how long each segment takes. When its speed changes, the rest
// of the present segment is scaled, and the rest of the run is added up at the new pace.
#pragma once

#include "memory/memory_system.hpp"
#include "shortcuts/skipped_work.hpp"
#include "shortcuts/tree_sums.hpp"
#include "state/containers.hpp"

namespace numasim {

class SkippedTrees final : public SkippedWork {
public:
    // The arguments must outlive the object.
    SkippedTrees(Run& run, MemorySystem& memory);

    // Take over the workers' speeds before a phase starts.
    void take_speeds();
    // Give a root to a worker at the start of a phase.
    void start(Worker& w, std::uint32_t row, std::int64_t now_ps);

    bool holds_task(Worker& victim, std::int64_t now_ps) override;
    void steal(Worker& thief, Worker& victim, std::int64_t now_ps) override;
    RunEnd ended(Worker& w, std::int64_t now_ps) override;
    bool change_speed(Worker& w, std::int64_t now_ps) override;

private:
    std::int64_t next_change_ps() const override;

    // A task that has begun: its next op, and the children of the current group of ops that have not begun.
    struct Level {
        std::uint32_t row;
        std::uint32_t run;
        std::uint32_t outer = NOBODY;  // the level of its parent, if that is in the same run
        std::uint32_t inner = NOBODY;  // the level of its child, if there is one in the same run
        std::int64_t op;
        std::int64_t group;
        std::int64_t front = 0, back = 0;  // the SPAWN ops of children that have not begun are between these
        std::int64_t unbegun = 0;
        std::int64_t elsewhere = 0;  // stolen children of the current group that have not finished
    };

    struct SerialRun {
        std::uint32_t worker;          // NOBODY while the run is suspended in its innermost level
        std::uint32_t joins;           // the level that waits for the run, or NOBODY
        std::uint32_t top;             // the innermost level
        std::uint32_t front = NOBODY;  // the outermost level with children that have not begun
        std::uint32_t blocker = NOBODY;
        std::int64_t unbegun = 0;
        std::int64_t clock_ps = 0;        // start of the next op of the innermost level
        std::int64_t quiet_until_ps = 0;  // no op or child begins or ends before
        std::int64_t stretched_ps = 0;    // how much longer the present segment takes than at the present pace alone
    };

    // The time after the join of a level, up to the next blocker further out.
    struct Rest {
        std::int64_t time_ps;
        std::uint32_t blocker;
    };

    void begin(Worker& w, std::uint32_t row, std::uint32_t joins, std::int64_t now_ps);
    void go_on(Worker& w, std::uint32_t run, std::int64_t now_ps, std::int64_t left_ps);
    void resume(Worker& w, Level& level, std::int64_t now_ps);
    std::uint32_t leave(Worker& w);
    std::uint32_t open(std::uint32_t row, std::uint32_t run);
    Rest rest_after(const Level& level, const PaceSums& pace) const;
    std::int64_t left_after_segment(const SerialRun& run, const PaceSums& pace) const;

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
    const PaceSums& pace(const Worker& w) const { return *pace_[w.id]; }
    void count_segment(Worker& w, std::uint32_t segment, std::int64_t wall_ps);
    void count_subtree(Worker& w, std::uint32_t row);

    MemorySystem& memory_;
    const Team& team_;
    const Graph& graph_;
    const SegmentCosts costs_;
    const TreeSums sums_;
    Paces paces_;
    std::vector<const PaceSums*> pace_;   // [workers]
    std::vector<const PaceSums*> full_;   // [nodes] at full speed
    std::vector<const PaceSums*> local_;  // [nodes] at full speed, if all bytes were local
    std::vector<std::uint32_t> run_of_;   // [workers] NOBODY: none
    Pool<Level> levels_;
    Pool<SerialRun> runs_;
};

}  // namespace numasim
