#include "state/frames.hpp"

namespace numasim {

Frames::Frames(const Plan& plan, const Programs& programs)
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

std::uint32_t Frames::new_root(const Phase& phase, std::size_t root) {
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

bool Frames::must_wait(std::uint32_t frame) {
    Dependence& dependence = dependences_[static_cast<std::size_t>(frames_[frame].id)];
    frames_[frame].path_ps = std::max(frames_[frame].path_ps, dependence.path_ps);
    dependence.frame = frame;
    return dependence.held != 0;
}

// Reset the dependences of the tasks of a tree.
void Frames::reset(std::int64_t root) {
    for (std::int64_t task = root; task < root + graph_.size[static_cast<std::size_t>(root)]; ++task) {
        dependences_[static_cast<std::size_t>(task)] = {0, predecessors_[static_cast<std::size_t>(task)], NO_FRAME};
    }
}

}  // namespace numasim
