#include "sync/server.h"

#include <stdlib.h>

enum { FIRST_ROOM = 4 };

bool ns_server_make_room(ns_server *self) {
    if (2 * self->count > self->room || !self->room) {
        const uint32_t room = self->room ? 2 * self->room : FIRST_ROOM;
        ns_waiter *grown = realloc(self->places, room * sizeof *grown);
        if (!grown) return false;
        self->places = grown;
        self->room = room;
    }
    if (self->count) memmove(self->places, ns_server_waiters(self), self->count * sizeof *self->places);
    self->first = 0;
    return true;
}
