/* Checked reading of a plan: every array is held against its type, size and bounds, every integer against its bounds.
 *
 * Where the fields come from is a `ns_plan_source`: a dict of arrays, or a file. The functions that are named by the
 * schema (numasim/schema/plan_fields.py) are generated; they use those below. The first mistake is kept, with a
 * sentence about it; whoever finds one returns false, and nobody goes on.
 */
#ifndef NUMASIM_PLAN_READER_H
#define NUMASIM_PLAN_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "generated/plan_structs.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ns_field_type { NS_TYPE_U8, NS_TYPE_I32, NS_TYPE_U32, NS_TYPE_I64, NS_TYPE_U64 };

/* Fields by name. That of the entry i of a list is list.i.name; what is found lives as long as the source. */
typedef struct ns_plan_source {
    void *context;
    bool (*array)(void *context, const char *name, enum ns_field_type type, const void **values, uint64_t *count);
    bool (*integer)(void *context, const char *name, int64_t *value); /* of a flag 0 or 1 */
    const char *(*text)(void *context, const char *name);             /* NULL: there is none */
    bool (*count)(void *context, const char *name, uint64_t *count);  /* how many entries a list has */
} ns_plan_source;

enum ns_plan_mistake { NS_PLAN_SOUND, NS_PLAN_WRONG, NS_PLAN_NO_MEMORY };

typedef struct ns_plan_reader {
    ns_plan_source source;
    enum ns_plan_mistake mistake;
    char problem[192];
    char place[96];  /* of the entry that is read, with a dot behind it */
    void *allocated; /* what has been computed: it lives until ns_plan_reader_destroy */
} ns_plan_reader;

/* Read all of a plan: false where there is a mistake. */
bool ns_full_plan_read(ns_plan_reader *self, ns_full_plan *plan);

void ns_plan_reader_destroy(ns_plan_reader *self);

/* Keep a mistake, as printf does, if it is the first one; false. */
bool ns_plan_refuse(ns_plan_reader *self, const char *sentence, ...) __attribute__((format(printf, 2, 3), cold));

/* Keep a mistake unless `holds`; whether it does. No call where it does: that is asked of every op of a graph. */
#define ns_plan_require(self, holds, ...) ((holds) || ns_plan_refuse(self, __VA_ARGS__))

/* Memory for so many things, all zero, or NULL. */
void *ns_plan_reader_take(ns_plan_reader *self, uint64_t count, size_t bytes);

/* ---- used by what is generated ----------------------------------------------------------------------------------- */

enum { NS_ANY_SIZE = -1 };

bool ns_read_integer(ns_plan_reader *self, const char *name, int64_t low, int64_t high, int64_t *value);
bool ns_read_flag(ns_plan_reader *self, const char *name, bool *value);

/* The position of a text among `words`. */
bool ns_read_choice(ns_plan_reader *self, const char *name, const char *const *words, uint32_t count, uint32_t *at);

/* The number of entries of a list; `size` of them, or any number. */
bool ns_read_count(ns_plan_reader *self, const char *name, int64_t size, uint64_t *count);

/* Fields are now those of entry `index` of a list; what ns_plan_reader_leave takes to go back. */
size_t ns_plan_reader_enter(ns_plan_reader *self, const char *name, uint64_t index);
void ns_plan_reader_leave(ns_plan_reader *self, size_t place);

bool ns_read_u8s(ns_plan_reader *self, const char *name, int64_t size, ns_u8s *values);
bool ns_read_i32s(ns_plan_reader *self, const char *name, int64_t size, ns_i32s *values);
bool ns_read_u32s(ns_plan_reader *self, const char *name, int64_t size, ns_u32s *values);
bool ns_read_i64s(ns_plan_reader *self, const char *name, int64_t size, ns_i64s *values);
bool ns_read_u64s(ns_plan_reader *self, const char *name, int64_t size, ns_u64s *values);

/* `count` arrays, each empty or of `size` entries from `low` to `high`. */
bool ns_read_i64_lists(ns_plan_reader *self, const char *name, int64_t count, int64_t size, int64_t low, int64_t high,
                       ns_i64_lists *lists);

/* Records of so many bytes each, which are given as bytes. */
bool ns_read_records(ns_plan_reader *self, const char *name, size_t record_bytes, size_t alignment,
                     const void **records, uint32_t *count);

bool ns_require_u8s(ns_plan_reader *self, const char *name, ns_u8s values, int64_t low, int64_t high);
bool ns_require_i32s(ns_plan_reader *self, const char *name, ns_i32s values, int64_t low, int64_t high);
bool ns_require_u32s(ns_plan_reader *self, const char *name, ns_u32s values, int64_t low, int64_t high);
bool ns_require_i64s(ns_plan_reader *self, const char *name, ns_i64s values, int64_t low, int64_t high);

/* They begin at 0, never fall and end at `end`. */
bool ns_require_u32_pointer(ns_plan_reader *self, const char *name, ns_u32s values, int64_t end);
bool ns_require_i64_pointer(ns_plan_reader *self, const char *name, ns_i64s values, int64_t end);

/* An array has fewer than 2^32 entries. */
bool ns_require_countable(ns_plan_reader *self, const char *name, uint64_t count);

#ifdef __cplusplus
}
#endif

#endif
