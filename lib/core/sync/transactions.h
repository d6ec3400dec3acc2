/* Who writes which objects of the memories of transactions, and which versions of them attempts have read (model 4.11);
 * equal to engine/reference/sync/attempts.py.
 *
 * Objects are numbered through all memories, in the order of the memories.
 */
#ifndef NUMASIM_SYNC_TRANSACTIONS_H
#define NUMASIM_SYNC_TRANSACTIONS_H

#include "plan/plan_reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An object that the present attempt of a worker has opened, when, and to read it the version that it had then. */
typedef struct {
    uint32_t object;
    bool writes;
    int64_t version, since_ps;
} ns_opened;

typedef struct {
    ns_opened *at;
    uint32_t count, room;
} ns_opened_list;

typedef struct {
    uint32_t writer, last; /* who has opened it to write it, and who wrote it last; NS_NOBODY: none */
    int64_t version;       /* transactions that wrote it and ended */
    int64_t conflicts;     /* attempts that aborted at it */
} ns_object;

typedef struct {
    const ns_plan_words *plan;
    ns_object *objects;     /* [count] */
    uint32_t *first;        /* [words] the first object of each memory */
    ns_opened_list *opened; /* [workers] */
    uint32_t count, workers;
} ns_transactions;

/* A conflict with worker `other`, unless that is NS_NOBODY, at an object. */
typedef struct {
    uint32_t other, object;
} ns_conflict;

/* Nobody has opened anything. False where there is no memory; the plan lives as long. */
bool ns_transactions_create(ns_transactions *self, const ns_full_plan *plan);
void ns_transactions_destroy(ns_transactions *self);

/* The object of a memory that a draw stands for. */
uint32_t ns_transactions_drawn(const ns_transactions *self, uint32_t memory, uint64_t number);

/* The conflict that the attempt of `worker` meets when it opens an object, and when it commits. */
ns_conflict ns_transactions_conflict(const ns_transactions *self, uint32_t object, uint32_t worker);
ns_conflict ns_transactions_validate(const ns_transactions *self, uint32_t worker);

/* Open an object without a conflict. False where there is no memory. */
bool ns_transactions_open(ns_transactions *self, uint32_t object, uint32_t worker, bool writes, int64_t now_ps);

/* The attempt of `worker` ends: what it writes is free, and with `commits` in its next version. */
void ns_transactions_close(ns_transactions *self, uint32_t worker, bool commits);

#ifdef __cplusplus
}
#endif

#endif
