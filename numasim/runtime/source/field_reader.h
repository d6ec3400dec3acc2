/* Checked reading of a plan's fields: every array is held against its size and bounds, every integer against its
 * bounds.
 *
 * The first mistake is kept, with a sentence about it; what is read after it is NULL, zero or the least value allowed.
 */
#ifndef NS_FIELD_READER_H
#define NS_FIELD_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "../../schema/generated/enumerations.h"
#include "fields.h"

#define NS_ANY_COUNT UINT64_MAX

typedef struct {
    const ns_fields *fields;
    int error; /* NS_OK until something is wrong */
    char problem[160];
} ns_field_reader;

static inline ns_field_reader ns_field_reader_of(const ns_fields *fields) {
    return (ns_field_reader){.fields = fields};
}

/* Keep a mistake, as printf does, unless there is one already or `holds`; whether all has been well so far. */
bool ns_field_reader_require(ns_field_reader *self, bool holds, const char *sentence, ...)
    __attribute__((format(printf, 3, 4)));

int64_t ns_field_reader_integer(ns_field_reader *self, const char *name, int64_t low, int64_t high);
bool ns_field_reader_flag(ns_field_reader *self, const char *name);

/* The position of the text `name` in `names`. */
uint32_t ns_field_reader_choice(ns_field_reader *self, const char *name, const char *const *names, uint32_t count);

/* The array `name` of `size` entries, or of any number, which `*count` (if not NULL) is told. */
const void *ns_field_reader_array(ns_field_reader *self, const char *name, enum ns_field_kind kind, uint64_t size,
                                  uint64_t *count);

/* Such an array of i32 or i64 whose entries are from `low` to `high`. */
const int32_t *ns_field_reader_i32(ns_field_reader *self, const char *name, uint64_t size, int64_t low, int64_t high,
                                   uint64_t *count);
const int64_t *ns_field_reader_i64(ns_field_reader *self, const char *name, uint64_t size, int64_t low, int64_t high,
                                   uint64_t *count);

/* A CSR pointer of i64 with `size` entries, or any number: it begins at 0, never falls and ends at `end`. */
const int64_t *ns_field_reader_offsets(ns_field_reader *self, const char *name, uint64_t size, uint64_t end);

/* Records of `record_bytes` bytes each, which files hold as bytes. */
const void *ns_field_reader_records(ns_field_reader *self, const char *name, uint64_t record_bytes, uint64_t *count);

/* A CSR pointer: it begins at 0, never falls and ends at `end`. */
void ns_field_reader_pointer(ns_field_reader *self, const char *name, const uint32_t *pointer, uint64_t count,
                             uint64_t end);

#endif
