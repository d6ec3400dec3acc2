#include "field_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "numasim/runtime.h"

bool ns_field_reader_require(ns_field_reader *self, bool holds, const char *sentence, ...) {
    if (holds || self->error) return !self->error;
    self->error = NS_ERROR_FIELD;
    va_list arguments;
    va_start(arguments, sentence);
    vsnprintf(self->problem, sizeof self->problem, sentence, arguments);
    va_end(arguments);
    return false;
}

int64_t ns_field_reader_integer(ns_field_reader *self, const char *name, int64_t low, int64_t high) {
    uint64_t count = 0;
    const int64_t *value = ns_fields_array(self->fields, name, NS_FIELD_I64, &count);
    const bool there = value && count == 1;
    if (!ns_field_reader_require(self, there, "%s is not there as one integer", name)) return low;
    const bool within = low <= *value && *value <= high;
    ns_field_reader_require(self, within, "%s is %" PRId64 ", not from %" PRId64 " to %" PRId64, name, *value, low,
                            high);
    return within ? *value : low;
}

bool ns_field_reader_flag(ns_field_reader *self, const char *name) {
    return ns_field_reader_integer(self, name, 0, 1) != 0;
}

uint32_t ns_field_reader_choice(ns_field_reader *self, const char *name, const char *const *names, uint32_t count) {
    const char *text = ns_fields_text(self->fields, name);
    for (uint32_t at = 0; at < count; at++) {
        if (strcmp(text, names[at]) == 0) return at;
    }
    ns_field_reader_require(self, false, "%s is '%.40s', which is not a name that is known", name, text);
    return 0;
}

const void *ns_field_reader_array(ns_field_reader *self, const char *name, enum ns_field_kind kind, uint64_t size,
                                  uint64_t *count) {
    uint64_t found = 0;
    const void *array = ns_fields_array(self->fields, name, kind, &found);
    if (count) *count = array ? found : 0;
    if (!ns_field_reader_require(self, array != NULL, "%s is missing, or of the wrong type", name)) return NULL;
    const bool fits = size == NS_ANY_COUNT || found == size;
    ns_field_reader_require(self, fits, "%s has %" PRIu64 " entries instead of %" PRIu64, name, found, size);
    return fits ? array : NULL;
}

static void require_within(ns_field_reader *self, const char *name, int64_t value, uint64_t at, int64_t low,
                           int64_t high) {
    ns_field_reader_require(self, low <= value && value <= high,
                            "%s[%" PRIu64 "] is %" PRId64 ", not from %" PRId64 " to %" PRId64, name, at, value, low,
                            high);
}

const int32_t *ns_field_reader_i32(ns_field_reader *self, const char *name, uint64_t size, int64_t low, int64_t high,
                                   uint64_t *count) {
    uint64_t found;
    const int32_t *array = ns_field_reader_array(self, name, NS_FIELD_I32, size, &found);
    for (uint64_t at = 0; array && at < found; at++) require_within(self, name, array[at], at, low, high);
    if (count) *count = found;
    return array;
}

const int64_t *ns_field_reader_i64(ns_field_reader *self, const char *name, uint64_t size, int64_t low, int64_t high,
                                   uint64_t *count) {
    uint64_t found;
    const int64_t *array = ns_field_reader_array(self, name, NS_FIELD_I64, size, &found);
    for (uint64_t at = 0; array && at < found; at++) require_within(self, name, array[at], at, low, high);
    if (count) *count = found;
    return array;
}

const int64_t *ns_field_reader_offsets(ns_field_reader *self, const char *name, uint64_t size, uint64_t end) {
    uint64_t count;
    const int64_t *offset = ns_field_reader_array(self, name, NS_FIELD_I64, size, &count);
    if (self->error) return NULL;
    bool holds = count > 0 && offset[0] == 0 && (uint64_t)offset[count - 1] == end;
    for (uint64_t at = 1; holds && at < count; at++) holds = offset[at - 1] <= offset[at];
    ns_field_reader_require(self, holds, "%s does not run from 0 to %" PRIu64, name, end);
    return holds ? offset : NULL;
}

const void *ns_field_reader_records(ns_field_reader *self, const char *name, uint64_t record_bytes, uint64_t *count) {
    uint64_t bytes;
    const void *array = ns_field_reader_array(self, name, NS_FIELD_U8, NS_ANY_COUNT, &bytes);
    ns_field_reader_require(self, bytes % record_bytes == 0, "%s is not made of whole records", name);
    *count = bytes / record_bytes;
    return array;
}

void ns_field_reader_pointer(ns_field_reader *self, const char *name, const uint32_t *pointer, uint64_t count,
                             uint64_t end) {
    if (self->error) return;
    bool holds = count > 0 && pointer[0] == 0 && pointer[count - 1] == end;
    for (uint64_t at = 1; holds && at < count; at++) holds = pointer[at - 1] <= pointer[at];
    ns_field_reader_require(self, holds, "%s does not run from 0 to %" PRIu64, name, end);
}
