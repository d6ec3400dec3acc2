/* Checked reading of a plan. The reader checks the type, size and bounds of every array, and the bounds of every
 * integer.
 *
 * An `ns_plan_source` gives the fields. Behind it is a dict of arrays or a file. The functions for the structures of
 * the schema (numasim/schema/plan_fields.py) are generated, and call the functions below. A function that finds a
 * mistake returns false, and reading stops. The reader keeps the first mistake, with a sentence about it. */
#pragma once

#include "base/pieces.h"
#include "generated/plan_structs.h"

enum ns_field_type { NS_TYPE_U8, NS_TYPE_I32, NS_TYPE_U32, NS_TYPE_I64, NS_TYPE_U64 };

/* Functions that look up fields by name. Field `name` of entry i of list `list` is called list.i.name. Returned values
 * live as long as the source. */
typedef struct ns_plan_source {
    void *context;
    bool (*array)(void *context, const char *name, enum ns_field_type type, const void **values, uint64_t *count);
    bool (*integer)(void *context, const char *name, int64_t *value); /* a flag is the integer 0 or 1 */
    const char *(*text)(void *context, const char *name);             /* NULL if there is no such text */
    bool (*count)(void *context, const char *name, uint64_t *count);  /* the length of a list */
} ns_plan_source;

enum ns_plan_mistake { NS_PLAN_SOUND, NS_PLAN_WRONG, NS_PLAN_NO_MEMORY };

typedef struct ns_plan_reader {
    ns_plan_source source;
    enum ns_plan_mistake mistake;
    char problem[192];
    char place[96];   /* the name of the list entry that is being read, followed by a dot */
    ns_pieces memory; /* of the plan; the caller releases it */
} ns_plan_reader;

/* Read a whole plan. Returns false if there is a mistake. */
bool ns_full_plan_read(ns_plan_reader *self, ns_full_plan *plan);

/* Keep a mistake, described by `sentence` as in printf, unless an earlier mistake is kept. Returns false. */
bool ns_plan_refuse(ns_plan_reader *self, const char *sentence, ...) __attribute__((format(printf, 2, 3), cold));

/* Return `holds`, and keep a mistake if `holds` is false. A macro, because a call for each op would be slow. */
#define ns_plan_require(self, holds, ...) ((holds) || ns_plan_refuse(self, __VA_ARGS__))

/* Return memory of zeros for `count` things of `bytes` bytes each, or NULL if there is no memory. */
void *ns_plan_reader_take(ns_plan_reader *self, uint64_t count, size_t bytes);

/* ---- used by generated functions --------------------------------------------------------------------------------- */

enum { NS_ANY_SIZE = -1 };

bool ns_read_integer(ns_plan_reader *self, const char *name, int64_t low, int64_t high, int64_t *value);
bool ns_read_flag(ns_plan_reader *self, const char *name, bool *value);

/* Read a text and find its position among `words`. */
bool ns_read_choice(ns_plan_reader *self, const char *name, const char *const *words, uint32_t count, uint32_t *at);

/* Read the length of a list. The length is `size`, or any length if `size` is NS_ANY_SIZE. */
bool ns_read_count(ns_plan_reader *self, const char *name, int64_t size, uint64_t *count);

/* Read the fields of entry `index` of list `name` until `ns_plan_reader_leave` is called with the returned value. */
size_t ns_plan_reader_enter(ns_plan_reader *self, const char *name, uint64_t index);
void ns_plan_reader_leave(ns_plan_reader *self, size_t place);

bool ns_read_u8s(ns_plan_reader *self, const char *name, int64_t size, ns_u8s *values);
bool ns_read_i32s(ns_plan_reader *self, const char *name, int64_t size, ns_i32s *values);
bool ns_read_u32s(ns_plan_reader *self, const char *name, int64_t size, ns_u32s *values);
bool ns_read_i64s(ns_plan_reader *self, const char *name, int64_t size, ns_i64s *values);
bool ns_read_u64s(ns_plan_reader *self, const char *name, int64_t size, ns_u64s *values);

/* Read `count` arrays, each empty or of `size` entries from `low` to `high`. */
bool ns_read_i64_lists(ns_plan_reader *self, const char *name, int64_t count, int64_t size, int64_t low, int64_t high,
                       ns_i64_lists *lists);

/* Read an array of records of `record_bytes` bytes each, which the source has as an array of bytes. */
bool ns_read_records(ns_plan_reader *self, const char *name, size_t record_bytes, size_t alignment,
                     const void **records, uint32_t *count);

bool ns_require_u8s(ns_plan_reader *self, const char *name, ns_u8s values, int64_t low, int64_t high);
bool ns_require_i32s(ns_plan_reader *self, const char *name, ns_i32s values, int64_t low, int64_t high);
bool ns_require_u32s(ns_plan_reader *self, const char *name, ns_u32s values, int64_t low, int64_t high);
bool ns_require_i64s(ns_plan_reader *self, const char *name, ns_i64s values, int64_t low, int64_t high);

/* Require that the values begin with 0, never decrease and end with `end`. */
bool ns_require_u32_pointer(ns_plan_reader *self, const char *name, ns_u32s values, int64_t end);
bool ns_require_i64_pointer(ns_plan_reader *self, const char *name, ns_i64s values, int64_t end);

/* Require that an array has no entries or `size` entries. */
bool ns_require_full(ns_plan_reader *self, const char *name, uint64_t count, int64_t size);

/* Require that an array has fewer than 2^32 entries. */
bool ns_require_countable(ns_plan_reader *self, const char *name, uint64_t count);
