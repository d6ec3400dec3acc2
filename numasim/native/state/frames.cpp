#include "state/frames.hpp"

namespace numasim {

Frames::Frames(const Plan& plan) : graph_(plan.graph), tasks_(plan.graph.tasks), strict_(plan.join == Join::STRICT) {
    if (graph_.successor.empty()) return;
    dependences_.resize(static_cast<std::size_t>(graph_.tasks));
    predecessors_.assign(dependences_.size(), 0);
    for (const std::uint32_t task : graph_.successor) ++predecessors_[task];
}

std::uint32_t Frames::add(std::uint32_t row, std::int64_t id, std::uint32_t segments, std::uint32_t parent) {
    std::uint32_t at = free_;
    if (at == NO_FRAME) {
        at = static_cast<std::uint32_t>(frames_.size());
        frames_.emplace_back();
    } else {
        free_ = frames_[at].parent;
    }
    frames_[at] = {.path_ps = 0,
                   .joined_ps = 0,
                   .id = id,
                   .row = row,
                   .at = static_cast<std::uint32_t>(graph_.op_ptr[row]),
                   .segments = segments,
                   .pending = 0,
                   .parent = parent,
                   .spawner = 0,
                   .kind = graph_.kind[row] & 3U,
                   .waiting = 0,
                   .finished = 0};
    return at;
}

std::uint32_t Frames::new_root(const Phase& phase, std::size_t root) {
    const std::int64_t row = phase.roots[root];
    if (have_dependences()) reset(row);
    return add(static_cast<std::uint32_t>(row), phase.ids[root], phase.segments[root], NO_FRAME);
}

std::uint32_t Frames::new_child(std::uint32_t parent) {
    const std::uint32_t op = frames_[parent].at++;
    const std::uint32_t row = graph_.op_arg[op];
    std::int64_t id = row;
    std::uint32_t segments = 0;
    if (graph_.folded) {
        id = frames_[parent].id + graph_.child[op];
        segments = frames_[parent].segments + graph_.segment[op];
    }
    const std::uint32_t child = add(row, id, segments, parent);
    frames_[child].path_ps = frames_[parent].path_ps;
    return child;
}

bool Frames::must_wait(std::uint32_t frame) {
    Dependence& dependence = dependences_[static_cast<std::size_t>(frames_[frame].id)];
    frames_[frame].path_ps = std::max(frames_[frame].path_ps, dependence.path_ps);
    dependence.frame = frame;
    return dependence.held != 0;
}

// Bring the dependences of the tasks below `root` back to their beginning.
void Frames::reset(std::int64_t root) {
    for (std::int64_t task = root; task < root + graph_.size[static_cast<std::size_t>(root)]; ++task) {
        dependences_[static_cast<std::size_t>(task)] = {0, predecessors_[static_cast<std::size_t>(task)], NO_FRAME};
    }
}

}  // namespace numasim
