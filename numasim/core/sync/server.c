#include "sync/server.h"

#include <stdlib.h>

enum { FIRST_ROOM = 4 };

bool ns_server_make_room(ns_server *self) {
    const uint32_t room = self->room ? 2 * self->room : FIRST_ROOM;
    ns_waiter *grown = realloc(self->waiters, room * sizeof *grown);
    if (!grown) return false;
    self->waiters = grown;
    self->room = room;
    return true;
}
