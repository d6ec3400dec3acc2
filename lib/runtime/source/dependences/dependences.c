#include "dependences/dependences.h"

#include <stdlib.h>

/* ---- what parent and children share ------------------------------------------------------------------------------ */

static const uint32_t UNKNOWN = UINT32_C(1) << 31; /* a count above any number of children */

static char ended; /* the address of this variable, as a child's list, means that the child has ended */

void ns_dependent_create(ns_dependent *self) {
    /* relaxed: other threads reach the child only through lists */
    ns_atomic_pointer_store(&self->waiting, NULL, memory_order_relaxed);
    ns_atomic_u32_store(&self->left, UNKNOWN, memory_order_relaxed);
    self->newest_of = NULL;
}

bool ns_dependent_wait_for(ns_dependent *self, ns_dependent *other, ns_waiting *entry) {
    /* acquire: if `other` has ended, this thread sees all that `other` did */
    void *newest = ns_atomic_pointer_load(&other->waiting, memory_order_acquire);
    entry->task = self;
    do {
        if (newest == &ended) return false;
        entry->next = newest;
    } while (!ns_atomic_pointer_compare_exchange(&other->waiting, &newest, entry, memory_order_release,
                                                 memory_order_acquire));
    /* release: the thread that ends `other` sees `entry` and `self` as they are now. No ABA problem: only the parent
     * pushes, and the thread that ends `other` takes the whole list, once */
    return true;
}

/* Return self->left less `count`, and store it. acq_rel: all that awaited children did happens before `self` begins. */
static uint32_t take_away(ns_dependent *self, uint32_t count) {
    return ns_atomic_u32_fetch_add(&self->left, (uint32_t)-count, memory_order_acq_rel) - count;
}

bool ns_dependent_is_free(ns_dependent *self, uint32_t others) { return take_away(self, UNKNOWN - others) == 0; }

bool ns_dependent_release(ns_dependent *self) { return take_away(self, 1) == 0; }

ns_waiting *ns_dependent_end(ns_dependent *self) {
    /* acq_rel: the parent sees all that the child did; this thread sees the entries as the parent made them */
    return ns_atomic_pointer_exchange(&self->waiting, &ended, memory_order_acq_rel);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

enum { FIRST_BYTES = 2048, MOST_BYTES = 1 << 18 };

void *ns_arena_take(ns_arena *self, size_t bytes) {
    const size_t unit = _Alignof(max_align_t), taken = (bytes + unit - 1) / unit * unit;
    if (self->room - self->used < taken) {
        size_t room = self->room ? 2 * self->room : FIRST_BYTES;
        if (room > MOST_BYTES) room = MOST_BYTES;
        if (room < taken) room = taken;
        char *made = ns_pieces_take(&self->pieces, 1, room);
        if (!made) return NULL;
        self->newest = made;
        self->room = room;
        self->used = 0;
    }
    self->used += taken;
    return self->newest + self->used - taken;
}

/* ---- the dependences of a task's children ------------------------------------------------------------------------ */

ns_dependences *ns_dependences_open(ns_task *whole) {
    if (!whole->first) whole->first = calloc(1, sizeof(ns_dependences));
    return ns_dependences_of(whole);
}

void ns_dependences_close(ns_task *whole) {
    ns_dependences *self = ns_dependences_of(whole);
    if (!self) return;
    whole->first = NULL;
    ns_dependences_destroy(self);
    free(self);
}

void ns_dependences_destroy(ns_dependences *self) {
    ns_pieces_release(&self->arena.pieces);
    free(self->entries);
    free(self->before.entries);
    *self = (ns_dependences){0};
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

/* Return the entry of `address` in the hash table, or an unused entry for it. The hash is the upper half of a product
 * (Knuth, volume 3, section 6.4). */
static ns_dependence_entry *place_of(ns_dependence_entry *entries, uint32_t room, const void *address) {
    const uint64_t hash = (uint64_t)(uintptr_t)address * UINT64_C(0x9E3779B97F4A7C15);
    uint32_t at = (uint32_t)(hash >> 32) & (room - 1);
    while (entries[at].address && entries[at].address != address) at = (at + 1) & (room - 1);
    return &entries[at];
}

static bool enlarge(ns_dependences *self) {
    enum { FIRST_ROOM = 16 };
    const uint32_t room = self->entry_room ? 2 * self->entry_room : FIRST_ROOM;
    ns_dependence_entry *entries = calloc(room, sizeof *entries);
    if (!entries) return false;
    for (uint32_t at = 0; at < self->entry_room; at++) {
        const ns_dependence_entry *each = &self->entries[at];
        if (each->address) *place_of(entries, room, each->address) = *each;
    }
    free(self->entries);
    self->entries = entries;
    self->entry_room = room;
    return true;
}

static ns_dependence_entry *entry_of(ns_dependences *self, const void *address) {
    if (2 * self->entry_count >= self->entry_room && !enlarge(self)) return NULL;
    ns_dependence_entry *entry = place_of(self->entries, self->entry_room, address);
    self->entry_count += !entry->address;
    entry->address = address;
    return entry;
}

/* ---- the children that a child waits for ------------------------------------------------------------------------- */

/* Add `other` to the children for which `task` waits, unless it is among them. Return false if memory is short. */
static bool wait_for(ns_dependences *self, ns_dependent *task, ns_dependent *other) {
    if (!other || other == task || other->newest_of == task) return true;
    ns_dependent **place = ns_growing_add(&self->before, sizeof *place);
    if (!place) return false;
    other->newest_of = task;
    *place = other;
    return true;
}

/* Let `task` read: `task` waits for the last writer. Return false if memory is short. */
static bool read_by(ns_dependences *self, ns_dependence_entry *entry, ns_dependent *task) {
    ns_reader *reader = self->free;
    if (reader)
        self->free = reader->next;
    else
        reader = ns_arena_take(&self->arena, sizeof *reader);
    if (!reader) return false;
    *reader = (ns_reader){task, entry->readers};
    entry->readers = reader;
    return wait_for(self, task, entry->writer);
}

/* Let `task` write: `task` waits for the children that have read since the last write (which wait for the last writer),
 * or for the last writer if there are none. Return false if memory is short. */
static bool written_by(ns_dependences *self, ns_dependence_entry *entry, ns_dependent *task) {
    bool waits = entry->readers || wait_for(self, task, entry->writer);
    while (entry->readers) {
        ns_reader *reader = entry->readers;
        waits = wait_for(self, task, reader->task) && waits;
        entry->readers = reader->next;
        reader->next = self->free;
        self->free = reader;
    }
    entry->writer = task;
    return waits;
}

bool ns_dependences_find(ns_dependences *self, ns_dependent *task, const ns_dependence *dependences, uint32_t count) {
    bool found = true;
    self->before.count = 0;
    for (uint32_t at = 0; at < count && found; at++) {
        ns_dependence_entry *entry = dependences[at].address ? entry_of(self, dependences[at].address) : NULL;
        if (!dependences[at].address) continue; /* NULL stands for no data */
        found = entry && (dependences[at].direction == NS_DIRECTION_IN ? read_by(self, entry, task)
                                                                       : written_by(self, entry, task));
    }
    return found;
}
