#include "fields.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numasim/runtime.h"

enum { NAME_BYTES = 48, HEADER_BYTES = 24, HASHED_FROM = 24 };
static const char MAGIC[8] = {'N', 'S', 'F', 'I', 'E', 'L', 'D', '1'};
static const uint64_t ENTRY_BYTES[] = {1, 4, 4, 8, 8, 1};

typedef struct {
    char name[NAME_BYTES];
    uint32_t kind, zero;
    uint64_t count, offset;
} field;
_Static_assert(sizeof(field) == 72, "as in the file");

struct ns_fields {
    uint64_t count;
    const field *field; /* [count] in `bytes` */
    char *bytes;
};

/* Return the Adler-32 checksum (RFC 1950): two sums modulo 65521, reduced often enough for 32 bits. */
static uint64_t adler32(const unsigned char *bytes, uint64_t count) {
    enum { MODULUS = 65521, UNREDUCED = 5552 };
    uint32_t low = 1, high = 0;
    for (uint64_t at = 0; at < count;) {
        const uint64_t end = count - at > UNREDUCED ? at + UNREDUCED : count;
        for (; at < end; at++) high += low += bytes[at];
        low %= MODULUS;
        high %= MODULUS;
    }
    return (uint64_t)high << 16 | low;
}

static uint64_t word_at(const char *bytes, uint64_t offset) {
    uint64_t word;
    memcpy(&word, bytes + offset, sizeof word);
    return word;
}

/* Return the contents of a file, or NULL and an error. */
static char *whole_file(const char *path, uint64_t *size, int *error) {
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    *error = NS_ERROR_FILE;
    if (!file) return NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        const long end = ftell(file);
        *size = end < 0 ? 0 : (uint64_t)end;
        rewind(file);
        bytes = malloc(*size + 8);
        if (!bytes) {
            *error = NS_ERROR_MEMORY;
        } else if (end < 0 || fread(bytes, 1, *size, file) != *size) {
            free(bytes);
            bytes = NULL;
        }
    }
    fclose(file);
    return bytes;
}

static bool is_sound(const field *one, uint64_t size) {
    const bool known = one->kind <= NS_FIELD_TEXT && one->offset % 8 == 0 && one->offset <= size;
    return known && one->count <= (size - one->offset) / ENTRY_BYTES[one->kind] && !one->name[NAME_BYTES - 1];
}

static bool are_sound(const char *bytes, uint64_t size) {
    if (size < HEADER_BYTES || memcmp(bytes, MAGIC, sizeof MAGIC) != 0) return false;
    const uint64_t count = word_at(bytes, 8);
    if (count > (size - HEADER_BYTES) / sizeof(field)) return false;
    if (word_at(bytes, 16) != adler32((const unsigned char *)bytes + HASHED_FROM, size - HASHED_FROM)) return false;
    for (uint64_t at = 0; at < count; at++) {
        field one;
        memcpy(&one, bytes + HEADER_BYTES + at * sizeof one, sizeof one);
        if (!is_sound(&one, size)) return false;
        if (one.kind == NS_FIELD_TEXT && (!one.count || bytes[one.offset + one.count - 1])) return false;
    }
    return true;
}

int ns_fields_read(ns_fields **self, const char *path) {
    uint64_t size = 0;
    int error;
    char *bytes = whole_file(path, &size, &error);
    if (!bytes) return error;
    ns_fields *made = malloc(sizeof *made);
    error = !made ? NS_ERROR_MEMORY : are_sound(bytes, size) ? NS_OK : NS_ERROR_FORMAT;
    if (error) {
        free(bytes);
        free(made);
        return error;
    }
    *made = (ns_fields){word_at(bytes, 8), (const field *)(const void *)(bytes + HEADER_BYTES), bytes};
    *self = made;
    return NS_OK;
}

void ns_fields_destroy(ns_fields *self) {
    if (!self) return;
    free(self->bytes);
    free(self);
}

static const field *find(const ns_fields *self, const char *name, enum ns_field_kind kind) {
    for (uint64_t at = 0; at < self->count; at++) {
        const field *one = &self->field[at];
        if (one->kind == (uint32_t)kind && strcmp(one->name, name) == 0) return one;
    }
    return NULL;
}

const void *ns_fields_array(const ns_fields *self, const char *name, enum ns_field_kind kind, uint64_t *count) {
    const field *one = find(self, name, kind);
    if (!one) return NULL;
    *count = one->count;
    return self->bytes + one->offset;
}

int64_t ns_fields_integer(const ns_fields *self, const char *name, int64_t otherwise) {
    const field *one = find(self, name, NS_FIELD_I64);
    return one && one->count == 1 ? (int64_t)word_at(self->bytes, one->offset) : otherwise;
}

const char *ns_fields_text(const ns_fields *self, const char *name) {
    const field *one = find(self, name, NS_FIELD_TEXT);
    return one ? self->bytes + one->offset : "";
}
