#include "sync/transactions.h"

#include <stdlib.h>

#include "policy/draws.h"
#include "sync/lines.h"

static uint32_t objects_of(const ns_plan_words *plan, uint64_t word) {
    return plan->role.at[word] == NS_SYNC_OBJECTS ? (uint32_t)plan->parties.at[word] : 0;
}

bool ns_transactions_create(ns_transactions *self, const ns_full_plan *plan) {
    const uint64_t words = plan->words.role.count;
    *self = (ns_transactions){.plan = &plan->words, .workers = plan->workers};
    self->first = calloc(words + 1, sizeof *self->first);
    self->opened = calloc(plan->workers, sizeof *self->opened);
    if (!self->first || !self->opened) return false;
    for (uint64_t word = 0; word < words; word++) {
        self->first[word] = self->count;
        self->count += objects_of(&plan->words, word);
    }
    self->objects = calloc((size_t)self->count + 1, sizeof *self->objects);
    for (uint32_t at = 0; self->objects && at < self->count; at++) {
        self->objects[at].writer = self->objects[at].last = NS_NOBODY;
    }
    return self->objects;
}

void ns_transactions_destroy(ns_transactions *self) {
    for (uint32_t worker = 0; self->opened && worker < self->workers; worker++) free(self->opened[worker].at);
    free(self->first);
    free(self->opened);
    free(self->objects);
}

uint32_t ns_transactions_drawn(const ns_transactions *self, uint32_t memory, uint64_t number) {
    const int64_t *sums = self->plan->weight.at + self->plan->weight_ptr.at[memory];
    const int64_t count = self->plan->weight_ptr.at[memory + 1] - self->plan->weight_ptr.at[memory];
    if (!count) return self->first[memory] + (uint32_t)ns_below(number, objects_of(self->plan, memory));
    const int64_t place = (int64_t)ns_below(number, (uint64_t)sums[count - 1]);
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (sums[middle] > place) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return self->first[memory] + (uint32_t)low;
}

ns_conflict ns_transactions_conflict(const ns_transactions *self, uint32_t object, uint32_t worker) {
    const uint32_t writer = self->objects[object].writer;
    return (ns_conflict){writer == worker ? NS_NOBODY : writer, object};
}

ns_conflict ns_transactions_validate(const ns_transactions *self, uint32_t worker) {
    const ns_opened_list *opened = &self->opened[worker];
    for (uint32_t at = 0; at < opened->count; at++) {
        const ns_opened *read = &opened->at[at];
        if (read->writes) continue;
        const ns_object *one = &self->objects[read->object];
        if (one->version != read->version) return (ns_conflict){one->last, read->object};
        const ns_conflict found = ns_transactions_conflict(self, read->object, worker);
        if (found.other != NS_NOBODY) return found;
    }
    return (ns_conflict){NS_NOBODY, 0};
}

bool ns_transactions_open(ns_transactions *self, uint32_t object, uint32_t worker, bool writes, int64_t now_ps) {
    ns_object *one = &self->objects[object];
    if (writes && one->writer == worker) return true;
    ns_opened_list *opened = &self->opened[worker];
    if (opened->count == opened->room) {
        const uint32_t room = opened->room ? 2 * opened->room : 16;
        ns_opened *more = realloc(opened->at, room * sizeof *more);
        if (!more) return false;
        *opened = (ns_opened_list){more, opened->count, room};
    }
    opened->at[opened->count++] = (ns_opened){object, writes, one->version, now_ps};
    if (writes) one->writer = worker;
    return true;
}

void ns_transactions_close(ns_transactions *self, uint32_t worker, bool commits) {
    ns_opened_list *opened = &self->opened[worker];
    for (uint32_t at = 0; at < opened->count; at++) {
        ns_object *one = &self->objects[opened->at[at].object];
        if (!opened->at[at].writes) continue;
        one->writer = NS_NOBODY;
        if (!commits) continue;
        one->version++;
        one->last = worker;
    }
    opened->count = 0;
}
