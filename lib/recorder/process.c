/* The begin and the end of a process that records. */
#include <dlfcn.h>
#include <string.h>

#include "event_log.h"

/* Let the OpenMP runtime look at the machine now: else it does so at some moment of the program, which then takes
 * longer. */
static void prepare_openmp(void) {
    int (*prepare)(void) = NULL;
    void *found = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    memcpy(&prepare, &found, sizeof prepare);
    if (prepare) prepare();
}

__attribute__((constructor)) static void begin(void) {
    ns_log_begin();
    if (!ns_log_is_on()) return;
    prepare_openmp();
    ns_event_log *log = ns_log_of_thread();
    if (log) ns_put(log, ns_ticks(), NS_EVENT_START, 0);
}

__attribute__((destructor)) static void end(void) { ns_log_finish(); }
