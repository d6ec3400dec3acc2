#include "words.h"

#include <stdlib.h>
#include <string.h>

#include "sync/barriers.h"
#include "sync/locks.h"
#include "base/wide.h"

#define LATEST_PS (INT64_C(1) << 62)

/* What an actor waits for; queues of words are linked through these. */
typedef struct {
    int64_t since_ps;
    ns_granted *then;
    void *context;
    uint32_t before, after; /* in its queue; NS_NOBODY at the ends */
} waiter;

typedef struct {
    uint32_t first, last, count;
} queue;

/* The server of a lock or an atomic word. */
typedef struct {
    ns_event grant;
    queue waiting;   /* in the order of their arrival; those of one instant in the order of their ids */
    uint32_t next;   /* gets it, where its grant is pending */
    uint32_t holder; /* NS_NOBODY: none */
    bool busy;       /* promised or held */
    int64_t run;     /* grants in a row within one node */
    int64_t granted_ps, acquisitions, wait_ps, hold_ps;
} server;

/* Parties that meet at a barrier: some have come, or all have and it is about to open. */
typedef struct {
    ns_event release;
    ns_arrival *arrivals; /* [parties] */
    uint32_t count;
} meeting;

typedef struct {
    meeting *meetings; /* [meeting_count] more than the workers can fill at once are never needed */
    uint32_t meeting_count;
    uint64_t episode;
    ns_line *of_worker, *of_node; /* [workers], [nodes] */
    void *memory;                 /* of all these */
} barrier;

typedef struct {
    int64_t permits; /* how many more need not wait */
    queue sleepers;
} condition;

typedef struct {
    ns_line line;
    enum ns_word_role role;
    int64_t parties;
    union {
        server server;
        barrier barrier;
        condition condition;
    } is;
} word;

struct ns_words {
    const ns_transfers *transfers;
    ns_clock *clock;
    ns_words_listener listener;
    enum ns_lock_kind lock_kind;
    enum ns_barrier_kind barrier_kind;
    ns_lock_rules rules;
    int64_t signal_ps;
    uint32_t count;
    word *words;         /* [count] */
    waiter *waiters;     /* [workers + 1] by actor */
    ns_waiter *line_up;  /* [workers + 1] scratch */
    ns_arrival *leaders; /* [workers] scratch */
};

static bool is_server(const word *one) { return one->role == NS_WORD_LOCK || one->role == NS_WORD_ATOMIC; }

static int64_t sum(int64_t a, int64_t b) { return ns_saturate((ns_wide)a + b); }

static void schedule(ns_words *self, ns_event *event, enum ns_rank rank, int64_t delay_ps) {
    const int64_t most = LATEST_PS - self->clock->now_ps;
    ns_clock_schedule(self->clock, event, rank, delay_ps < most ? delay_ps : most);
}

/* ---- queues ------------------------------------------------------------------------------------------------------ */

static const queue EMPTY = {NS_NOBODY, NS_NOBODY, 0};

/* Let `actor` in behind `before`, or in front of all where that is nobody. */
static void queue_insert(queue *self, waiter *waiters, uint32_t before, uint32_t actor) {
    const uint32_t after = before == NS_NOBODY ? self->first : waiters[before].after;
    waiters[actor].before = before;
    waiters[actor].after = after;
    *(before == NS_NOBODY ? &self->first : &waiters[before].after) = actor;
    *(after == NS_NOBODY ? &self->last : &waiters[after].before) = actor;
    self->count++;
}

static void queue_remove(queue *self, waiter *waiters, uint32_t actor) {
    const uint32_t before = waiters[actor].before, after = waiters[actor].after;
    *(before == NS_NOBODY ? &self->first : &waiters[before].after) = after;
    *(after == NS_NOBODY ? &self->last : &waiters[after].before) = before;
    self->count--;
}

/* ---- locks ------------------------------------------------------------------------------------------------------- */

static void promise(ns_words *self, word *one, uint32_t actor, int64_t delay_ps) {
    server *lock = &one->is.server;
    queue_remove(&lock->waiting, self->waiters, actor);
    lock->next = actor;
    schedule(self, &lock->grant, NS_RANK_GRANT, delay_ps);
}

void ns_words_request(ns_words *self, uint32_t number, uint32_t actor, ns_granted *then, void *context) {
    word *one = &self->words[number];
    server *lock = &one->is.server;
    const int64_t now = self->clock->now_ps;
    self->waiters[actor] = (waiter){.since_ps = now, .then = then, .context = context};
    uint32_t before = lock->waiting.last;
    while (before != NS_NOBODY && self->waiters[before].since_ps == now && before > actor) {
        before = self->waiters[before].before;
    }
    queue_insert(&lock->waiting, self->waiters, before, actor);
    if (lock->busy) return;
    lock->busy = true;
    promise(self, one, actor, ns_line_to_ps(self->transfers, &one->line, actor));
}

static void on_grant(ns_event *event) {
    ns_words *self = event->context;
    word *one = &self->words[event->actor];
    server *lock = &one->is.server;
    const uint32_t actor = lock->next;
    const waiter asked = self->waiters[actor];
    lock->next = NS_NOBODY;
    lock->holder = actor;
    lock->granted_ps = self->clock->now_ps;
    lock->acquisitions++;
    lock->wait_ps += self->clock->now_ps - asked.since_ps;
    ns_line_move(self->transfers, &one->line, actor);
    asked.then(asked.context, actor, event->actor, asked.since_ps);
}

static void end_holding(const ns_words *self, server *lock) {
    lock->hold_ps += self->clock->now_ps - lock->granted_ps;
    lock->holder = NS_NOBODY;
}

/* Who waits for a lock, as policy/locks.h wants it. */
static void line_up(ns_words *self, const server *lock) {
    uint32_t place = 0;
    for (uint32_t actor = lock->waiting.first; actor != NS_NOBODY; actor = self->waiters[actor].after) {
        self->line_up[place++] = (ns_waiter){.since_ps = self->waiters[actor].since_ps, .actor = actor};
    }
}

void ns_words_release(ns_words *self, uint32_t number, uint32_t actor) {
    word *one = &self->words[number];
    server *lock = &one->is.server;
    end_holding(self, lock);
    ns_line_move(self->transfers, &one->line, actor);
    if (!lock->waiting.count) {
        lock->busy = false;
        lock->run = 0;
        return;
    }
    const enum ns_lock_kind kind = one->role == NS_WORD_ATOMIC ? NS_LOCK_MCS : self->lock_kind;
    line_up(self, lock);
    const ns_grant next = ns_lock_next(kind, &self->rules, self->transfers, &one->line, self->line_up,
                                       lock->waiting.count, self->clock->now_ps, &lock->run);
    promise(self, one, self->line_up[next.place].actor, next.delay_ps);
}

static void free_search_lock(ns_words *self, uint32_t number, ns_granted *waited, void *context) {
    server *lock = &self->words[number].is.server;
    while (lock->waiting.count) {
        const uint32_t actor = lock->waiting.first;
        queue_remove(&lock->waiting, self->waiters, actor);
        waited(context, actor, number, self->waiters[actor].since_ps);
    }
    if (lock->next != NS_NOBODY) {
        ns_clock_cancel(self->clock, &lock->grant);
        waited(context, lock->next, number, self->waiters[lock->next].since_ps);
    }
    if (lock->holder != NS_NOBODY) end_holding(self, lock);
    lock->next = NS_NOBODY;
    lock->busy = false;
    lock->run = 0;
}

void ns_words_free_search(ns_words *self, uint32_t declared, ns_granted *waited, void *context) {
    for (uint32_t number = declared; number < self->count; number++) free_search_lock(self, number, waited, context);
}

/* ---- barriers ---------------------------------------------------------------------------------------------------- */

/* The meeting that is still open for one more. */
static meeting *gathering(const word *one) {
    const barrier *place = &one->is.barrier;
    meeting *empty = NULL;
    for (uint32_t at = 0; at < place->meeting_count; at++) {
        meeting *here = &place->meetings[at];
        if (here->count && here->count < one->parties) return here;
        if (!here->count && !empty) empty = here;
    }
    return empty;
}

static void open_later(ns_words *self, word *one, meeting *met) {
    barrier *place = &one->is.barrier;
    ns_barrier lines = {one->line, place->of_worker, place->of_node};
    const int64_t opens =
        ns_barrier_open(self->barrier_kind, self->transfers, &lines, met->arrivals, met->count, self->leaders);
    one->line = lines.shared;
    schedule(self, &met->release, NS_RANK_RELEASE, opens - self->clock->now_ps);
}

void ns_words_arrive(ns_words *self, uint32_t number, uint32_t actor) {
    word *one = &self->words[number];
    meeting *met = gathering(one);
    met->arrivals[met->count++] =
        (ns_arrival){.time_ps = self->clock->now_ps, .worker = actor, .node = ns_node_of(self->transfers, actor)};
    if (met->count == one->parties) open_later(self, one, met);
}

static void on_release(ns_event *event) {
    ns_words *self = event->context;
    meeting *met = (meeting *)event; /* of which the event is the first member */
    const uint32_t number = event->actor - 1;
    const ns_words_listener *listener = &self->listener;
    listener->opened(listener->context, number, self->words[number].is.barrier.episode++);
    for (uint32_t at = 0; at < met->count; at++) {
        const ns_arrival *party = &met->arrivals[at];
        listener->released(listener->context, party->worker, number,
                           party->leave_ps < LATEST_PS ? party->leave_ps : LATEST_PS);
    }
    met->count = 0;
}

/* ---- conditions -------------------------------------------------------------------------------------------------- */

bool ns_words_await(ns_words *self, uint32_t number, uint32_t actor, int64_t *owed_ps) {
    word *one = &self->words[number];
    condition *state = &one->is.condition;
    *owed_ps = 0;
    if (!state->permits) {
        queue_insert(&state->sleepers, self->waiters, state->sleepers.last, actor);
        return false;
    }
    state->permits--;
    *owed_ps = ns_line_move(self->transfers, &one->line, actor);
    return true;
}

/* Wake the first sleeper, after the time that the others have cost; what all have cost then. */
static int64_t wake_first(ns_words *self, word *one, uint32_t actor, int64_t spent_ps) {
    condition *state = &one->is.condition;
    const uint32_t sleeper = state->sleepers.first;
    const bool remote = ns_line_wakes_remotely(self->transfers, &one->line, sleeper);
    queue_remove(&state->sleepers, self->waiters, sleeper);
    one->line.owner = sleeper;
    const int64_t spent = sum(spent_ps, self->signal_ps + ns_line_move(self->transfers, &one->line, actor));
    const int64_t wakes = sum(spent, remote ? self->rules.wake_remote_ps : self->rules.wake_ps);
    const int64_t most = LATEST_PS - self->clock->now_ps;
    self->listener.woken(self->listener.context, sleeper, wakes < most ? wakes : most);
    return spent;
}

int64_t ns_words_signal(ns_words *self, uint32_t number, uint32_t actor, uint32_t permits) {
    word *one = &self->words[number];
    condition *state = &one->is.condition;
    int64_t spent_ps = 0;
    for (; permits && state->sleepers.count; permits--) spent_ps = wake_first(self, one, actor, spent_ps);
    state->permits = sum(state->permits, permits);
    return spent_ps;
}

/* ---- what they count --------------------------------------------------------------------------------------------- */

uint32_t ns_words_count(const ns_words *self) { return self->count; }

bool ns_words_has(const ns_words *self, uint32_t number, enum ns_word_role role) {
    return number < self->count && self->words[number].role == role;
}

typedef struct {
    int64_t acquisitions, local, remote, wait_ps, hold_ps;
} counts;
_Static_assert(sizeof(counts) == 5 * sizeof(int64_t), "a row of ns_report.words");

static void add_lines(counts *row, const ns_line *lines, uint32_t count) {
    for (uint32_t at = 0; at < count; at++) {
        row->local += lines[at].local;
        row->remote += lines[at].remote;
    }
}

static counts counts_of(const ns_words *self, const word *one) {
    counts row = {0};
    add_lines(&row, &one->line, 1);
    if (is_server(one)) {
        row.acquisitions = one->is.server.acquisitions;
        row.wait_ps = one->is.server.wait_ps;
        row.hold_ps = one->is.server.hold_ps;
    } else if (one->role == NS_WORD_BARRIER) {
        add_lines(&row, one->is.barrier.of_worker, self->transfers->workers);
        add_lines(&row, one->is.barrier.of_node, self->transfers->nodes);
    }
    return row;
}

void ns_words_report(const ns_words *self, ns_report *report) {
    for (uint32_t number = 0; number < self->count; number++) {
        const counts row = counts_of(self, &self->words[number]);
        memcpy(report->words + number * (sizeof row / sizeof(int64_t)), &row, sizeof row);
    }
}

/* ---- out of a plan ----------------------------------------------------------------------------------------------- */

/* The columns of the plan's words. */
typedef struct {
    const uint8_t *role;
    const int32_t *home, *worker_home;
    const int64_t *parties;
} columns;

static columns read_columns(ns_words *self, ns_field_reader *plan) {
    const ns_transfers *transfers = self->transfers;
    columns read = {0};
    uint64_t count = 0;
    read.role = ns_field_reader_array(plan, "word_role", NS_FIELD_U8, NS_ANY_COUNT, &count);
    ns_field_reader_require(plan, count < NS_NOBODY, "word_role has too many entries");
    for (uint64_t at = 0; !plan->error && at < count; at++) {
        ns_field_reader_require(plan, read.role[at] <= NS_WORD_BARRIER, "word_role[%u] is %u, which is no role",
                                (unsigned)at, read.role[at]);
    }
    const int64_t last_node = (int64_t)transfers->nodes - 1;
    read.home = ns_field_reader_i32(plan, "word_home", count, 0, last_node, NULL);
    read.worker_home = ns_field_reader_i32(plan, "worker_home", transfers->workers, 0, last_node, NULL);
    read.parties = ns_field_reader_i64(plan, "word_parties", count, 1, NS_MOST_WORKERS, NULL);
    self->count = plan->error ? 0 : (uint32_t)count;
    return read;
}

static void read_rules(ns_words *self, ns_field_reader *plan) {
    static const char *const LOCK[] = {"tas", "ttas", "ticket", "mcs", "mutex", "cohort"};
    static const char *const BARRIER[] = {"central", "flag", "tree", "per-domain"};
    self->lock_kind = (enum ns_lock_kind)ns_field_reader_choice(plan, "lock_kind", LOCK, 6);
    self->barrier_kind = (enum ns_barrier_kind)ns_field_reader_choice(plan, "barrier_kind", BARRIER, 4);
    self->signal_ps = ns_field_reader_integer(plan, "signal_ps", 0, NS_MOST_COST_PS);
    self->rules = (ns_lock_rules){
        .fair = ns_field_reader_flag(plan, "lock_fair"),
        .batch = ns_field_reader_integer(plan, "lock_batch", 1, NS_LONGEST_PS),
        .spin_ps = ns_field_reader_integer(plan, "spin_ps", 0, NS_LONGEST_PS),
        .pause_ps = ns_field_reader_integer(plan, "pause_ps", 0, NS_MOST_COST_PS),
        .futex_ps = ns_field_reader_integer(plan, "futex_ps", 0, NS_MOST_COST_PS),
        .wake_ps = ns_field_reader_integer(plan, "wake_ps", 0, NS_MOST_COST_PS),
        .wake_remote_ps = ns_field_reader_integer(plan, "wake_remote_ps", 0, NS_MOST_COST_PS),
    };
}

/* Lines of worker and node, each at the home of what is kept for a worker there. */
static void place_lines(const ns_words *self, barrier *place, const int32_t *worker_home) {
    const ns_transfers *transfers = self->transfers;
    for (uint32_t node = 0; node < transfers->nodes; node++) place->of_node[node] = (ns_line){.owner = NS_NOBODY};
    for (uint32_t worker = 0; worker < transfers->workers; worker++) {
        place->of_worker[worker] = (ns_line){.home = worker_home[worker], .owner = NS_NOBODY};
        place->of_node[transfers->node[worker]].home = worker_home[worker];
    }
}

static bool make_barrier(ns_words *self, uint32_t number, const int32_t *worker_home) {
    const uint32_t workers = self->transfers->workers, nodes = self->transfers->nodes;
    word *one = &self->words[number];
    barrier *place = &one->is.barrier;
    const uint32_t parties = one->parties < workers ? (uint32_t)one->parties : workers;
    const uint32_t meetings = (workers + parties - 1) / parties;
    const size_t lines_bytes = ((size_t)workers + nodes) * sizeof(ns_line), meetings_bytes = meetings * sizeof(meeting);
    char *memory = place->memory =
        calloc(1, meetings_bytes + lines_bytes + (size_t)meetings * parties * sizeof(ns_arrival));
    if (!memory) return false;
    place->meetings = (meeting *)(void *)memory;
    place->meeting_count = meetings;
    place->of_worker = (ns_line *)(void *)(memory + meetings_bytes);
    place->of_node = place->of_worker + workers;
    ns_arrival *arrivals = (ns_arrival *)(void *)(memory + meetings_bytes + lines_bytes);
    for (uint32_t at = 0; at < meetings; at++) {
        const ns_event release = {.actor = 1 + number, .fire = on_release, .context = self};
        place->meetings[at] = (meeting){.release = release, .arrivals = arrivals + (size_t)at * parties};
    }
    place_lines(self, place, worker_home);
    return true;
}

static bool make_word(ns_words *self, uint32_t number, const columns *plan) {
    word *one = &self->words[number];
    *one = (word){.line = {.home = plan->home[number], .owner = NS_NOBODY},
                  .role = (enum ns_word_role)plan->role[number],
                  .parties = plan->parties[number]};
    if (one->role == NS_WORD_BARRIER) return make_barrier(self, number, plan->worker_home);
    if (one->role == NS_WORD_CONDITION) {
        one->is.condition.sleepers = EMPTY;
    } else {
        const ns_event grant = {.actor = number, .fire = on_grant, .context = self};
        one->is.server = (server){.grant = grant, .waiting = EMPTY, .next = NS_NOBODY, .holder = NS_NOBODY};
    }
    return true;
}

static bool make_words(ns_words *self, const columns *plan) {
    const size_t workers = self->transfers->workers;
    self->words = calloc((size_t)self->count + 1, sizeof *self->words);
    self->waiters = calloc(workers + 1, sizeof *self->waiters);
    self->line_up = calloc(workers + 1, sizeof *self->line_up);
    self->leaders = calloc(workers, sizeof *self->leaders);
    bool made = self->words && self->waiters && self->line_up && self->leaders;
    for (uint32_t number = 0; made && number < self->count; number++) made = make_word(self, number, plan);
    return made;
}

int ns_words_create(ns_words **self, ns_field_reader *plan, const ns_transfers *transfers, ns_clock *clock,
                    ns_words_listener listener) {
    ns_words *made = malloc(sizeof *made);
    if (!made) return NS_ERROR_MEMORY;
    *made = (ns_words){.transfers = transfers, .clock = clock, .listener = listener};
    const columns read = read_columns(made, plan);
    read_rules(made, plan);
    const int error = plan->error ? plan->error : make_words(made, &read) ? NS_OK : NS_ERROR_MEMORY;
    if (error) {
        ns_words_destroy(made);
        return error;
    }
    *self = made;
    return NS_OK;
}

void ns_words_destroy(ns_words *self) {
    if (!self) return;
    for (uint32_t number = 0; self->words && number < self->count; number++) {
        if (self->words[number].role == NS_WORD_BARRIER) free(self->words[number].is.barrier.memory);
    }
    free(self->words);
    free(self->waiters);
    free(self->line_up);
    free(self->leaders);
    free(self);
}
