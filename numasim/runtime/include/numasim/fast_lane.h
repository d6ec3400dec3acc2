/* What numasim/runtime.h has inline: spawns, joins and calls of workers whose strategy makes a spawn a push to their
 * own lane and a join a series of pops from it. Everything else goes through calls into the library.
 *
 * A lane is a stack of tasks, each in a slot with its arguments (Faxen, "Wool", 2008; van Dijk and van de Pol, "Lace:
 * non-blocking split deque for work-stealing", 2014). The children of a task are what lies above the top that the task
 * found when it began: nobody counts them, and none knows its parent.
 *
 * Programs use nothing of this by name. The structs are those of the library, laid open; source/lane.h says how the
 * lane works, and source/thread_lane.h what becomes of tasks that do not go the fast way.
 */
#ifndef NUMASIM_FAST_LANE_H
#define NUMASIM_FAST_LANE_H

#include <string.h>

#include "numasim/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ns_operations ns_operations;
typedef struct ns_worker ns_worker;

/* What a body is given to call the runtime with; the tasks that a join pops have that of the task that joins. */
struct ns_task {
    const ns_operations *operations;
    ns_worker *worker; /* that runs it now */
    void *mark;        /* the top of that worker's lane when the running task began; NULL: it has no lane */
};

/* A 64-bit word that the library takes for an atomic one. */
#ifdef __GNUC__
typedef uint64_t __attribute__((may_alias)) ns_lane_word;
#else
typedef uint64_t ns_lane_word;
#endif

enum { NS_INLINED_BYTES = 48 };

/* A task in a lane. */
typedef struct {
    ns_lane_word state; /* bytes of its arguments; once a thief has ended it, NS_LANE_ENDED */
    ns_body *body;
    char arguments[NS_INLINED_BYTES];
} ns_lane_slot;

/* The part of a lane that its owner works with; addresses of slots. All zero where there is no lane, so that all comes
 * to a limit. */
typedef struct {
    ns_lane_word top;        /* the first free slot */
    ns_lane_word push_limit; /* from here on a push has to look up: the lane is full, or thieves ask */
    ns_lane_word pop_limit;  /* and up to here a pop: what is below is no longer the owner's alone, or thieves ask */
} ns_lane_owned;

struct ns_worker {
    ns_pool *pool;
    uint32_t id;
    int32_t node; /* of the plan's machine */
    ns_lane_owned lane;
    int64_t tasks; /* that have ended here */
};

void ns_spawn_slowly(ns_task *self, ns_body *body, const void *arguments, size_t bytes);
void ns_join_slowly(ns_task *self);
void ns_call_slowly(ns_task *self, ns_body *body, void *arguments);

#ifdef __GNUC__

/* Orders of these accesses: as in source/lane.h, where they are explained. */
#define NS_LANE_LOAD(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define NS_LANE_STORE(word, value) __atomic_store_n(&(word), value, __ATOMIC_RELAXED)
#define NS_LANE_RARE(condition) __builtin_expect(!!(condition), 0)

#define NS_LANE_INLINE static inline __attribute__((always_inline))

/* Whether arguments are copied word by word: the compiler then keeps them in registers up to the slot. They have mostly
 * just been written so, too, and a wider load would have to wait until they have reached the cache. */
#define NS_LANE_IS_WORDS(bytes) (__builtin_constant_p(bytes) && (bytes) % 8 == 0 && (bytes) <= NS_INLINED_BYTES)

#define NS_LANE_COPY_WORD(at) \
    if (bytes > 8 * (at)) memcpy((char *)to + 8 * (at), (const char *)from + 8 * (at), 8);

NS_LANE_INLINE void ns_lane_copy(void *to, const void *from, size_t bytes) {
    if (!NS_LANE_IS_WORDS(bytes)) {
        memcpy(to, from, bytes);
        return;
    }
    NS_LANE_COPY_WORD(0)
    NS_LANE_COPY_WORD(1)
    NS_LANE_COPY_WORD(2)
    NS_LANE_COPY_WORD(3)
    NS_LANE_COPY_WORD(4)
    NS_LANE_COPY_WORD(5)
}

/* Push a task; false where the worker has to look up first. */
NS_LANE_INLINE int ns_lane_push_fast(ns_worker *worker, ns_body *body, const void *arguments, size_t bytes) {
    const uint64_t top = NS_LANE_LOAD(worker->lane.top);
    if (NS_LANE_RARE(top >= NS_LANE_LOAD(worker->lane.push_limit))) return 0;
    ns_lane_slot *slot = (ns_lane_slot *)(uintptr_t)top;
    NS_LANE_STORE(slot->state, bytes);
    slot->body = body;
    ns_lane_copy(slot->arguments, arguments, bytes);
    NS_LANE_STORE(worker->lane.top, top + sizeof *slot);
    return 1;
}

NS_LANE_INLINE void ns_spawn(ns_task *self, ns_body *body, const void *arguments, size_t bytes) {
    if (NS_LANE_IS_WORDS(bytes)) {
        /* Two copies, so that what `arguments` points to need not be in memory but for the second. */
        uint64_t words[NS_INLINED_BYTES / 8], spilled[NS_INLINED_BYTES / 8];
        ns_lane_copy(words, arguments, bytes);
        if (ns_lane_push_fast(self->worker, body, words, bytes)) return;
        ns_lane_copy(spilled, words, bytes);
        ns_spawn_slowly(self, body, spilled, bytes);
    } else if (bytes > NS_INLINED_BYTES || !ns_lane_push_fast(self->worker, body, arguments, bytes)) {
        ns_spawn_slowly(self, body, arguments, bytes);
    }
}

/* Execute the task that was just popped from `slot`: from a copy, for its children will be where it was. It is the one
 * that `self` stands for now. */
NS_LANE_INLINE void ns_lane_execute(ns_task *self, ns_lane_slot *slot) {
    char arguments[NS_INLINED_BYTES] __attribute__((aligned(16)));
    self->mark = slot;
    if (NS_LANE_RARE(NS_LANE_LOAD(slot->state) > 16))
        ns_lane_copy(arguments, slot->arguments, NS_INLINED_BYTES);
    else
        ns_lane_copy(arguments, slot->arguments, 16);
    slot->body(self, arguments);
    if (NS_LANE_RARE(NS_LANE_LOAD(self->worker->lane.top) != (uintptr_t)slot)) ns_join_slowly(self);
    self->worker->tasks++;
}

static inline void ns_join(ns_task *self) {
    void *const mark = self->mark;
    uint64_t top = NS_LANE_LOAD(self->worker->lane.top);
    for (;;) {
        if (NS_LANE_RARE(top <= NS_LANE_LOAD(self->worker->lane.pop_limit))) {
            ns_join_slowly(self);
            return;
        }
        if (top == (uintptr_t)mark) return;
        top -= sizeof(ns_lane_slot);
        NS_LANE_STORE(self->worker->lane.top, top);
        ns_lane_execute(self, (ns_lane_slot *)(uintptr_t)top);
        self->mark = mark;
    }
}

static inline void ns_call(ns_task *self, ns_body *body, void *arguments) {
    const uint64_t top = NS_LANE_LOAD(self->worker->lane.top);
    if (NS_LANE_RARE(!top)) {
        ns_call_slowly(self, body, arguments);
        return;
    }
    void *const mark = self->mark;
    self->mark = (void *)(uintptr_t)top;
    body(self, arguments);
    if (NS_LANE_RARE(NS_LANE_LOAD(self->worker->lane.top) != top)) ns_join_slowly(self);
    self->mark = mark;
}

#undef NS_LANE_COPY_WORD
#undef NS_LANE_IS_WORDS
#undef NS_LANE_INLINE
#undef NS_LANE_LOAD
#undef NS_LANE_STORE
#undef NS_LANE_RARE

#else

static inline void ns_spawn(ns_task *self, ns_body *body, const void *arguments, size_t bytes) {
    ns_spawn_slowly(self, body, arguments, bytes);
}
static inline void ns_join(ns_task *self) { ns_join_slowly(self); }
static inline void ns_call(ns_task *self, ns_body *body, void *arguments) { ns_call_slowly(self, body, arguments); }

#endif

#ifdef __cplusplus
}
#endif

#endif
