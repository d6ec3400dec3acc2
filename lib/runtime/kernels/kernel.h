/* What a kernel is: a program for the runtime beside a serial twin, whose results are compared.
 *
 * A state is made for each run, with its input; its objects and words are registered with a pool; the program runs
 * there, its serial twin runs on the calling thread, and what both made of the input is compared.
 */
#ifndef NS_KERNEL_H
#define NS_KERNEL_H

#include <stdbool.h>

#include "numasim/runtime.h"

enum ns_parameter_kind {
    NS_INTEGER,
    NS_CHOICE,   /* one of some names; its number */
    NS_TIME,     /* nanoseconds with at most three decimals; picoseconds */
    NS_FRACTION, /* from 0 to 1; in units of 10^-18 */
    NS_PATH      /* of a file; text */
};

typedef struct {
    const char *name;
    enum ns_parameter_kind kind;
    const char *otherwise; /* its default */
    int64_t low, high;     /* of integers; of times, in picoseconds */
    const char *choices;   /* names with blanks between them */
    const char *meaning;
} ns_parameter;

typedef struct {
    int64_t number;
    const char *text;
    bool given; /* or else the default */
} ns_value;

/* What a state is made of. */
typedef struct {
    const ns_value *values; /* in the order of the kernel's parameters */
    uint32_t workers;
    bool waits;        /* delays pass time; where time is declared, they need not */
    char problem[256]; /* why a state cannot be made */
} ns_setting;

typedef struct {
    const char *name, *meaning;
    const ns_parameter *parameters;                   /* up to one without a name */
    int (*create)(void **state, ns_setting *setting); /* 0 or a negative error code */
    int (*attach)(void *state, ns_pool *pool);        /* register its objects and words; may be NULL */
    int (*run)(void *state, ns_pool *pool);
    void (*run_twin)(void *state);
    bool (*matches)(const void *state);
    void (*destroy)(void *state);
} ns_kernel;

/* All kernels in the order of their names, up to NULL: the build makes this table from the sources in this folder, of
 * which each defines one `const ns_kernel ns_<name>_kernel` at the beginning of a line, or none. */
extern const ns_kernel *const NS_KERNELS[];

/* A parameter of kernels that share memory. */
#define NS_OBJECTS_PARAMETER \
    {"objects", NS_INTEGER, "1", 0, 1, NULL, "whether memory that tasks share is registered and accesses are declared"}

/* Say why a state cannot be made; returns NS_ERROR_OPTION. */
int ns_setting_refuse(ns_setting *self, const char *sentence, ...) __attribute__((format(printf, 2, 3)));

/* Register an object of `pool`; its id goes to `*object`. */
int ns_object_attach(ns_pool *pool, const char *name, void *address, int64_t bytes, uint32_t *object);

/* Register a word of `pool`; its id goes to `*word`. */
int ns_word_attach(ns_pool *pool, const char *name, enum ns_word_role role, uint32_t owner, uint32_t parties,
                   uint32_t *word);

/* `units` of work at `ps_per_1000`, rounded to the nearest, as numasim/workload/kernel_rates.py does. */
static inline int64_t ns_compute_ps(int64_t units, int64_t ps_per_1000) { return (units * ps_per_1000 + 500) / 1000; }

/* An access to `bytes` bytes in one piece. */
static inline ns_access ns_piece(uint32_t object, int64_t offset, int64_t bytes, enum ns_access_mode mode) {
    return (ns_access){
        .object = object, .passes = 1, .offset = offset, .row_bytes = bytes, .rows = 1, .mode = (uint8_t)mode};
}

/* An access to `rows` pieces of `row_bytes` bytes; where they touch, it is one piece. */
static inline ns_access ns_rows(uint32_t object, int64_t offset, int64_t row_bytes, int64_t rows, int64_t stride,
                                enum ns_access_mode mode) {
    ns_access access = ns_piece(object, offset, row_bytes * rows, mode);
    if (stride != row_bytes && rows > 1) {
        access.row_bytes = row_bytes;
        access.rows = rows;
        access.stride = stride;
    }
    return access;
}

#endif
