/* Checked reading of a plan: a compiled strategy and program, as named fields. The reader checks the type, size and
 * bounds of every array, and the bounds of every integer. The fields come from an `ns_plan_source`: a Python dict of
 * arrays, or a file. The functions for the structures of the schema (numasim/schema/plan_fields.py) are generated, and
 * call the functions below. All functions of type bool return false after a mistake; the reader keeps the first
 * mistake, with a sentence about it, and reading stops. */
#pragma once

#include "base/pieces.h"
#include "generated/plan_structs.h"

enum ns_field_type { NS_TYPE_U8, NS_TYPE_I32, NS_TYPE_U32, NS_TYPE_I64, NS_TYPE_U64 };

/* Functions that look up a field by its name. The name of field `name` in entry i of list `list` is list.i.name. Values
 * are valid as long as the source. Functions of type bool return false if there is no such field of this type. */
typedef struct ns_plan_source {
    void *context;
    bool (*array)(void *context, const char *name, enum ns_field_type type, const void **values, uint64_t *count);
    bool (*integer)(void *context, const char *name, int64_t *value); /* also for flags, which are 0 or 1 */
    const char *(*text)(void *context, const char *name);             /* NULL if there is no such text */
    bool (*count)(void *context, const char *name, uint64_t *count);  /* finds the length of a list */
} ns_plan_source;

enum ns_plan_mistake { NS_PLAN_SOUND, NS_PLAN_WRONG, NS_PLAN_NO_MEMORY };

typedef struct ns_plan_reader {
    ns_plan_source source;
    enum ns_plan_mistake mistake;
    char problem[192]; /* the sentence about the mistake */
    char place[96];    /* the name of the list entry that is being read, followed by a dot */
    ns_pieces memory;  /* memory of the plan; the caller releases it */
} ns_plan_reader;

/* Read a whole plan. */
bool ns_full_plan_read(ns_plan_reader *self, ns_full_plan *plan);

/* Record a mistake with the sentence `sentence`, as in printf, unless an earlier mistake is recorded. Returns false. */
bool ns_plan_refuse(ns_plan_reader *self, const char *sentence, ...) __attribute__((format(printf, 2, 3), cold));

/* Return `holds`, and record a mistake if `holds` is false. A macro, because calls in loops would be slow. */
#define ns_plan_require(self, holds, ...) ((holds) || ns_plan_refuse(self, __VA_ARGS__))

/* Return memory of zeros for `count` things of `bytes` bytes each, or NULL if there is no memory. */
void *ns_plan_reader_take(ns_plan_reader *self, uint64_t count, size_t bytes);

/* ---- used by generated functions --------------------------------------------------------------------------------- */

enum { NS_ANY_SIZE = -1 };

bool ns_read_integer(ns_plan_reader *self, const char *name, int64_t low, int64_t high, int64_t *value);
bool ns_read_flag(ns_plan_reader *self, const char *name, bool *value);

/* Read a text, and set `*at` to its position among the `count` words. A text that is not among them is a mistake. */
bool ns_read_choice(ns_plan_reader *self, const char *name, const char *const *words, uint32_t count, uint32_t *at);

/* Read the length of a list, which must be `size` unless `size` is NS_ANY_SIZE. */
bool ns_read_count(ns_plan_reader *self, const char *name, int64_t size, uint64_t *count);

/* Make all following reads read fields of entry `index` of list `name`, until `ns_plan_reader_leave` is called with the
 * value that ns_plan_reader_enter returns. */
size_t ns_plan_reader_enter(ns_plan_reader *self, const char *name, uint64_t index);
void ns_plan_reader_leave(ns_plan_reader *self, size_t place);

/* Read an array of `size` entries, or of any length if `size` is NS_ANY_SIZE. */
bool ns_read_u8s(ns_plan_reader *self, const char *name, int64_t size, ns_u8s *values);
bool ns_read_i32s(ns_plan_reader *self, const char *name, int64_t size, ns_i32s *values);
bool ns_read_u32s(ns_plan_reader *self, const char *name, int64_t size, ns_u32s *values);
bool ns_read_i64s(ns_plan_reader *self, const char *name, int64_t size, ns_i64s *values);
bool ns_read_u64s(ns_plan_reader *self, const char *name, int64_t size, ns_u64s *values);

/* Read a list of `count` arrays. Each array is empty or has `size` entries; the entries are from `low` to `high`. */
bool ns_read_i64_lists(ns_plan_reader *self, const char *name, int64_t count, int64_t size, int64_t low, int64_t high,
                       ns_i64_lists *lists);

/* Read an array of records of `record_bytes` bytes each. The source has the array as an array of bytes. */
bool ns_read_records(ns_plan_reader *self, const char *name, size_t record_bytes, size_t alignment,
                     const void **records, uint32_t *count);

/* Require that all values are from `low` to `high`. */
bool ns_require_u8s(ns_plan_reader *self, const char *name, ns_u8s values, int64_t low, int64_t high);
bool ns_require_i32s(ns_plan_reader *self, const char *name, ns_i32s values, int64_t low, int64_t high);
bool ns_require_u32s(ns_plan_reader *self, const char *name, ns_u32s values, int64_t low, int64_t high);
bool ns_require_i64s(ns_plan_reader *self, const char *name, ns_i64s values, int64_t low, int64_t high);

/* Require that the values begin with 0, never decrease and end with `end`. */
bool ns_require_u32_pointer(ns_plan_reader *self, const char *name, ns_u32s values, int64_t end);
bool ns_require_i64_pointer(ns_plan_reader *self, const char *name, ns_i64s values, int64_t end);

/* Require that the number `count` of entries of an array is 0 or `size`. */
bool ns_require_full(ns_plan_reader *self, const char *name, uint64_t count, int64_t size);

/* Require that the number `count` of entries of an array is less than 2^32. */
bool ns_require_countable(ns_plan_reader *self, const char *name, uint64_t count);
