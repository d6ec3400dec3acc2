/* What numasim/runtime.h has inline: spawns, joins and calls of workers whose strategy makes a spawn a push to their
 * own deque and a join a series of pops from it. Everything else goes through calls into the library.
 *
 * Programs use nothing of this by name. The structs are those of the library, laid open; source/deque.h says how the
 * deque works, and source/thread_tasks.h what becomes of a record.
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

struct ns_task {
    const ns_operations *operations;
    ns_worker *worker; /* that runs it now */
};

enum { NS_INLINED_BYTES = 48 };

/* The record of a task. Most are on the stack of records of the worker that spawned them, and are gone when their
 * parent has joined; the parent of any other has its lowest bit set. */
typedef struct ns_lane_task ns_lane_task;
struct ns_lane_task {
    ns_task base;
    ns_body *body;
    ns_lane_task *parent;
    ns_lane_task *mark; /* the top of its worker's stack of records when it began */
    uint32_t pending;   /* children that were spawned and have not ended on the same worker */
    uint32_t returned;  /* atomic: those of them that have ended elsewhere */
    char inlined[NS_INLINED_BYTES];
    ns_worker *home; /* whose record it is, if it is on no stack */
    void *fiber;     /* NULL, or where the task goes on */
    char pad[16];    /* to whole cache lines */
};

/* A 64-bit word that the library takes for an atomic one. */
#ifdef __GNUC__
typedef uint64_t __attribute__((may_alias)) ns_lane_word;
typedef void *__attribute__((may_alias)) ns_lane_slot;
#else
typedef uint64_t ns_lane_word;
typedef void *ns_lane_slot;
#endif

/* The part of a deque that its owner uses. */
typedef struct {
    ns_lane_word bottom, push_limit, pop_limit;
    ns_lane_slot *slots;
    ns_lane_word mask;
} ns_lane_deque;

struct ns_worker {
    ns_pool *pool;
    uint32_t id;
    int32_t node; /* of the plan's machine */
    /* All zero but where tasks can go the fast way. */
    ns_lane_deque *deque;
    ns_lane_task *top, *end; /* of the stack of records: the next one, and the first one behind all */
    int64_t tasks;           /* that have ended here */
};

void ns_spawn_slowly(ns_task *self, ns_body *body, const void *arguments, size_t bytes);
void ns_join_slowly(ns_task *self);
void ns_call_slowly(ns_task *self, ns_body *body, void *arguments);

/* Execute a task that is not a child of the one which found it, or whose record is on no stack. */
void ns_lane_execute_other(ns_worker *worker, ns_lane_task *task);
/* Join children that are left. */
void ns_lane_join_rest(ns_lane_task *task);

#ifdef __GNUC__

/* Orders of these accesses: as in source/deque.h and source/thread_tasks.h, where they are explained. */
#define NS_LANE_LOAD(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define NS_LANE_STORE(word, value) __atomic_store_n(&(word), value, __ATOMIC_RELAXED)
#define NS_LANE_RARE(condition) __builtin_expect(!!(condition), 0)

#define NS_LANE_COPY_WORD(at)                            \
    if (bytes > 8 * (at)) {                              \
        uint64_t word;                                   \
        memcpy(&word, (const char *)from + 8 * (at), 8); \
        memcpy((char *)to + 8 * (at), &word, 8);         \
    }

/* Copy arguments. Word by word where they are whole words: they have just been written so, and a wider load would have
 * to wait until they have reached the cache. */
static inline void ns_lane_copy(void *to, const void *from, size_t bytes) {
    if (!__builtin_constant_p(bytes) || bytes % 8 != 0) {
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

static inline void ns_spawn(ns_task *self, ns_body *body, const void *arguments, size_t bytes) {
    ns_worker *worker = self->worker;
    ns_lane_task *task = worker->top;
    if (NS_LANE_RARE(task >= worker->end || bytes > NS_INLINED_BYTES)) {
        ns_spawn_slowly(self, body, arguments, bytes);
        return;
    }
    ns_lane_deque *deque = worker->deque;
    const uint64_t bottom = NS_LANE_LOAD(deque->bottom);
    if (NS_LANE_RARE(bottom >= NS_LANE_LOAD(deque->push_limit))) {
        ns_spawn_slowly(self, body, arguments, bytes);
        return;
    }
    ns_lane_task *parent = (ns_lane_task *)self;
    worker->top = task + 1;
    task->base.worker = worker;
    task->body = body;
    task->parent = parent;
    task->pending = task->returned = 0;
    ns_lane_copy(task->inlined, arguments, bytes);
    parent->pending++;
    NS_LANE_STORE(deque->slots[bottom & deque->mask], (void *)task);
    NS_LANE_STORE(deque->bottom, bottom + 1);
}

/* Execute a child of `parent`, both on `worker`. */
static inline void ns_lane_execute(ns_worker *worker, ns_lane_task *parent, ns_lane_task *task) {
    task->mark = worker->top;
    task->body(&task->base, task->inlined);
    if (NS_LANE_RARE(task->pending)) ns_lane_join_rest(task);
    worker->tasks++;
    parent->pending--;
}

static inline void ns_join(ns_task *self) {
    ns_lane_task *parent = (ns_lane_task *)self;
    ns_worker *worker = self->worker;
    ns_lane_deque *deque = worker->deque;
    if (NS_LANE_RARE(!deque)) {
        ns_join_slowly(self);
        return;
    }
    while (parent->pending != __atomic_load_n(&parent->returned, __ATOMIC_ACQUIRE)) {
        const uint64_t bottom = NS_LANE_LOAD(deque->bottom);
        if (NS_LANE_RARE(bottom <= NS_LANE_LOAD(deque->pop_limit))) {
            ns_join_slowly(self);
            return;
        }
        ns_lane_task *task = (ns_lane_task *)NS_LANE_LOAD(deque->slots[(bottom - 1) & deque->mask]);
        NS_LANE_STORE(deque->bottom, bottom - 1);
        if (NS_LANE_RARE(task->parent != parent))
            ns_lane_execute_other(worker, task);
        else
            ns_lane_execute(worker, parent, task);
    }
    worker->top = parent->mark;
    if (NS_LANE_RARE(parent->pending)) ns_lane_join_rest(parent);
}

static inline void ns_call(ns_task *self, ns_body *body, void *arguments) {
    ns_worker *worker = self->worker;
    if (NS_LANE_RARE(!worker->deque)) {
        ns_call_slowly(self, body, arguments);
        return;
    }
    ns_lane_task part;
    part.base = *self;
    part.mark = worker->top;
    part.pending = part.returned = 0;
    body(&part.base, arguments);
    if (NS_LANE_RARE(part.pending)) ns_lane_join_rest(&part);
}

#undef NS_LANE_LOAD
#undef NS_LANE_STORE
#undef NS_LANE_RARE
#undef NS_LANE_COPY_WORD

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
