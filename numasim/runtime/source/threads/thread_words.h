/* Shared words of a pool of threads: locks, conditions and barriers of numasim/locks.h, of the kinds that the plan
 * says, near their owners; with what numasim's results count of them.
 */
#ifndef NS_THREAD_WORDS_H
#define NS_THREAD_WORDS_H

#include "api/operations.h"
#include "platform/ticks.h"

typedef struct ns_thread_words ns_thread_words;

/* Who uses a word, and what that took: times are added to. */
typedef struct {
    uint32_t worker, node;
    int64_t *barrier_ps, *parked_ps;
} ns_word_user;

/* No words yet. `plan`, which may be NULL, and `node` [workers] live as long. `rate`: see ticks.h. 0, NS_ERROR_FIELD or
 * NS_ERROR_MEMORY. */
int ns_thread_words_create(ns_thread_words **self, const ns_fields *plan, uint32_t workers, const int32_t *node,
                           ns_tick_rate rate);
void ns_thread_words_destroy(ns_thread_words *self);

/* Make those words of the pool that are not made yet, while nobody uses any: 0, NS_ERROR_OPTION or NS_ERROR_MEMORY. */
int ns_thread_words_add(ns_thread_words *self, const ns_word *words, uint32_t count);

void ns_thread_words_lock(ns_thread_words *self, uint32_t word, ns_word_user user);
void ns_thread_words_unlock(ns_thread_words *self, uint32_t word, ns_word_user user);
int64_t ns_thread_words_fetch_add(ns_thread_words *self, uint32_t word, int64_t value, ns_word_user user);
void ns_thread_words_arrive(ns_thread_words *self, uint32_t word, ns_word_user user);
void ns_thread_words_await(ns_thread_words *self, uint32_t word, ns_word_user user);
void ns_thread_words_signal(ns_thread_words *self, uint32_t word, uint32_t permits, ns_word_user user);

/* Copy the counts of all words to report->words. */
void ns_thread_words_report(const ns_thread_words *self, ns_report *report);

#endif
