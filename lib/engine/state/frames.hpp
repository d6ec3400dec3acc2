// Frames of spawned tasks (until the task and its children have finished), dependences between tasks, and the longest
// chain of work of a phase (model 3.1 to 3.3).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "plan.hpp"
#include "state/joins.hpp"
#include "state/programs.hpp"
#include "state/worker.hpp"

namespace numasim {

constexpr std::uint32_t NO_FRAME = UINT32_MAX;

// A frame: the state of a task, with its place in its program and the state of its join.
struct Frame {
    std::int64_t path_ps;    // time of the longest chain of work up to the current op
    std::int64_t joined_ps;  // time of the longest chain of work of its finished children
    std::int64_t id;         // the number of the task in the trace
    std::uint32_t row;       // the row of its program in the graph
    std::uint32_t at;        // number of the next instruction
    std::uint32_t segments;  // in a folded graph: number of its first segment
    std::uint32_t pending;   // children that have not finished
    std::uint32_t parent;    // the frame of its parent, or NO_FRAME
    std::uint32_t origin;    // upper bits: the worker that spawned the task; lower two: WAITS, FINISHED

    std::uint32_t spawner() const { return origin >> 2; }
    bool waits() const { return (origin & WAITS) != 0; }  // whether the task has left its worker's stack at a WAIT
    bool has_finished() const { return (origin & FINISHED) != 0; }  // the frame is kept only for the children

    static constexpr std::uint32_t WAITS = 1, FINISHED = 2;
};
static_assert(sizeof(Frame) == 48);

// The cache line of a task's counter of children, if the plan serves cache lines one request at a time (model 5.6): the
// time until which requests occupy the line, and the worker that has the line, or NO_FRAME.
struct Counter {
    std::int64_t free_ps;
    std::uint32_t holder;
};

class Frames {
public:
    Frames(const Plan& plan, const Programs& programs)
        : graph_(plan.graph),
          programs_(programs),
          tasks_(plan.graph.tasks),
          strict_(plan.join == Join::STRICT),
          adapts_(plan.adaptive.stack != 0),
          serves_lines_(plan.costs.line == NS_LINES_YES),
          groups_(plan) {
        if (graph_.successor.empty()) return;
        dependences_.resize(static_cast<std::size_t>(graph_.tasks));
        predecessors_.assign(dependences_.size(), 0);
        for (const std::uint32_t task : graph_.successor) ++predecessors_[task];
    }

    Frame& operator[](Task frame) { return frames_[static_cast<std::size_t>(frame)]; }
    const Frame& operator[](Task frame) const { return frames_[static_cast<std::size_t>(frame)]; }

    // The number in the trace of `task`: of the task in this frame, or of the item.
    std::int64_t id_of(Task task) const { return is_item(task) ? task : (*this)[task].id; }
    bool is_item(Task task) const { return task >= tasks_; }

    // The next instruction of the task; END after its last op.
    Instruction next(const Frame& frame) const { return programs_.instruction(frame.at); }
    // The last instruction of a task that has started.
    Instruction last(const Frame& frame) const { return programs_.instruction(frame.at - 1); }
    // The index of instruction number `at` in the program of the task.
    std::uint32_t op_number(const Frame& frame, std::uint32_t at) const { return at - programs_.first(frame.row); }
    bool has_started(const Frame& frame) const { return frame.at != programs_.first(frame.row); }
    // The number, in the unfolded graph, of the task's next segment or of the first segment of its next child.
    std::uint32_t next_segment(const Frame& frame) const {
        return frame.segments + graph_.segment[Programs::op_of(frame.at, frame.row)];
    }

    // `new_root` and `new_child` make references to frames invalid.
    [[gnu::noinline]] std::uint32_t new_root(const Phase& phase, std::size_t root) {
        const std::int64_t row = phase.roots[root];
        if (have_dependences()) reset(row);
        const auto number = static_cast<std::uint32_t>(row);
        return add({.path_ps = 0,
                    .joined_ps = 0,
                    .id = phase.ids[root],
                    .row = number,
                    .at = programs_.first(number),
                    .segments = phase.segments[root],
                    .pending = 0,
                    .parent = NO_FRAME,
                    .origin = 0});
    }

    // Make the frame of the child that the parent's next op creates on worker `spawner`. The parent passes this op.
    std::uint32_t new_child(std::uint32_t parent, std::uint32_t spawner) {
        Frame& creator = frames_[parent];
        const std::uint32_t row = next(creator).arg;
        std::int64_t id = row;
        std::uint32_t segments = 0;
        if (graph_.folded) {
            id = creator.id + graph_.child[Programs::op_of(creator.at, creator.row)];
            segments = next_segment(creator);
        }
        ++creator.at;
        return add({.path_ps = creator.path_ps,
                    .joined_ps = 0,
                    .id = id,
                    .row = row,
                    .at = programs_.first(row),
                    .segments = segments,
                    .pending = 0,
                    .parent = parent,
                    .origin = spawner << 2});
    }

    void free(std::uint32_t frame) {
        frames_[frame].parent = free_;
        free_ = frame;
    }

    // Whether the worker may run `task` on top of its stack. If joins are strict, `task` has to be a descendant of the
    // task that waits on top of the stack.
    bool may_run(const Worker& w, Task task) const {
        if (!strict_ || w.stack.empty()) return true;
        const Frame& top = (*this)[w.stack.back()];
        const std::int64_t id = id_of(task);
        return top.id < id && id < top.id + graph_.size[top.row];
    }

    // ---- if the spawn order adapts: how many calls deep a task is on its worker's stack

    bool adapts() const { return adapts_; }
    std::int64_t depth(std::uint32_t frame) const { return depth_[frame].calls; }
    void stack_upon(std::uint32_t child, std::uint32_t parent, std::uint32_t worker) {
        depth_[child].calls = depth_[parent].calls + 1;
        depth_[parent].left_by = worker;
    }
    void stack_beside(std::uint32_t callee, std::uint32_t caller) { depth_[callee].calls = depth_[caller].calls; }
    void set_to_bottom(std::uint32_t frame) { depth_[frame].calls = 0; }
    // The worker has taken a task from a queue.
    void take_from_queue(std::uint32_t frame, std::uint32_t worker) {
        if (!has_started(frames_[frame]) || depth_[frame].left_by != worker) depth_[frame].calls = 0;
    }

    // Whether the worker is idle in a nested join that is over.
    bool join_is_over(const Worker& w) const {
        return w.idle && !w.stack.empty() && awaited(static_cast<std::uint32_t>(w.stack.back())) == 0;
    }
    // How many unfinished tasks the task waits for at its present op.
    std::uint32_t awaited(std::uint32_t frame) const {
        return gathers(frame) ? groups_[groups_.innermost(frame)].members : frames_[frame].pending;
    }
    // Whether the task waits at an END_GROUP for its innermost group (and not for its children).
    bool gathers(std::uint32_t frame) const { return groups_.exist() && next(frames_[frame]).op == END_GROUP; }

    Counter& counter(std::uint32_t frame) { return counters_[frame]; }

    Groups& groups() { return groups_; }
    const Groups& groups() const { return groups_; }

    // ---- dependences

    bool have_dependences() const { return !dependences_.empty(); }
    bool depends_on_none(Task task) const { return predecessors_[static_cast<std::size_t>(id_of(task))] == 0; }

    // The task in a frame has been spawned. Returns whether it has to wait for predecessors.
    [[gnu::noinline]] bool must_wait(std::uint32_t frame) {
        Dependence& dependence = dependences_[static_cast<std::size_t>(frames_[frame].id)];
        frames_[frame].path_ps = std::max(frames_[frame].path_ps, dependence.path_ps);
        dependence.frame = frame;
        return dependence.held != 0;
    }

    // A task has finished. Call `ready(frame)` for each spawned successor that waits for no other predecessor.
    template <typename Ready>
    void release(const Frame& finished, Ready&& ready) {
        const auto id = static_cast<std::size_t>(finished.id);
        for (std::int64_t i = graph_.successor_ptr[id]; i < graph_.successor_ptr[id + 1]; ++i) {
            Dependence& successor = dependences_[graph_.successor[static_cast<std::size_t>(i)]];
            successor.path_ps = std::max(successor.path_ps, finished.path_ps);
            --successor.held;
            if (successor.frame == NO_FRAME) continue;
            Frame& spawned = frames_[successor.frame];
            spawned.path_ps = std::max(spawned.path_ps, successor.path_ps);
            if (successor.held == 0) ready(successor.frame);
        }
    }

    // ---- the longest chain of work

    void end_chain(std::int64_t path_ps) {
        if (path_ps > span_ps_) span_ps_ = path_ps;
    }
    std::int64_t take_span_ps() { return std::exchange(span_ps_, 0); }

    // The largest number of frames in use at one time: freed frames are used again before new frames are made.
    std::size_t most() const { return frames_.size(); }

private:
    // The state of a task with dependences, also before it is spawned and after it has finished.
    struct Dependence {
        std::int64_t path_ps;  // time of the longest chain of its finished predecessors
        std::uint32_t held;    // number of unfinished predecessors
        std::uint32_t frame;   // NO_FRAME until the task is spawned
    };

    struct Depth {
        std::uint32_t calls, left_by;  // `left_by`: the worker that last put the rest of the task into a queue
    };

    std::uint32_t add(const Frame& made) {
        const std::uint32_t at = place(made);
        if (groups_.exist()) made.parent == NO_FRAME ? groups_.add_root(at) : groups_.add_child(at, made.parent);
        return at;
    }

    std::uint32_t place(const Frame& made) {
        const std::uint32_t at = free_;
        if (at == NO_FRAME) {
            frames_.push_back(made);
            if (adapts_) depth_.push_back({0, 0});
            if (serves_lines_) counters_.push_back({0, NO_FRAME});
            return static_cast<std::uint32_t>(frames_.size()) - 1;
        }
        free_ = frames_[at].parent;
        frames_[at] = made;
        if (adapts_) depth_[at] = {0, 0};
        if (serves_lines_) counters_[at] = {0, NO_FRAME};
        return at;
    }

    // Set the dependences of all tasks in the tree of `root` to the state before any task has finished.
    void reset(std::int64_t root) {
        for (std::int64_t task = root; task < root + graph_.size[static_cast<std::size_t>(root)]; ++task) {
            dependences_[static_cast<std::size_t>(task)] = {0, predecessors_[static_cast<std::size_t>(task)], NO_FRAME};
        }
    }

    const Graph graph_;
    const Programs& programs_;
    const Task tasks_;  // ids of items are at least this
    const bool strict_, adapts_, serves_lines_;
    std::vector<Frame> frames_;
    std::vector<Counter> counters_;  // [frames] if the plan serves lines
    Groups groups_;
    std::vector<Depth> depth_;                 // [frames] if the spawn order adapts
    std::uint32_t free_ = NO_FRAME;            // the first free frame; linked by `parent`
    std::vector<Dependence> dependences_;      // [rows], empty if the graph has no dependences
    std::vector<std::uint32_t> predecessors_;  // [rows] or empty: number of predecessors
    std::int64_t span_ps_ = 0;
};

}  // namespace numasim
