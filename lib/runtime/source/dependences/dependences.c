#include "dependences/dependences.h"

#include <stdlib.h>

enum { FIRST_ROOM = 16 };

/* ---- of a task --------------------------------------------------------------------------------------------------- */

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
    ns_arena_destroy(&self->arena);
    free(self->entries);
    free(self->before);
    *self = (ns_dependences){0};
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

/* Where the entry of `address` is, or is to be: by the upper half of a product (Knuth, volume 3, section 6.4). */
static ns_dependence_entry *place_of(ns_dependence_entry *entries, uint32_t room, const void *address) {
    const uint64_t hash = (uint64_t)(uintptr_t)address * UINT64_C(0x9E3779B97F4A7C15);
    uint32_t at = (uint32_t)(hash >> 32) & (room - 1);
    while (entries[at].address && entries[at].address != address) at = (at + 1) & (room - 1);
    return &entries[at];
}

static bool enlarge(ns_dependences *self) {
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

/* ---- who waits for whom ------------------------------------------------------------------------------------------ */

static bool wait_for(ns_dependences *self, ns_dependent *task, ns_dependent *other) {
    if (!other || other == task || other->newest_of == task) return true;
    if (self->before_count == self->before_room) {
        const uint32_t room = self->before_room ? 2 * self->before_room : FIRST_ROOM;
        ns_dependent **grown = realloc(self->before, room * sizeof(ns_dependent *));
        if (!grown) return false;
        self->before = grown;
        self->before_room = room;
    }
    other->newest_of = task;
    self->before[self->before_count++] = other;
    return true;
}

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

/* Those that have read wait for who wrote before them. */
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
    self->before_count = 0;
    for (uint32_t at = 0; at < count && found; at++) {
        ns_dependence_entry *entry = dependences[at].address ? entry_of(self, dependences[at].address) : NULL;
        if (!dependences[at].address) continue; /* nothing is there to be written or read */
        found = entry && (dependences[at].direction == NS_DIRECTION_IN ? read_by(self, entry, task)
                                                                       : written_by(self, entry, task));
    }
    return found;
}
