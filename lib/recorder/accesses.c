/* What the functions of numasim/record.h call where a recorder is preloaded. */
#include <stddef.h>

#include "event_log.h"

void ns_recorder_access(const void *begin, size_t bytes, int mode);
void ns_recorder_tile(const void *begin, size_t rows, size_t bytes, size_t stride, int mode);

void ns_recorder_access(const void *begin, size_t bytes, int mode) { ns_recorder_tile(begin, 1, bytes, 0, mode); }

void ns_recorder_tile(const void *begin, size_t rows, size_t bytes, size_t stride, int mode) {
    const uint64_t now = ns_ticks();
    ns_event_log *log = rows && bytes ? ns_log_of_thread() : NULL;
    if (!log) return;
    ns_put(log, now, NS_EVENT_ACCESS, (uint32_t)mode);
    ns_put_operand(log, (uint64_t)(uintptr_t)begin);
    ns_put_operand(log, bytes);
    ns_put_operand(log, rows);
    ns_put_operand(log, rows == 1 ? 0 : stride);
}
