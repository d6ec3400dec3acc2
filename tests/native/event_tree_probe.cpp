// Functions of numasim::EventTree that the tests can call.
#include "state/event_tree.hpp"

using numasim::EventTree;

extern "C" {
EventTree* tree_create(std::size_t slots) { return new EventTree(slots); }
void tree_destroy(EventTree* tree) { delete tree; }
void tree_clear(EventTree* tree, std::size_t slot) { tree->clear(slot); }

void tree_set(EventTree* tree, std::size_t slot, std::int64_t time_ps, std::uint32_t rank, std::uint32_t actor) {
    tree->set(slot, numasim::event_key(time_ps, rank, actor));
}

bool tree_next(EventTree* tree, std::int64_t* time_ps, std::uint32_t* rank, std::uint32_t* actor) {
    const numasim::EventKey next = tree->next();
    *time_ps = numasim::event_time(next);
    *rank = numasim::event_rank(next);
    *actor = numasim::event_actor(next);
    return next != numasim::NO_EVENT;
}
}
