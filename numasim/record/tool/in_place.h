/* Whether the task that this thread makes next is one that the program executes in place. */
#ifndef NUMASIM_RECORD_IN_PLACE_H
#define NUMASIM_RECORD_IN_PLACE_H

#include <stdbool.h>

extern _Thread_local bool ns_in_place;

#endif
