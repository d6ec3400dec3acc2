/* Which variables and large blocks of memory the program has, and which of their pages exist: those that somebody has
 * touched. */
#ifndef NUMASIM_RECORD_PAGES_H
#define NUMASIM_RECORD_PAGES_H

#include <stddef.h>

#include "event_log.h"

enum { NS_LARGE_BYTES = 65536 }; /* the blocks of which pages are looked at */

void ns_block_begin(const void *block, size_t bytes);
void ns_block_end(const void *block);

/* Write a log that is full. Returns the ticks that took, which are an event of their own already. */
uint64_t ns_make_room(ns_event_log *log);

/* An event for each variable of the program and of its shared objects that is not smaller than a cache line. Returns
 * the ticks of making room for them. */
uint64_t ns_note_globals(ns_event_log *log);

/* An event for each variable, the first time, and for each large block of which other pages exist than when it was last
 * looked at. */
void ns_note_touched(ns_event_log *log);

#endif
