#include "sync/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/wide.h"
#include "sync/server.h"

/* Parties that meet at a barrier. */
typedef struct {
    int64_t opens_ps;
    ns_arrival *arrivals; /* [parties] */
    uint32_t count;
} meeting;

typedef struct {
    meeting *meetings;       /* `complete` ones in the order in which they open, then the one that gathers */
    uint32_t complete, room; /* more meetings than the workers can fill are never needed */
    int64_t episode;
    ns_line *of_worker, *of_node; /* [workers], [nodes] */
    void *memory;                 /* of all these */
} barrier;

/* Sleepers are linked by `ns_sync.after`. */
typedef struct {
    int64_t permits;      /* how many more need not wait */
    uint32_t first, last; /* NS_NOBODY: none sleeps */
} condition;

typedef struct {
    ns_line line;
    union {
        ns_server server;
        barrier barrier;
        condition condition;
    } is;
} object;

struct ns_sync {
    const ns_plan_words *plan;
    int64_t signal_ps;
    ns_sync_listener listener;
    ns_clock *clock;
    size_t first_slot;
    object *objects;     /* [count] */
    uint32_t *after;     /* [workers + 1] the sleeper that came next */
    ns_arrival *leaders; /* [workers] scratch */
};

static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

static void schedule(ns_sync *self, uint32_t number, enum ns_rank rank, int64_t due_ps) {
    const int64_t at_ps = earlier(due_ps, NS_LATEST_PS);
    ns_clock_set(self->clock, self->first_slot + number, ns_event_key_of(at_ps, rank, number));
}

static void clear(ns_sync *self, uint32_t number) { ns_clock_clear(self->clock, self->first_slot + number); }

static void expect(const ns_sync *self, uint32_t actor, enum ns_rank rank, int64_t due_ps) {
    if (self->listener.expected) self->listener.expected(self->listener.context, actor, rank, due_ps);
}

/* ---- locks and atomic words -------------------------------------------------------------------------------------- */

/* An atomic word is served in the order of arrival, as an mcs lock. */
static enum ns_lock_kind kind_of(const ns_sync *self, uint32_t number) {
    return self->plan->role.at[number] == NS_SYNC_ATOMIC ? NS_LOCK_MCS : self->plan->kind;
}

/* Schedule the grant that is promised. */
static void schedule_grant(ns_sync *self, uint32_t number) {
    const ns_server *lock = &self->objects[number].is.server;
    schedule(self, number, NS_RANK_GRANT, lock->due_ps);
    expect(self, lock->next.actor, NS_RANK_GRANT, lock->due_ps);
}

bool ns_sync_request(ns_sync *self, uint32_t number, uint32_t actor, uint32_t then, int64_t now_ps) {
    object *one = &self->objects[number];
    ns_server *lock = &one->is.server;
    if (!ns_server_enqueue(lock, (ns_waiter){now_ps, actor, then})) return false;
    if (lock->busy) return true;
    ns_server_serve_first(lock, kind_of(self, number), &self->plan->transfers, &one->line, now_ps);
    schedule_grant(self, number);
    return true;
}

bool ns_sync_is_free(const ns_sync *self, uint32_t number) { return !self->objects[number].is.server.busy; }

ns_waiter ns_sync_grant(ns_sync *self, uint32_t number, int64_t now_ps) {
    object *one = &self->objects[number];
    clear(self, number);
    ns_server_grant(&one->is.server, &self->plan->transfers, &one->line, now_ps);
    return one->is.server.next;
}

static void end_holding(ns_sync *self, uint32_t number, int64_t now_ps) {
    ns_server *lock = &self->objects[number].is.server;
    const ns_sync_listener *listener = &self->listener;
    if (listener->held) listener->held(listener->context, number, lock->holder, lock->granted_ps);
    ns_server_end_holding(lock, now_ps);
}

void ns_sync_release(ns_sync *self, uint32_t number, uint32_t actor, int64_t now_ps) {
    object *one = &self->objects[number];
    const ns_plan_words *plan = self->plan;
    end_holding(self, number, now_ps);
    if (ns_server_serve_next(&one->is.server, kind_of(self, number), &plan->rules, &plan->transfers, &one->line, actor,
                             now_ps))
        schedule_grant(self, number);
}

ns_server *ns_sync_server(ns_sync *self, uint32_t number, ns_line **line) {
    *line = &self->objects[number].line;
    return &self->objects[number].is.server;
}

void ns_sync_detach(ns_sync *self, uint32_t number) { clear(self, number); }

void ns_sync_attach(ns_sync *self, uint32_t number) {
    if (self->objects[number].is.server.promised) schedule_grant(self, number);
}

void ns_sync_free_search(ns_sync *self, uint32_t declared, int64_t now_ps,
                         void (*waited)(void *context, uint32_t actor, int64_t since_ps)) {
    void *const context = self->listener.context;
    for (uint32_t number = declared; number < self->plan->role.count; number++) {
        ns_server *lock = &self->objects[number].is.server;
        for (uint32_t at = 0; at < lock->count; at++) {
            const ns_waiter *waiter = ns_server_waiters(lock) + at;
            waited(context, waiter->actor, waiter->since_ps);
        }
        if (lock->promised) waited(context, lock->next.actor, lock->next.since_ps);
        if (lock->holder != NS_NOBODY) end_holding(self, number, now_ps);
        ns_server_clear(lock);
        clear(self, number);
    }
}

/* ---- barriers ---------------------------------------------------------------------------------------------------- */

/* All parties of the meeting that gathers have come: put it where it belongs among those that open. */
static void complete(ns_sync *self, uint32_t number) {
    object *one = &self->objects[number];
    barrier *place = &one->is.barrier;
    meeting met = place->meetings[place->complete];
    ns_barrier lines = {one->line, place->of_worker, place->of_node};
    met.opens_ps =
        ns_barrier_open(self->plan->barrier, &self->plan->transfers, &lines, met.arrivals, met.count, self->leaders);
    one->line = lines.shared;
    for (uint32_t at = 0; at < met.count; at++) expect(self, met.arrivals[at].worker, NS_RANK_RELEASE, met.opens_ps);
    uint32_t at = place->complete++;
    for (; at > 0 && place->meetings[at - 1].opens_ps > met.opens_ps; at--) {
        place->meetings[at] = place->meetings[at - 1];
    }
    place->meetings[at] = met;
    schedule(self, number, NS_RANK_RELEASE, place->meetings[0].opens_ps);
}

void ns_sync_arrive(ns_sync *self, uint32_t number, uint32_t actor, int64_t now_ps) {
    const barrier *place = &self->objects[number].is.barrier;
    meeting *gathering = &place->meetings[place->complete];
    gathering->arrivals[gathering->count++] =
        (ns_arrival){.time_ps = now_ps, .worker = actor, .node = ns_node_of(&self->plan->transfers, actor)};
    if (gathering->count == self->plan->parties.at[number]) complete(self, number);
}

int64_t ns_sync_open(ns_sync *self, uint32_t number) {
    barrier *place = &self->objects[number].is.barrier;
    const ns_sync_listener *listener = &self->listener;
    meeting met = place->meetings[0];
    place->complete--;
    memmove(place->meetings, place->meetings + 1, (place->room - 1) * sizeof met);
    clear(self, number);
    if (place->complete) schedule(self, number, NS_RANK_RELEASE, place->meetings[0].opens_ps);
    for (uint32_t at = 0; at < met.count; at++) {
        const ns_arrival *party = &met.arrivals[at];
        listener->released(listener->context, party->worker, party->leave_ps);
    }
    met.count = 0;
    place->meetings[place->room - 1] = met;
    return place->episode++;
}

/* ---- conditions -------------------------------------------------------------------------------------------------- */

bool ns_sync_await(ns_sync *self, uint32_t number, uint32_t actor, int64_t *owed_ps) {
    object *one = &self->objects[number];
    condition *state = &one->is.condition;
    *owed_ps = 0;
    if (state->permits) {
        state->permits--;
        *owed_ps = ns_line_move(&self->plan->transfers, &one->line, actor);
        return true;
    }
    *(state->first == NS_NOBODY ? &state->first : &self->after[state->last]) = actor;
    state->last = actor;
    self->after[actor] = NS_NOBODY;
    return false;
}

/* Wake the first sleeper, after the time that the others have cost; what all have cost then. */
static int64_t wake_first(ns_sync *self, object *one, uint32_t actor, int64_t spent_ps) {
    const ns_transfers *transfers = &self->plan->transfers;
    const uint32_t sleeper = one->is.condition.first;
    one->is.condition.first = self->after[sleeper];
    one->line.owner = sleeper;
    const int64_t spent = ns_sum(spent_ps, self->signal_ps + ns_line_move(transfers, &one->line, actor));
    const bool remote = ns_line_wakes_remotely(transfers, &one->line, sleeper);
    self->listener.woken(self->listener.context, sleeper,
                         ns_sum(spent, remote ? self->plan->rules.wake_remote_ps : self->plan->rules.wake_ps));
    return spent;
}

int64_t ns_sync_signal(ns_sync *self, uint32_t number, uint32_t actor, int64_t permits) {
    object *one = &self->objects[number];
    condition *state = &one->is.condition;
    int64_t spent_ps = 0;
    for (; permits && state->first != NS_NOBODY; permits--) spent_ps = wake_first(self, one, actor, spent_ps);
    state->permits = ns_sum(state->permits, permits);
    return spent_ps;
}

/* ---- what they count --------------------------------------------------------------------------------------------- */

static void add_lines(ns_sync_counts *counts, const ns_line *lines, uint32_t count) {
    for (uint32_t at = 0; at < count; at++) {
        counts->local += lines[at].local;
        counts->remote += lines[at].remote;
    }
}

ns_sync_counts ns_sync_count(const ns_sync *self, uint32_t number) {
    const object *one = &self->objects[number];
    ns_sync_counts counts = {0};
    add_lines(&counts, &one->line, 1);
    if (self->plan->role.at[number] <= NS_SYNC_ATOMIC) {
        counts.acquisitions = one->is.server.acquisitions;
        counts.wait_ps = one->is.server.wait_ps;
        counts.hold_ps = one->is.server.hold_ps;
    } else if (self->plan->role.at[number] == NS_SYNC_BARRIER) {
        add_lines(&counts, one->is.barrier.of_worker, self->plan->transfers.workers);
        add_lines(&counts, one->is.barrier.of_node, self->plan->transfers.nodes);
    }
    return counts;
}

/* ---- their memory ------------------------------------------------------------------------------------------------ */

/* Lines of worker and node, each at the home of what is kept for a worker there. */
static void place_lines(const ns_plan_words *plan, const barrier *place) {
    for (uint32_t node = 0; node < plan->transfers.nodes; node++) {
        place->of_node[node] = (ns_line){.owner = NS_NOBODY};
    }
    for (uint32_t worker = 0; worker < plan->transfers.workers; worker++) {
        place->of_worker[worker] = (ns_line){.home = plan->worker_home.at[worker], .owner = NS_NOBODY};
        place->of_node[plan->transfers.node[worker]].home = plan->worker_home.at[worker];
    }
}

static bool make_barrier(const ns_plan_words *plan, uint32_t number, barrier *place) {
    const uint32_t workers = plan->transfers.workers, nodes = plan->transfers.nodes;
    const uint32_t parties = plan->parties.at[number] < workers ? (uint32_t)plan->parties.at[number] : workers;
    const uint32_t room = workers / parties + 1;
    const size_t lines_bytes = ((size_t)workers + nodes) * sizeof(ns_line), meetings_bytes = room * sizeof(meeting);
    char *memory = calloc(1, meetings_bytes + lines_bytes + (size_t)room * parties * sizeof(ns_arrival));
    if (!memory) return false;
    *place = (barrier){.meetings = (meeting *)(void *)memory, .room = room, .memory = memory};
    place->of_worker = (ns_line *)(void *)(memory + meetings_bytes);
    place->of_node = place->of_worker + workers;
    ns_arrival *arrivals = (ns_arrival *)(void *)(memory + meetings_bytes + lines_bytes);
    for (uint32_t at = 0; at < room; at++) place->meetings[at].arrivals = arrivals + (size_t)at * parties;
    place_lines(plan, place);
    return true;
}

static bool make_object(ns_sync *self, uint32_t number) {
    object *one = &self->objects[number];
    one->line = (ns_line){.home = self->plan->home.at[number], .owner = NS_NOBODY};
    switch (self->plan->role.at[number]) {
        case NS_SYNC_BARRIER: return make_barrier(self->plan, number, &one->is.barrier);
        case NS_SYNC_CONDITION: one->is.condition = (condition){0, NS_NOBODY, NS_NOBODY}; return true;
        case NS_SYNC_OBJECTS: return true; /* see transactions.h */
        default: one->is.server.holder = NS_NOBODY; return true;
    }
}

ns_sync *ns_sync_create(const ns_full_plan *plan, ns_clock *clock, size_t first_slot, ns_sync_listener listener) {
    const size_t workers = plan->workers;
    ns_sync *made = malloc(sizeof *made);
    if (!made) return NULL;
    *made = (ns_sync){&plan->words, plan->costs.signal_ps, listener, clock, first_slot, NULL, NULL, NULL};
    made->objects = calloc(plan->words.role.count + 1, sizeof *made->objects);
    made->after = calloc(workers + 1, sizeof *made->after);
    made->leaders = calloc(workers + 1, sizeof *made->leaders);
    bool whole = made->objects && made->after && made->leaders;
    for (uint32_t number = 0; whole && number < plan->words.role.count; number++) whole = make_object(made, number);
    if (whole) return made;
    ns_sync_destroy(made);
    return NULL;
}

void ns_sync_destroy(ns_sync *self) {
    if (!self) return;
    for (uint32_t number = 0; self->objects && number < self->plan->role.count; number++) {
        object *one = &self->objects[number];
        if (self->plan->role.at[number] == NS_SYNC_BARRIER) free(one->is.barrier.memory);
        if (self->plan->role.at[number] <= NS_SYNC_ATOMIC) free(one->is.server.places);
    }
    free(self->objects);
    free(self->after);
    free(self->leaders);
    free(self);
}
