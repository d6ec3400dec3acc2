/* Shared words in virtual time: locks, atomic words, conditions and barriers as servers of the clock (model 5). Equal,
 * event for event, to numasim/engine/synchronisation.py, locks.py and barriers.py; decisions are those of
 * policy/locks.h and policy/barriers.h.
 *
 * Words have no notion of workers: who waits is an actor, below the number of workers or the producer behind them, and
 * what it goes on with is called at the grant, inside the event GRANT of the word, RELEASE of a barrier or, for
 * sleepers, WAKE of the actor's own event, which the caller schedules.
 *
 * An actor waits for one word at a time and has no event of its own meanwhile. Every pending event of a word is for one
 * that waits, so a clock with room for one event of each actor has room for those of words. Times that would come after
 * 2^62 ps come out as that.
 */
#ifndef NS_WORDS_H
#define NS_WORDS_H

#include "clock.h"
#include "field_reader.h"
#include "sync/lines.h"
#include "numasim/runtime.h"
#include "report.h"

typedef struct ns_words ns_words;

/* An actor goes on. `since_ps`: when it asked. */
typedef void ns_granted(void *context, uint32_t actor, uint32_t word, int64_t since_ps);
/* A barrier has opened: `actor` leaves it at `leave_ps` (>= now). */
typedef void ns_released(void *context, uint32_t actor, uint32_t word, int64_t leave_ps);
/* A barrier opens: to be recorded as step (RELEASE, 1 + word, episode, 0), before anybody leaves. */
typedef void ns_opened(void *context, uint32_t word, uint64_t episode);
/* A sleeper of a condition wakes `delay_ps` from now; the caller schedules its WAKE. */
typedef void ns_woken(void *context, uint32_t actor, int64_t delay_ps);

typedef struct {
    void *context;
    ns_released *released;
    ns_opened *opened;
    ns_woken *woken;
} ns_words_listener;

/* The words of a plan: fields word_role, word_home, worker_home, word_parties, lock_kind, ... as
 * numasim/engine/native.py names them. `transfers` and the plan live as long. 0, NS_ERROR_FIELD with a sentence in
 * `plan`, or NS_ERROR_MEMORY. */
int ns_words_create(ns_words **self, ns_field_reader *plan, const ns_transfers *transfers, ns_clock *clock,
                    ns_words_listener listener);
void ns_words_destroy(ns_words *self);
uint32_t ns_words_count(const ns_words *self);

/* Whether `word` is one that the plan has, and has that role. */
bool ns_words_has(const ns_words *self, uint32_t word, enum ns_word_role role);

/* Ask for a lock or an atomic word; `then` is called at the grant. */
void ns_words_request(ns_words *self, uint32_t word, uint32_t actor, ns_granted *then, void *context);
/* Let go of it: it goes to one of those that wait, if any. */
void ns_words_release(ns_words *self, uint32_t word, uint32_t actor);
/* Arrive at a barrier; `released` is called for each party when it opens. */
void ns_words_arrive(ns_words *self, uint32_t word, uint32_t actor);
/* Whether `actor` need not wait for a condition; `*owed_ps` is what passing costs it. Otherwise it is a sleeper now. */
bool ns_words_await(ns_words *self, uint32_t word, uint32_t actor, int64_t *owed_ps);
/* Let `permits` waiters pass; what that costs `actor`, ps. */
int64_t ns_words_signal(ns_words *self, uint32_t word, uint32_t actor, uint32_t permits);

/* The end of a phase: take the words from `declared` on, those of the search, from whoever has them or waits; `waited`
 * is told of each waiter and since when it waits. */
void ns_words_free_search(ns_words *self, uint32_t declared, ns_granted *waited, void *context);

/* Copy the counts of all words to report->words, which has room for them. */
void ns_words_report(const ns_words *self, ns_report *report);

#endif
