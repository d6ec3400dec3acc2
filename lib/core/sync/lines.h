/* Cache lines of synchronisation objects: who had them last, and how long it takes to get them (model 5.1; thesis
 * Table 6.2).
 *
 * A line comes from the core of its owner, or from the memory of its home where nobody has it; where words are not
 * cached, always from there. An actor is a worker, or a producer, which stands beside worker 0.
 */
#ifndef NUMASIM_SYNC_LINES_H
#define NUMASIM_SYNC_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "generated/plan_structs.h"

#define NS_NOBODY UINT32_MAX

/* One line: its home, its owner, how often it went to another actor of the same node and of another node. */
typedef struct {
    int32_t home;
    uint32_t owner; /* NS_NOBODY: in memory */
    int64_t local, remote;
} ns_line;

static inline uint32_t ns_place_of(const ns_transfers *self, uint32_t actor) {
    return actor < self->workers ? actor : 0;
}

static inline int32_t ns_node_of(const ns_transfers *self, uint32_t actor) {
    return self->node[ns_place_of(self, actor)];
}

/* Time until `actor` has the line. */
static inline int64_t ns_line_to_ps(const ns_transfers *self, const ns_line *line, uint32_t actor) {
    if (line->owner == NS_NOBODY || !self->cached)
        return self->memory_ps[(uint64_t)ns_node_of(self, actor) * self->nodes + (uint64_t)line->home];
    return self->between_ps[(uint64_t)ns_place_of(self, actor) * self->workers + ns_place_of(self, line->owner)];
}

/* Whether `sleeper` sleeps on the word of a line that lives on another node, from which it is woken. */
static inline bool ns_line_wakes_remotely(const ns_transfers *self, const ns_line *line, uint32_t sleeper) {
    return ns_node_of(self, sleeper) != line->home;
}

/* Give the line to `actor`; the time that it takes. */
static inline int64_t ns_line_move(const ns_transfers *self, ns_line *line, uint32_t actor) {
    const int64_t time_ps = ns_line_to_ps(self, line, actor);
    if (line->owner != NS_NOBODY && line->owner != actor) {
        const bool local = ns_node_of(self, line->owner) == ns_node_of(self, actor);
        line->local += local;
        line->remote += !local;
    }
    line->owner = actor;
    return time_ps;
}

#endif
