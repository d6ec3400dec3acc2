#include "threads/thread_words.h"

#include <stdlib.h>

#include "numasim/locks.h"
#include "platform/atomics.h"
#include "platform/near_memory.h"

/* What is written while the lock of the word is held. */
typedef struct {
    int64_t acquisitions, local, remote, wait_ps, hold_ps;
    uint64_t since;  /* ticks, when it was taken */
    uint32_t node;   /* that it was taken from last: the task of the holder may have moved on when it lets go */
    int64_t permits; /* of a condition */
} word_state;

typedef struct {
    NS_OWN_LINE enum ns_word_role role;
    uint32_t parties;
    ns_numa_lock *lock; /* of locks and conditions */
    ns_numa_condition *condition;
    ns_numa_barrier *barrier;
    NS_OWN_LINE word_state state;
    NS_OWN_LINE ns_atomic_u64 value; /* of an atomic counter; at a barrier of fewer than all workers, who has come */
    ns_atomic_u64 uses;              /* of an atomic counter */
} thread_word;

struct ns_thread_words {
    const ns_fields *plan;
    uint32_t workers, nodes, count;
    uint32_t *node;     /* [workers] */
    thread_word **word; /* [count] */
    ns_tick_rate rate;
};

/* ---- making ------------------------------------------------------------------------------------------------------ */

int ns_thread_words_create(ns_thread_words **made, const ns_fields *plan, uint32_t workers, const int32_t *node,
                           ns_tick_rate rate) {
    ns_thread_words *self = calloc(1, sizeof *self);
    uint32_t *nodes = calloc((size_t)workers + 1, sizeof *nodes);
    *made = self;
    if (!self || !nodes) {
        free(nodes);
        return NS_ERROR_MEMORY;
    }
    *self = (ns_thread_words){.plan = plan, .workers = workers, .nodes = 1, .node = nodes, .rate = rate};
    for (uint32_t worker = 0; worker < workers; worker++) {
        nodes[worker] = (uint32_t)node[worker];
        if (nodes[worker] >= self->nodes) self->nodes = nodes[worker] + 1;
    }
    return NS_OK;
}

static void destroy_word(thread_word *word) {
    if (!word) return;
    if (word->condition) ns_numa_condition_destroy(word->condition);
    if (word->barrier) ns_numa_barrier_destroy(word->barrier);
    if (word->lock) ns_numa_lock_destroy(word->lock);
    ns_near_memory_free(word, sizeof *word);
}

void ns_thread_words_destroy(ns_thread_words *self) {
    if (!self) return;
    for (uint32_t at = 0; at < self->count; at++) destroy_word(self->word[at]);
    free(self->word);
    free(self->node);
    free(self);
}

/* The text `name` of the plan; NULL, for what is usual, where there is none. */
static const char *kind_of(const ns_thread_words *self, const char *name) {
    const char *kind = self->plan ? ns_fields_text(self->plan, name) : "";
    return *kind ? kind : NULL;
}

static int64_t integer_of(const ns_thread_words *self, const char *name, int64_t otherwise) {
    return self->plan ? ns_fields_integer(self->plan, name, otherwise) : otherwise;
}

/* The node of word number `at`: the plan's, or else that of the worker for which it is kept. */
static int32_t home_of(const ns_thread_words *self, uint32_t at, const ns_word *described) {
    uint64_t count = 0;
    const int32_t *home = self->plan ? ns_fields_array(self->plan, "word_home", NS_FIELD_I32, &count) : NULL;
    return home && at < count ? home[at] : (int32_t)self->node[described->owner % self->workers];
}

static int make_lock(const ns_thread_words *self, thread_word *word, int32_t home) {
    enum { REST_PS = 20000 }; /* about what a rest of the processor takes */
    const int64_t batch = integer_of(self, "lock_batch", 0), spins = integer_of(self, "spin_ps", 0) / REST_PS;
    const ns_numa_lock_options options = {
        .kind = kind_of(self, "lock_kind"),
        .nodes = self->nodes,
        .home = home,
        .batch = batch < UINT32_MAX ? (uint32_t)batch : UINT32_MAX,
        .spins = spins < UINT32_MAX ? (uint32_t)spins : UINT32_MAX,
    };
    return ns_numa_lock_create(&word->lock, &options);
}

static int make_barrier(const ns_thread_words *self, thread_word *word, int32_t home) {
    const ns_numa_barrier_options options = {
        .kind = kind_of(self, "barrier_kind"),
        .parties = word->parties,
        .party_node = word->parties == self->workers ? self->node : NULL,
        .home = home,
    };
    return ns_numa_barrier_create(&word->barrier, &options);
}

static int make_condition(const ns_thread_words *self, thread_word *word, int32_t home) {
    const int error = make_lock(self, word, home);
    if (error) return error;
    return ns_numa_condition_create(&word->condition, &(ns_numa_condition_options){.nodes = self->nodes, .home = home});
}

static int make_word(const ns_thread_words *self, thread_word **made, const ns_word *described) {
    const int32_t home = home_of(self, self->count, described);
    thread_word *word = ns_near_memory_allocate(sizeof *word, home);
    if (!word) return NS_ERROR_MEMORY;
    *made = word;
    *word = (thread_word){.role = described->role, .parties = described->parties};
    ns_atomic_u64_store(&word->value, (uint64_t)described->value, memory_order_relaxed); /* relaxed: nobody runs */
    switch (described->role) {
        case NS_WORD_LOCK: return make_lock(self, word, home);
        case NS_WORD_CONDITION: return make_condition(self, word, home);
        case NS_WORD_BARRIER:
            ns_atomic_u64_store(&word->value, 0, memory_order_relaxed); /* relaxed: nobody runs */
            return make_barrier(self, word, home);
        default: return NS_OK;
    }
}

int ns_thread_words_add(ns_thread_words *self, const ns_word *words, uint32_t count) {
    if (count <= self->count) return NS_OK;
    thread_word **grown = realloc(self->word, count * sizeof *grown);
    if (!grown) return NS_ERROR_MEMORY;
    self->word = grown;
    int error = NS_OK;
    while (!error && self->count < count) {
        self->word[self->count] = NULL;
        error = make_word(self, &self->word[self->count], &words[self->count]);
        self->count++;
    }
    return error;
}

/* ---- using ------------------------------------------------------------------------------------------------------- */

/* The time since `came` goes to a counter. */
static void count_since(const ns_thread_words *self, uint64_t came, int64_t *counter) {
#if NUMASIM_COUNTERS
    *counter += ns_ticks_to_ps(self->rate, ns_ticks() - came);
#else
    (void)self, (void)came, (void)counter;
#endif
}

void ns_thread_words_lock(ns_thread_words *self, uint32_t word, ns_word_user user) {
    thread_word *w = self->word[word];
    word_state *state = &w->state;
#if NUMASIM_COUNTERS
    const uint64_t asked = ns_ticks();
    ns_numa_lock_acquire(w->lock, user.node);
    state->since = ns_ticks();
    state->wait_ps += ns_ticks_to_ps(self->rate, state->since - asked);
    if (state->acquisitions++) {
        state->local += state->node == user.node;
        state->remote += state->node != user.node;
    }
#else
    ns_numa_lock_acquire(w->lock, user.node);
#endif
    state->node = user.node;
}

void ns_thread_words_unlock(ns_thread_words *self, uint32_t word, ns_word_user user) {
    thread_word *w = self->word[word];
    (void)user;
#if NUMASIM_COUNTERS
    w->state.hold_ps += ns_ticks_to_ps(self->rate, ns_ticks() - w->state.since);
#endif
    ns_numa_lock_release(w->lock, w->state.node);
}

int64_t ns_thread_words_fetch_add(ns_thread_words *self, uint32_t word, int64_t value, ns_word_user user) {
    thread_word *w = self->word[word];
    (void)user;
#if NUMASIM_COUNTERS
    ns_atomic_u64_fetch_add(&w->uses, 1, memory_order_relaxed); /* relaxed: a count */
#endif
    /* acq_rel: programs may hand over data by counting */
    return (int64_t)ns_atomic_u64_fetch_add(&w->value, (uint64_t)value, memory_order_acq_rel);
}

void ns_thread_words_arrive(ns_thread_words *self, uint32_t word, ns_word_user user) {
    thread_word *w = self->word[word];
    const uint64_t came = ns_ticks();
    uint32_t party = user.worker;
    if (w->parties != self->workers) { /* parties are numbered as they come */
        const uint64_t before = ns_atomic_u64_fetch_add(&w->value, 1, memory_order_relaxed); /* relaxed: a number */
        party = (uint32_t)(before % w->parties);
    }
    ns_numa_barrier_arrive(w->barrier, party);
    count_since(self, came, user.barrier_ps);
}

void ns_thread_words_await(ns_thread_words *self, uint32_t word, ns_word_user user) {
    thread_word *w = self->word[word];
    const uint64_t came = ns_ticks();
    ns_numa_lock_acquire(w->lock, user.node);
    while (w->state.permits == 0) ns_numa_condition_wait(w->condition, w->lock, user.node);
    w->state.permits--;
    w->state.acquisitions += NUMASIM_COUNTERS;
    ns_numa_lock_release(w->lock, user.node);
    count_since(self, came, user.parked_ps);
}

void ns_thread_words_signal(ns_thread_words *self, uint32_t word, uint32_t permits, ns_word_user user) {
    thread_word *w = self->word[word];
    ns_numa_lock_acquire(w->lock, user.node);
    w->state.permits += permits;
    ns_numa_lock_release(w->lock, user.node);
    for (uint32_t at = 0; at < permits; at++) ns_numa_condition_signal(w->condition, user.node);
}

void ns_thread_words_report(const ns_thread_words *self, ns_report *report) {
    enum { COUNTS = 5 };
    for (uint32_t at = 0; at < self->count && at < report->word_count; at++) {
        const word_state *state = &self->word[at]->state;
        int64_t *row = report->words + (size_t)at * COUNTS;
        row[0] = state->acquisitions + (int64_t)ns_atomic_u64_load(&self->word[at]->uses, memory_order_relaxed);
        row[1] = state->local; /* relaxed: nobody runs */
        row[2] = state->remote;
        row[3] = state->wait_ps;
        row[4] = state->hold_ps;
    }
}
