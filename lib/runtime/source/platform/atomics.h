/* Atomic words of C11; each access names its memory order. With NS_EXPLORE defined, accesses are calls into the
 * explorer, a program that tries all interleavings of a few threads (tests/runtime/explorer): so the explorer checks
 * the library's own sources. ns_fence is the only fence; elsewhere accesses that would need a fence are
 * memory_order_seq_cst, because the thread sanitizer does not understand fences. */
#pragma once

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/sanitizers.h"

/* The distance between fields that different threads write: two cache lines, since processors fetch lines in pairs. */
#define NS_LINE_BYTES 128
#define NS_OWN_LINE _Alignas(NS_LINE_BYTES)

typedef struct {
    _Atomic uint32_t value;
} ns_atomic_u32;

typedef struct {
    _Atomic uint64_t value;
} ns_atomic_u64;

typedef struct {
    void *_Atomic value;
} ns_atomic_pointer;

#define NS_ALWAYS_INLINE \
    static inline __attribute__((always_inline)) /* so memory orders are constants even without -O2 */

#ifdef NS_TURNS /* each access begins a turn of a worker: turns/turns.h */
#include "turns/turns.h"
#define NS_TURN_BEGINS() ns_turns_step()
#else
#define NS_TURN_BEGINS() ((void)0)
#endif

#ifndef NS_EXPLORE

/* The accesses that the functions below make. NS_DO_COMPARE contains the return statement of its function. */
#define NS_DO_LOAD(of, self, order) atomic_load_explicit(&(self)->value, order)
#define NS_DO_STORE(of, self, to, order) atomic_store_explicit(&(self)->value, to, order)
#define NS_DO_EXCHANGE(of, self, to, order) atomic_exchange_explicit(&(self)->value, to, order)
#define NS_DO_ADD(of, self, number, order) atomic_fetch_add_explicit(&(self)->value, number, order)
#define NS_DO_COMPARE(of, self, expected, to, order, failure) \
    return atomic_compare_exchange_strong_explicit(&(self)->value, expected, to, order, failure)

/* Make all earlier stores of this thread visible to other threads before this thread loads any further word. */
NS_ALWAYS_INLINE void ns_fence(void) {
#ifdef NS_THREAD_SANITIZER /* the thread sanitizer refuses fences; its read-modify-writes are fences, too */
    _Atomic uint32_t word = 0;
    atomic_fetch_add_explicit(&word, 0, memory_order_seq_cst);
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* Rest shortly in a waiting loop, by the processor's instruction for this purpose. */
NS_ALWAYS_INLINE void ns_pause(void) {
#if defined(NS_TURNS)
    ns_turns_pause(false);
#elif defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Rest for longer: yield this processor to other threads. */
NS_ALWAYS_INLINE void ns_yield(void) {
#ifdef NS_TURNS
    ns_turns_pause(false);
#else
    sched_yield();
#endif
}

#else

/* Each access is one step: the explorer chooses which thread takes the next step. Values are passed as 64 bits. */
enum ns_explored { NS_EXPLORED_LOAD, NS_EXPLORED_STORE, NS_EXPLORED_EXCHANGE, NS_EXPLORED_COMPARE, NS_EXPLORED_ADD };

/* Access a word of 4 or 8 bytes. Return its previous value. NS_EXPLORED_COMPARE stores `value` over `expected` only. */
uint64_t ns_explored_access(enum ns_explored kind, void *location, uint32_t bytes, uint64_t value, uint64_t expected,
                            memory_order order);

/* Suspend this thread until another thread changes a word that this thread has read since its last call. */
void ns_explored_pause(void);

#define NS_STEP(of, kind, self, to, expected, order)                                                       \
    ((of)ns_explored_access(NS_EXPLORED_##kind, (void *)(uintptr_t)(self), sizeof *(self), (uint64_t)(to), \
                            (uint64_t)(expected), order))
#define NS_DO_LOAD(of, self, order) NS_STEP(of, LOAD, self, 0, 0, order)
#define NS_DO_STORE(of, self, to, order) (void)NS_STEP(of, STORE, self, to, 0, order)
#define NS_DO_EXCHANGE(of, self, to, order) NS_STEP(of, EXCHANGE, self, to, 0, order)
#define NS_DO_ADD(of, self, number, order) NS_STEP(of, ADD, self, number, 0, order)
#define NS_DO_COMPARE(of, self, expected, to, order, failure)            \
    const of found = NS_STEP(of, COMPARE, self, to, *(expected), order); \
    const bool same = found == *(expected);                              \
    (void)(failure);                                                     \
    *(expected) = found;                                                 \
    return same

NS_ALWAYS_INLINE void ns_pause(void) { ns_explored_pause(); }
NS_ALWAYS_INLINE void ns_yield(void) { ns_explored_pause(); }

#endif

/* load, store, exchange and compare_exchange for each type. A failed compare_exchange stores the found value in
 * `expected`, with the order `failure`. */
#define NS_DEFINE_ATOMIC(type, of)                                                                        \
    NS_ALWAYS_INLINE of type##_load(const type *self, memory_order order) {                               \
        NS_TURN_BEGINS();                                                                                 \
        return NS_DO_LOAD(of, self, order);                                                               \
    }                                                                                                     \
    NS_ALWAYS_INLINE void type##_store(type *self, of value, memory_order order) {                        \
        NS_TURN_BEGINS();                                                                                 \
        NS_DO_STORE(of, self, value, order);                                                              \
    }                                                                                                     \
    NS_ALWAYS_INLINE of type##_exchange(type *self, of value, memory_order order) {                       \
        NS_TURN_BEGINS();                                                                                 \
        return NS_DO_EXCHANGE(of, self, value, order);                                                    \
    }                                                                                                     \
    NS_ALWAYS_INLINE bool type##_compare_exchange(type *self, of *expected, of value, memory_order order, \
                                                  memory_order failure) {                                 \
        NS_TURN_BEGINS();                                                                                 \
        NS_DO_COMPARE(of, self, expected, value, order, failure);                                         \
    }

#define NS_DEFINE_ATOMIC_INTEGER(type, of)                                           \
    NS_DEFINE_ATOMIC(type, of)                                                       \
    /* Return the previous value. Sums wrap: adding (type)-1 subtracts 1. */         \
    NS_ALWAYS_INLINE of type##_fetch_add(type *self, of value, memory_order order) { \
        NS_TURN_BEGINS();                                                            \
        return NS_DO_ADD(of, self, value, order);                                    \
    }

NS_DEFINE_ATOMIC_INTEGER(ns_atomic_u32, uint32_t)
NS_DEFINE_ATOMIC_INTEGER(ns_atomic_u64, uint64_t)

#ifdef NS_EXPLORE
/* Any seq_cst read-modify-write, here of a word of this thread alone, waits for all earlier stores of the thread. */
NS_ALWAYS_INLINE void ns_fence(void) {
    ns_atomic_u32 word;
    ns_atomic_u32_fetch_add(&word, 0, memory_order_seq_cst);
}
#endif

typedef void *ns_any_pointer;
NS_DEFINE_ATOMIC(ns_atomic_pointer, ns_any_pointer)
