/* A file of named arrays, as numasim/runtime/fields_file.py writes a compiled plan:
 *
 *     8 bytes  "NSFIELD1"
 *     u64      number of fields, n
 *     u64      Adler-32 checksum of all following bytes
 *     n times  char name[48], zero-padded; u32 kind; u32 zero; u64 count; u64 offset from the start of the file
 *     the arrays, each on a multiple of 8 bytes
 *
 * All numbers are little-endian. */
#pragma once

#include <stdint.h>

enum ns_field_kind { NS_FIELD_U8, NS_FIELD_I32, NS_FIELD_U32, NS_FIELD_I64, NS_FIELD_U64, NS_FIELD_TEXT };

typedef struct ns_fields ns_fields;

/* Read and check a file. Return 0, NS_ERROR_FILE, NS_ERROR_FORMAT or NS_ERROR_MEMORY. */
int ns_fields_read(ns_fields **self, const char *path);
void ns_fields_destroy(ns_fields *self);

/* Return the array `name` of kind `kind`, and the number of its entries. The array lives as long as `self`. Return NULL
 * if the file has no such array. */
const void *ns_fields_array(const ns_fields *self, const char *name, enum ns_field_kind kind, uint64_t *count);

/* Return the single number of the NS_FIELD_I64 array `name`; `otherwise` if the file has no such array. */
int64_t ns_fields_integer(const ns_fields *self, const char *name, int64_t otherwise);

/* Return the text of the NS_FIELD_TEXT array `name`, ended by a zero byte; "" if the file has no such array. */
const char *ns_fields_text(const ns_fields *self, const char *name);
