#include "plan/plan_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- mistakes and memory ----------------------------------------------------------------------------------------- */

bool ns_plan_refuse(ns_plan_reader *self, const char *sentence, ...) {
    if (self->mistake) return false;
    self->mistake = NS_PLAN_WRONG;
    va_list arguments;
    va_start(arguments, sentence);
    const int place = snprintf(self->problem, sizeof self->problem, "%s", self->place);
    vsnprintf(self->problem + place, sizeof self->problem - (size_t)place, sentence, arguments);
    va_end(arguments);
    return false;
}

void *ns_plan_reader_take(ns_plan_reader *self, uint64_t count, size_t bytes) {
    void *made = ns_pieces_take(&self->memory, count, bytes);
    if (!made) self->mistake = NS_PLAN_NO_MEMORY;
    return made;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

typedef struct {
    char text[160];
} full_name;

static full_name name_of(const ns_plan_reader *self, const char *name) {
    full_name made;
    snprintf(made.text, sizeof made.text, "%s%s", self->place, name);
    return made;
}

size_t ns_plan_reader_enter(ns_plan_reader *self, const char *name, uint64_t index) {
    const size_t before = strlen(self->place);
    snprintf(self->place + before, sizeof self->place - before, "%s.%" PRIu64 ".", name, index);
    return before;
}

void ns_plan_reader_leave(ns_plan_reader *self, size_t place) { self->place[place] = 0; }

/* ---- single values ----------------------------------------------------------------------------------------------- */

bool ns_read_integer(ns_plan_reader *self, const char *name, int64_t low, int64_t high, int64_t *value) {
    const bool there = self->source.integer(self->source.context, name_of(self, name).text, value);
    return ns_plan_require(self, there, "%s is not there as one integer", name) &&
           ns_plan_require(self, low <= *value && *value <= high, "%s is %" PRId64 ", not from %" PRId64 " to %" PRId64,
                           name, *value, low, high);
}

bool ns_read_flag(ns_plan_reader *self, const char *name, bool *value) {
    int64_t found = 0;
    const bool there = ns_read_integer(self, name, 0, 1, &found);
    *value = found != 0;
    return there;
}

bool ns_read_choice(ns_plan_reader *self, const char *name, const char *const *words, uint32_t count, uint32_t *at) {
    const char *text = self->source.text(self->source.context, name_of(self, name).text);
    if (!ns_plan_require(self, text != NULL, "%s is missing, or no text", name)) return false;
    for (*at = 0; *at < count; ++*at) {
        if (strcmp(text, words[*at]) == 0) return true;
    }
    return ns_plan_require(self, false, "%s is '%.40s', which is not a name that is known", name, text);
}

bool ns_read_count(ns_plan_reader *self, const char *name, int64_t size, uint64_t *count) {
    const bool there = self->source.count(self->source.context, name_of(self, name).text, count);
    return ns_plan_require(self, there, "%s is missing, or no list", name) &&
           ns_plan_require(self, size == NS_ANY_SIZE || *count == (uint64_t)size,
                           "%s has %" PRIu64 " entries instead of %" PRId64, name, *count, size);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

static bool read_array(ns_plan_reader *self, const char *name, enum ns_field_type type, int64_t size,
                       const void **values, uint64_t *count) {
    const bool there = self->source.array(self->source.context, name_of(self, name).text, type, values, count);
    return ns_plan_require(self, there, "%s is missing, or no array of the right type", name) &&
           ns_plan_require(self, size == NS_ANY_SIZE || *count == (uint64_t)size,
                           "%s has %" PRIu64 " entries instead of %" PRId64, name, *count, size);
}

#define READER(view, type, kind)                                                                   \
    bool ns_read_##view(ns_plan_reader *self, const char *name, int64_t size, ns_##view *values) { \
        const void *at = NULL;                                                                     \
        const bool there = read_array(self, name, kind, size, &at, &values->count);                \
        values->at = (const type *)at;                                                             \
        return there;                                                                              \
    }

READER(u8s, uint8_t, NS_TYPE_U8)
READER(i32s, int32_t, NS_TYPE_I32)
READER(u32s, uint32_t, NS_TYPE_U32)
READER(i64s, int64_t, NS_TYPE_I64)
READER(u64s, uint64_t, NS_TYPE_U64)

/* Return a word whose highest bit is set if and only if `value` is out of bounds. A loop over this function has no
 * branch and, if the bounds are less than 2^63 apart, no 64-bit comparison, which vector units of older processors
 * lack. In this case a value out of bounds makes one of the two differences, modulo 2^64, at least 2^63. */
static inline uint64_t beyond(int64_t value, int64_t low, int64_t high) {
    const bool narrow = (uint64_t)high - (uint64_t)low <= INT64_MAX;
    if (!narrow) return (uint64_t)(value < low || value > high) << 63;
    return ((uint64_t)value - (uint64_t)low) | ((uint64_t)high - (uint64_t)value);
}

/* The first loop finds out whether a value is out of bounds; if so, the second loop finds the first such value. */
#define BOUNDS(view)                                                                                                   \
    bool ns_require_##view(ns_plan_reader *self, const char *name, ns_##view values, int64_t low, int64_t high) {      \
        uint64_t signs = 0;                                                                                            \
        for (uint64_t i = 0; i < values.count; i++) signs |= beyond((int64_t)values.at[i], low, high);                 \
        if (!(signs >> 63)) return true;                                                                               \
        uint64_t i = 0;                                                                                                \
        while (low <= (int64_t)values.at[i] && (int64_t)values.at[i] <= high) i++;                                     \
        return ns_plan_require(                                                                                        \
            self, false, "%s has a value out of bounds: %" PRId64 " at %" PRIu64 ", not from %" PRId64 " to %" PRId64, \
            name, (int64_t)values.at[i], i, low, high);                                                                \
    }

BOUNDS(u8s)
BOUNDS(i32s)
BOUNDS(u32s)
BOUNDS(i64s)

/* The highest bit of `signs` becomes 1 if a value is negative, or less than the value before. */
#define POINTER(kind, view)                                                                                     \
    bool ns_require_##kind##_pointer(ns_plan_reader *self, const char *name, ns_##view values, int64_t end) {   \
        const bool ends = values.count > 0 && values.at[0] == 0 && (int64_t)values.at[values.count - 1] == end; \
        uint64_t signs = 0;                                                                                     \
        for (uint64_t i = 1; i < values.count; i++) {                                                           \
            signs |= (uint64_t)values.at[i] | ((uint64_t)values.at[i] - (uint64_t)values.at[i - 1]);            \
        }                                                                                                       \
        return ns_plan_require(self, ends && !(signs >> 63), "%s does not run from 0 to %" PRId64, name, end);  \
    }

POINTER(u32, u32s)
POINTER(i64, i64s)

bool ns_require_full(ns_plan_reader *self, const char *name, uint64_t count, int64_t size) {
    return ns_plan_require(self, !count || count == (uint64_t)size,
                           "%s has %" PRIu64 " entries instead of %" PRId64 " or none", name, count, size);
}

bool ns_require_countable(ns_plan_reader *self, const char *name, uint64_t count) {
    return ns_plan_require(self, count <= UINT32_MAX, "%s has too many entries", name);
}

bool ns_read_i64_lists(ns_plan_reader *self, const char *name, int64_t count, int64_t size, int64_t low, int64_t high,
                       ns_i64_lists *lists) {
    if (!ns_read_count(self, name, count, &lists->count)) return false;
    ns_i64s *made = ns_plan_reader_take(self, lists->count, sizeof *made);
    lists->at = made;
    for (uint64_t i = 0; made && i < lists->count; i++) {
        char entry[64];
        snprintf(entry, sizeof entry, "%s.%" PRIu64, name, i);
        if (!ns_read_i64s(self, entry, NS_ANY_SIZE, &made[i]) || !ns_require_i64s(self, entry, made[i], low, high) ||
            !ns_require_full(self, entry, made[i].count, size)) {
            return false;
        }
    }
    return made != NULL;
}

bool ns_read_records(ns_plan_reader *self, const char *name, size_t record_bytes, size_t alignment,
                     const void **records, uint32_t *count) {
    ns_u8s bytes;
    if (!ns_read_u8s(self, name, NS_ANY_SIZE, &bytes)) return false;
    const bool whole = bytes.count % record_bytes == 0 && (uintptr_t)bytes.at % alignment == 0;
    *records = bytes.at;
    *count = (uint32_t)(bytes.count / record_bytes);
    return ns_plan_require(self, whole, "%s is not made of whole, aligned records", name) &&
           ns_require_countable(self, name, bytes.count / record_bytes);
}
