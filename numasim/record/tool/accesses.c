/* What `ns_record_access` of numasim/record.h calls where a recorder is preloaded. */
#include <stddef.h>

#include "event_log.h"

void ns_recorder_access(const void *begin, size_t bytes, int mode);
void ns_recorder_access(const void *begin, size_t bytes, int mode) {
    const uint64_t now = ns_ticks();
    ns_event_log *log = bytes ? ns_log_of_thread() : NULL;
    if (!log) return;
    ns_put(log, now, NS_EVENT_ACCESS, (uint32_t)mode);
    ns_put_operand(log, (uint64_t)(uintptr_t)begin);
    ns_put_operand(log, bytes);
}
