#include "explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/fiber.h"
#include "platform/waiting.h"

/* ---- visited states: for each a hash of 64 bits, and the processes whose steps were asleep (need no exploring) --- */

enum { STACK_WORDS = 256 };

typedef struct {
    uint64_t hash, asleep;
} seen_state;

/* A shared word on the stack of a thread. Its value is stored here, so that the value outlives the stack frame. */
typedef struct {
    const void *location;
    uint64_t value;
    uint32_t bytes;
} stack_word;

typedef struct {
    seen_state *table; /* [capacity], a power of two; a hash of 0 marks an unused place */
    uint64_t capacity, count;
    stack_word words[STACK_WORDS]; /* words that were written in this schedule */
    uint32_t word_count;
} states;

/* Return a mixture of all bits of a 64-bit number. The function is a bijection. */
static uint64_t mix(uint64_t value) {
    value = (value + UINT64_C(0x9E3779B97F4A7C15));
    value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
    return value ^ value >> 31;
}

enum { FIRST_CAPACITY = 1 << 16 };

static int states_create(states *of) {
    *of = (states){.capacity = FIRST_CAPACITY, .table = calloc(FIRST_CAPACITY, sizeof *of->table)};
    return of->table ? 0 : -1;
}

static void states_destroy(states *of) { free(of->table); }

/* Begin a new schedule: forget all words outside of the arena. */
static void states_restart(states *of) { of->word_count = 0; }

static uint32_t word_at(const states *of, const void *location, uint32_t bytes) {
    uint32_t at = 0;
    while (at < of->word_count && (of->words[at].location != location || of->words[at].bytes != bytes)) at++;
    return at;
}

static void states_write(states *of, const void *location, uint32_t bytes, uint64_t value) {
    const uint32_t at = word_at(of, location, bytes);
    if (at == STACK_WORDS) abort();
    if (at == of->word_count) of->word_count++;
    of->words[at] = (stack_word){location, value, bytes};
}

/* Return the value of a word outside of the arena: 0 before the first write. */
static uint64_t states_read(const states *of, const void *location, uint32_t bytes) {
    const uint32_t at = word_at(of, location, bytes);
    return at < of->word_count ? of->words[at].value : 0;
}

/* Forget the words outside of the arena in [first, end). */
static void states_drop(states *of, const void *first, const void *end) {
    uint32_t kept = 0;
    for (uint32_t at = 0; at < of->word_count; at++) {
        const uintptr_t location = (uintptr_t)of->words[at].location;
        if (location < (uintptr_t)first || location >= (uintptr_t)end) of->words[kept++] = of->words[at];
    }
    of->word_count = kept;
}

/* Return a hash of the arena and of the words on stacks. */
static uint64_t states_memory(const states *of) {
    size_t count;
    const uint64_t *words = ns_arena_words(&count);
    uint64_t hash = 0, others = 0;
    for (size_t at = 0; at < count; at++) {
        hash = (hash ^ words[at]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    for (uint32_t at = 0; at < of->word_count; at++) { /* the order does not matter for the hash */
        const stack_word *word = &of->words[at];
        others += mix(mix((uintptr_t)word->location) ^ word->value);
    }
    return mix(hash) ^ others;
}

static seen_state *place(const states *of, uint64_t hash) {
    uint64_t at = hash & (of->capacity - 1);
    while (of->table[at].hash && of->table[at].hash != hash) at = (at + 1) & (of->capacity - 1);
    return &of->table[at];
}

static void grow(states *of) {
    const states old = *of;
    of->capacity *= 2;
    of->table = calloc(of->capacity, sizeof *of->table);
    if (!of->table) abort();
    for (uint64_t at = 0; at < old.capacity; at++)
        if (old.table[at].hash) *place(of, old.table[at].hash) = old.table[at];
    free(old.table);
}

/* Return whether the state was visited before. Set `before` to the processes that were asleep in all earlier visits.
 * From now on, of these only the processes in `asleep` count as asleep in this state. */
static bool states_visit(states *of, uint64_t hash, uint64_t asleep, uint64_t *before) {
    hash += !hash;
    seen_state *seen = place(of, hash);
    if (seen->hash) {
        *before = seen->asleep;
        seen->asleep &= asleep;
        return true;
    }
    *seen = (seen_state){hash, asleep};
    if (++of->count * 2 > of->capacity) grow(of);
    return false;
}

/* ---- steps, threads and the path --------------------------------------------------------------------------------- */

enum {
    STORES = 12,
    MOST_PENDING = 3,
    STEPS = 4096,
    READS = 16,
    STACK_BYTES = 1 << 16,
    PROCESSES = NS_EXPLORE_THREADS * (1 + STORES)
};

enum action { ACCESS, SLEEP, WAKE, RESUME };

/* The next step of a thread. */
typedef struct {
    enum action action;
    enum ns_explored kind;
    memory_order order;
    uint32_t bytes;
    void *location;
    uint64_t value, expected;
} step;

typedef struct {
    void *location;
    uint64_t value;
    uint32_t bytes;
} glimpse;

typedef struct {
    ns_fiber *fiber;
    step next;
    uint64_t result, history;
    bool finished, rests, asleep, woken;
    uint64_t slept;       /* the thread's number in the order in which threads went to sleep */
    glimpse reads[READS]; /* the values read since the thread's last rest */
    uint32_t read_count;
    step stores[STORES]; /* the latest stores: store number n of the thread is at place n % STORES */
    uint64_t stored;     /* number of stores so far */
    uint32_t pending;    /* set, as bits, of the places in `stores` whose stores have not reached memory */
    const void *arrives; /* the location of the thread's next arrival */
} thread;

/* A state on the path. Processes are the threads, followed by the stores that have not reached memory. */
typedef struct {
    uint64_t todo, asleep;
    uint32_t chosen;
    step done; /* the step of process `chosen`, for the report */
    uint64_t result;
} frame;

typedef struct {
    const ns_explore_case *of;
    enum ns_explore_memory memory;
    ns_explore_result *result;
    ns_fiber *scheduler;
    thread threads[NS_EXPLORE_THREADS];
    uint32_t current; /* the running thread; of->threads: none */
    uint32_t arrivals[NS_EXPLORE_THREADS], arrived;
    uint64_t sleeps;
    frame path[STEPS];
    uint32_t depth;
    states states;
} explorer;

static explorer self; /* a global variable, since an atomic access does not name its explorer */

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static uint64_t read_memory(const void *location, uint32_t bytes) {
    if (!ns_arena_holds(location)) return states_read(&self.states, location, bytes);
    uint64_t value = 0;
    memcpy(&value, location, bytes); /* little-endian */
    return value;
}

static void write_memory(void *location, uint32_t bytes, uint64_t value) {
    if (ns_arena_holds(location))
        memcpy(location, &value, bytes);
    else
        states_write(&self.states, location, bytes, value);
}

static bool overlap(const step *one, const step *other) {
    const char *a = one->location, *b = other->location;
    return a < b + other->bytes && b < a + one->bytes;
}

static uint64_t after(const step *access, uint64_t found) {
    const uint64_t mask = access->bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * access->bytes) - 1;
    switch (access->kind) {
        case NS_EXPLORED_LOAD: return found;
        case NS_EXPLORED_ADD: return (found + access->value) & mask;
        case NS_EXPLORED_COMPARE: return found == access->expected ? access->value : found;
        default: return access->value;
    }
}

static uint64_t execute(const step *access) {
    const uint64_t found = read_memory(access->location, access->bytes);
    if (access->kind != NS_EXPLORED_LOAD) write_memory(access->location, access->bytes, after(access, found));
    return found;
}

static bool releases(memory_order order) {
    return order == memory_order_release || order == memory_order_acq_rel || order == memory_order_seq_cst;
}

/* ---- stores that have not reached memory ------------------------------------------------------------------------- */

/* Return the age of the store at `place`: 0 for the thread's last store. */
static uint64_t age(const thread *of, uint32_t place) { return (of->stored - 1 - place) % STORES; }

/* Return the thread's last store to the word of `access`, if it has not reached memory; otherwise NULL. */
static const step *own_store(const thread *of, const step *access) {
    const step *found = NULL;
    for (uint32_t place = 0; place < STORES; place++) {
        const step *store = &of->stores[place];
        if (!(of->pending >> place & 1) || !overlap(store, access)) continue;
        if (!found || age(of, place) < age(of, (uint32_t)(found - of->stores))) found = store;
    }
    return found;
}

/* Return whether the store at `place` may reach memory now. */
static bool may_arrive(const thread *of, uint32_t place) {
    const step *store = &of->stores[place];
    for (uint32_t other = 0; other < STORES; other++) {
        if (!(of->pending >> other & 1) || age(of, other) <= age(of, place)) continue;
        const bool ordered = self.memory == NS_EXPLORE_BUFFERED || releases(store->order);
        if (ordered || overlap(&of->stores[other], store)) return false;
    }
    return true;
}

static bool is_buffered(const step *access) {
    return self.memory != NS_EXPLORE_SEQUENTIAL && access->action == ACCESS && access->kind == NS_EXPLORED_STORE &&
           access->order != memory_order_seq_cst;
}

/* Return whether all stores of the thread for which its next step must wait have reached memory. */
static bool drained(const thread *of) {
    const step *next = &of->next;
    if (next->action == RESUME || (next->action == ACCESS && next->kind == NS_EXPLORED_LOAD)) return true;
    if (is_buffered(next)) /* the buffer has room for this store */
        return !(of->pending >> of->stored % STORES & 1) && __builtin_popcount(of->pending) < MOST_PENDING;
    if (self.memory == NS_EXPLORE_BUFFERED || next->action != ACCESS || releases(next->order)) return !of->pending;
    return !own_store(of, next);
}

static uint64_t visible(const thread *of, const step *access) {
    const step *store = own_store(of, access);
    return store ? store->value : read_memory(access->location, access->bytes);
}

/* ---- processes that can take a step ------------------------------------------------------------------------------ */

static bool has_news(const thread *of) {
    for (uint32_t at = 0; at < of->read_count; at++) {
        const glimpse *read = &of->reads[at];
        const step look = {.location = read->location, .bytes = read->bytes};
        if (visible(of, &look) != read->value) return true;
    }
    return false;
}

static bool thread_enabled(const thread *of) {
    if (of->finished || (of->asleep && !of->woken)) return false;
    return (!of->rests || has_news(of)) && drained(of);
}

static uint64_t bit(uint32_t process) { return UINT64_C(1) << process; }

static uint32_t store_process(uint32_t of, uint32_t place) { return NS_EXPLORE_THREADS + of * STORES + place; }
static uint32_t thread_of(uint32_t process) {
    return process < NS_EXPLORE_THREADS ? process : (process - NS_EXPLORE_THREADS) / STORES;
}

static const step *step_of(uint32_t process) {
    const thread *of = &self.threads[thread_of(process)];
    return process < NS_EXPLORE_THREADS ? &of->next : &of->stores[(process - NS_EXPLORE_THREADS) % STORES];
}

static uint64_t enabled(void) {
    uint64_t found = 0;
    for (uint32_t id = 0; id < self.of->threads; id++) {
        const thread *of = &self.threads[id];
        if (thread_enabled(of)) found |= bit(id);
        for (uint32_t place = 0; place < STORES; place++)
            if (of->pending >> place & 1 && may_arrive(of, place)) found |= bit(store_process(id, place));
    }
    return found;
}

/* Return whether the next step of the process may write memory. */
static bool writes(uint32_t process) {
    const step *next = step_of(process);
    if (process >= NS_EXPLORE_THREADS) return true;
    return next->action == SLEEP || next->action == WAKE || (next->kind != NS_EXPLORED_LOAD && !is_buffered(next));
}

static bool reads_word(uint32_t process, const step *word) {
    if (process >= NS_EXPLORE_THREADS) return false;
    const thread *of = &self.threads[process];
    for (uint32_t at = 0; of->rests && at < of->read_count; at++) {
        const step look = {.location = of->reads[at].location, .bytes = of->reads[at].bytes};
        if (overlap(&look, word)) return true;
    }
    return false;
}

/* Return whether the order of the next steps of two processes can matter. */
static bool depend(uint32_t one, uint32_t other) {
    const step *first = step_of(one), *second = step_of(other);
    if (thread_of(one) == thread_of(other) && one < NS_EXPLORE_THREADS && other < NS_EXPLORE_THREADS) return true;
    if (first->action == RESUME || second->action == RESUME) return false;
    if (thread_of(one) == thread_of(other)) return overlap(first, second);
    const bool first_writes = writes(one), second_writes = writes(other);
    if (first_writes && reads_word(other, first)) return true;
    if (second_writes && reads_word(one, second)) return true;
    return (first_writes || second_writes) && overlap(first, second) &&
           !(one < NS_EXPLORE_THREADS && is_buffered(first)) && !(other < NS_EXPLORE_THREADS && is_buffered(second));
}

/* ---- taking steps ------------------------------------------------------------------------------------------------ */

/* Store the value that the thread has read. It replaces the thread's last value of this word, or the oldest value. */
static void remember(thread *of, const step *access, uint64_t value) {
    uint32_t at = 0;
    while (at < of->read_count && of->reads[at].location != access->location) at++;
    if (at == READS)
        at = 0;
    else if (at == of->read_count)
        of->read_count++;
    memmove(&of->reads[at], &of->reads[at + 1], (of->read_count - 1 - at) * sizeof *of->reads);
    of->reads[of->read_count - 1] = (glimpse){access->location, value, access->bytes};
}

static void note_arrival(uint32_t id, const step *access, uint64_t found) {
    thread *of = &self.threads[id];
    const bool changes =
        access->kind == NS_EXPLORED_COMPARE ? found == access->expected : access->kind >= NS_EXPLORED_EXCHANGE;
    if (of->arrives != access->location || !changes) return;
    of->arrives = NULL;
    self.arrivals[self.arrived++] = id;
}

static uint64_t execute_access(uint32_t id) {
    thread *of = &self.threads[id];
    const step *next = &of->next;
    if (is_buffered(next)) {
        const uint32_t place = (uint32_t)(of->stored++ % STORES);
        of->stores[place] = *next;
        of->pending |= 1u << place;
        return 0;
    }
    if (next->kind == NS_EXPLORED_LOAD) {
        const uint64_t found = visible(of, next);
        remember(of, next, found);
        return found;
    }
    const uint64_t found = execute(next);
    note_arrival(id, next, found);
    if (next->kind != NS_EXPLORED_STORE) remember(of, next, after(next, found));
    return found;
}

static void wake_sleepers(const step *wake) {
    for (uint64_t left = wake->value; left; left--) {
        thread *first = NULL;
        for (uint32_t id = 0; id < self.of->threads; id++) {
            thread *each = &self.threads[id];
            if (!each->asleep || each->woken || each->next.location != wake->location) continue;
            if (!first || each->slept < first->slept) first = each;
        }
        if (!first) return;
        first->woken = true;
        first->next.action = RESUME;
    }
}

/* Let the thread run until its next step. */
static void resume(uint32_t id) {
    self.current = id;
    ns_fiber_switch(self.scheduler, self.threads[id].fiber);
    self.current = self.of->threads;
}

static void execute_thread(uint32_t id) {
    thread *of = &self.threads[id];
    uint64_t result = 0;
    if (of->rests) of->rests = false, of->read_count = 0;
    switch (of->next.action) {
        case ACCESS: result = execute_access(id); break;
        case SLEEP:
            if (read_memory(of->next.location, of->next.bytes) != of->next.value) break;
            of->asleep = true;
            of->slept = ++self.sleeps;
            self.path[self.depth].result = 1;
            return;
        case WAKE: wake_sleepers(&of->next); break;
        case RESUME: of->asleep = of->woken = false; break;
    }
    self.path[self.depth].result = result;
    of->result = result;
    of->history = mix(of->history ^ result);
    resume(id);
}

static void go_on(uint32_t process) {
    frame *at = &self.path[self.depth];
    at->chosen = process;
    at->done = *step_of(process);
    at->result = 0;
    if (process < NS_EXPLORE_THREADS) {
        execute_thread(process);
    } else {
        execute(&at->done);
        self.threads[thread_of(process)].pending &= ~(1u << (process - NS_EXPLORE_THREADS) % STORES);
    }
    self.depth++;
    self.result->steps++;
}

/* ---- functions that the library's sources call ------------------------------------------------------------------- */

static uint64_t request(const step *asked) {
    if (self.current == self.of->threads) return execute(asked); /* no thread runs: set-up or check of a case */
    thread *of = &self.threads[self.current];
    of->next = *asked;
    ns_fiber_switch(of->fiber, self.scheduler);
    return of->result;
}

uint64_t ns_explored_access(enum ns_explored kind, void *location, uint32_t bytes, uint64_t value, uint64_t expected,
                            memory_order order) {
    const step asked = {ACCESS, kind, order, bytes, location, value, expected};
    return request(&asked);
}

void ns_explored_pause(void) { self.threads[self.current].rests = true; }

void ns_explored_sleep(ns_atomic_u32 *word, uint32_t value) {
    request(&(step){.action = SLEEP, .bytes = 4, .location = word, .value = value});
}

void ns_explored_wake(ns_atomic_u32 *word, uint32_t count) {
    request(&(step){.action = WAKE, .bytes = 4, .location = word, .value = count});
}

/* Return a hash for the history of a thread after ns_explore_forget: only `place` counts. */
static uint64_t history_of(uint32_t id, uint32_t place) { return mix((uint64_t)(id + 1) << 32 | place); }

/* ---- functions that cases call ----------------------------------------------------------------------------------- */

void ns_explore_require(bool holds, const char *sentence) {
    if (holds || self.result->violated) return;
    self.result->violated = true;
    snprintf(self.result->sentence, sizeof self.result->sentence, "%s", sentence);
    if (self.current != self.of->threads) ns_fiber_switch(self.threads[self.current].fiber, self.scheduler);
}

void ns_explore_forget(uint32_t place) {
    thread *of = &self.threads[self.current];
    const char top = 0; /* its address is below the caller's part of the stack */
    of->history = history_of(self.current, 1 + place);
    of->read_count = 0;
    states_drop(&self.states, (const void *)((uintptr_t)&top - STACK_BYTES), &top);
}

void ns_explore_arriving(const void *location) { self.threads[self.current].arrives = location; }

static uint32_t place_of_current(void) {
    uint32_t place = 0;
    while (place < self.arrived && self.arrivals[place] != self.current) place++;
    return place;
}

uint32_t ns_explore_ahead(void) { return place_of_current(); }

uint32_t ns_explore_waiting(void) { return self.arrived; }

void ns_explore_granted(void) {
    const uint32_t place = place_of_current();
    if (place == self.arrived) return;
    self.arrived--;
    memmove(&self.arrivals[place], &self.arrivals[place + 1], (self.arrived - place) * sizeof *self.arrivals);
}

/* ---- schedules --------------------------------------------------------------------------------------------------- */

static void run_thread(void *argument) {
    thread *of = argument;
    const uint32_t id = (uint32_t)(of - self.threads);
    self.of->thread(id);
    of->finished = true;
    ns_fiber_switch(of->fiber, self.scheduler);
}

/* Go to the first state, in which each thread is before its first step. */
static void begin(void) {
    ns_arena_clear();
    states_restart(&self.states);
    self.arrived = 0;
    self.sleeps = 0;
    self.depth = 0;
    self.current = self.of->threads;
    self.of->set_up();
    for (uint32_t id = 0; id < self.of->threads; id++) {
        thread *of = &self.threads[id];
        *of = (thread){.fiber = of->fiber, .history = history_of(id, 0)};
        ns_fiber_reuse(of->fiber, run_thread, of);
        resume(id);
    }
}

/* Return a hash of the place of the thread and of its stores that have not reached memory. */
static uint64_t state_of(const thread *of) {
    uint64_t ahead = 0; /* number of threads that went to sleep before this one */
    for (uint32_t other = 0; of->asleep && other < self.of->threads; other++)
        ahead += self.threads[other].asleep && self.threads[other].slept < of->slept;
    const uint64_t flags = (uint64_t)of->finished | (uint64_t)of->asleep << 1 | (uint64_t)of->woken << 2 | ahead << 3;
    uint64_t hash = mix(of->history ^ flags << 56);
    hash = mix(hash ^ (of->stored % STORES | (uint64_t)of->pending << 8));
    hash = mix(hash ^ (uintptr_t)of->arrives);
    for (uint32_t place = 0; place < STORES; place++) {
        const step *store = &of->stores[place];
        if (!(of->pending >> place & 1)) continue;
        hash = mix(hash ^ (uintptr_t)store->location);
        hash = mix(hash ^ store->value ^ (uint64_t)store->order << 60);
    }
    return hash;
}

static uint64_t state(void) {
    uint64_t hash = states_memory(&self.states);
    for (uint32_t id = 0; id < self.of->threads; id++) hash = mix(hash ^ state_of(&self.threads[id]));
    for (uint32_t at = 0; at < self.arrived; at++) hash = mix(hash ^ (self.arrivals[at] + 1));
    return hash;
}

static bool all_finished(void) {
    bool finished = true;
    for (uint32_t id = 0; id < self.of->threads; id++)
        finished &= self.threads[id].finished && !self.threads[id].pending;
    return finished;
}

/* Find the possible steps in the last state of the path. The processes in `asleep` are asleep in this state. */
static void open_frame(uint64_t asleep) {
    frame *at = &self.path[self.depth];
    const uint64_t possible = enabled();
    *at = (frame){.todo = 0, .asleep = asleep};
    if (all_finished()) {
        self.result->schedules++;
        if (self.of->check) self.of->check();
        return;
    }
    ns_explore_require(possible, "nobody can go on, and not all have ended");
    ns_explore_require(self.depth + 1 < STEPS, "a schedule has too many steps: does a loop wait without a rest?");
    if (self.result->violated) return;
    uint64_t before;
    if (states_visit(&self.states, state(), asleep, &before)) {
        at->todo = possible & before & ~asleep;
        at->asleep = asleep & before;
    } else {
        self.result->states++;
        at->todo = possible & ~asleep;
    }
    if (!at->todo) self.result->left++;
}

/* In the last state of the path, take a step that was not yet taken. */
static void descend(void) {
    frame *at = &self.path[self.depth];
    const uint32_t process = (uint32_t)__builtin_ctzll(at->todo);
    uint64_t asleep = 0;
    for (uint32_t other = 0; other < PROCESSES; other++)
        if (at->asleep >> other & 1 && !depend(process, other)) asleep |= bit(other);
    at->todo &= ~bit(process);
    at->asleep |= bit(process);
    go_on(process);
    if (self.depth > self.result->longest) self.result->longest = self.depth;
    if (!self.result->violated) open_frame(asleep);
}

/* Go back to the last state of the path with steps that were not yet taken. Return false if there is none. */
static bool back_up(void) {
    uint32_t length = self.depth + 1;
    while (length && !self.path[length - 1].todo) length--;
    if (!length) return false;
    begin();
    while (self.depth + 1 < length) go_on(self.path[self.depth].chosen);
    return true;
}

/* ---- reports ----------------------------------------------------------------------------------------------------- */

static void print_step(const frame *at) {
    static const char *const KIND[] = {"load", "store", "exchange", "compare", "add"};
    static const char *const ACTION[] = {"", "sleep", "wake", "go on"};
    const step *done = &at->done;
    char place[40];
    ns_arena_describe(done->location, place, sizeof place);
    const char *what = done->action == ACCESS ? KIND[done->kind] : ACTION[done->action];
    if (at->chosen >= NS_EXPLORE_THREADS)
        printf("    thread %u: store of %llx at %s is seen\n", thread_of(at->chosen), (unsigned long long)done->value,
               place);
    else
        printf("    thread %u: %s %llx at %s, finds %llx\n", at->chosen, what, (unsigned long long)done->value, place,
               (unsigned long long)at->result);
}

void ns_explore_run(const ns_explore_case *of, enum ns_explore_memory memory, ns_explore_result *result) {
    *result = (ns_explore_result){0};
    self = (explorer){.of = of, .memory = memory, .result = result};
    if (ns_fiber_adopt(&self.scheduler) || states_create(&self.states)) abort();
    for (uint32_t id = 0; id < of->threads; id++)
        if (ns_fiber_create(&self.threads[id].fiber, STACK_BYTES, run_thread, &self.threads[id])) abort();
    begin();
    open_frame(0);
    while (!result->violated) {
        if (self.path[self.depth].todo)
            descend();
        else if (!back_up())
            break;
    }
    ns_explore_require(result->schedules, "no schedule comes to its end");
    for (uint32_t at = 0; result->violated && at < self.depth; at++) print_step(&self.path[at]);
    for (uint32_t id = 0; id < of->threads; id++) ns_fiber_destroy(self.threads[id].fiber);
    ns_fiber_destroy(self.scheduler);
    states_destroy(&self.states);
}
