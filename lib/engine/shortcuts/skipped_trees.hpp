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
//
// A worker goes through its run at its pace, which says what each segment takes it. When its speed changes, what is
// left of the segment in hand is scaled, and what is left of the run behind it is added up anew at the other pace.
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

    // Take the workers' speeds as they are, before a phase starts.
    void take_speeds();
    // Give a root to a worker at the start of a phase.
    void start(Worker& w, std::uint32_t row, std::int64_t now_ps);

    bool holds_task(Worker& victim, std::int64_t now_ps) override;
    void steal(Worker& thief, Worker& victim, std::int64_t now_ps) override;
    RunEnd ended(Worker& w, std::int64_t now_ps) override;
    bool change_speed(Worker& w, std::int64_t now_ps) override;

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
        std::int64_t stretched_ps = 0;    // what the segment in hand takes more than at the present pace alone
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
    std::vector<const PaceSums*> pace_;  // [workers]
    std::vector<const PaceSums*> full_;  // [nodes] at full speed
    std::vector<std::uint32_t> run_of_;  // [workers] NOBODY: none
    Pool<Level> levels_;
    Pool<SerialRun> runs_;
};

}  // namespace numasim
