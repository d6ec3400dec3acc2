/* What the program says when it calls the OpenMP runtime, and the tools interface does not tell. */
#ifndef NUMASIM_RECORD_ENTRANCES_H
#define NUMASIM_RECORD_ENTRANCES_H

#include <stdbool.h>

/* Whether the program executes the next task in place. */
extern _Thread_local bool ns_in_place;
/* Where the program makes the next task; NULL: where the runtime says. */
extern _Thread_local const void *ns_place;
#endif
