/* A kernel: a program for the runtime beside a serial twin, whose results are compared.
 *
 * A state is created for each run, with its input. The objects and words of the state are registered with a pool, the
 * program runs in the pool, the serial twin runs on the calling thread, and the results of both are compared.
 */
#ifndef NS_KERNEL_H
#define NS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "numasim/runtime.h"

enum ns_parameter_kind {
    NS_INTEGER,
    NS_CHOICE,   /* one of some names; the value is the number of the name */
    NS_TIME,     /* nanoseconds with at most three decimals; the value is in picoseconds */
    NS_FRACTION, /* from 0 to 1; the value is in units of 10^-18 */
    NS_PATH      /* of a file; the value is text */
};

typedef struct {
    const char *name;
    enum ns_parameter_kind kind;
    const char *otherwise; /* the default */
    int64_t low, high;     /* of integers; of times, in picoseconds */
    const char *choices;   /* names with blanks between them */
    const char *meaning;
    size_t field; /* where in a state the value is, as int64_t; of a path, the text, as const char * */
} ns_parameter;

#define NS_AT(field) offsetof(state, field)

typedef struct {
    int64_t number;
    const char *text;
    bool given; /* whether the user has set the value; if not, the value is the default */
} ns_value;

/* The parameters of a state. */
typedef struct {
    const ns_value *values; /* in the order of the kernel's parameters */
    uint32_t workers;
    bool waits;        /* whether delays pass time; delays that are only declared need not */
    char problem[256]; /* why no state can be created */
} ns_setting;

/* A block of memory. A block with a name is an object that tasks share; the id of the object goes to `*object`. */
typedef struct {
    void *address;
    int64_t bytes;
    const char *name;
    uint32_t *object;
} ns_state_piece;

enum { NS_MOST_PIECES = 8 };

/* The memory of a state. Every state begins with this struct, and the memory is released with the state. */
typedef struct {
    int64_t objects; /* whether objects are registered and accesses are declared */
    uint32_t count;
    ns_state_piece piece[NS_MOST_PIECES];
} ns_state_memory;

typedef struct {
    const char *name, *meaning;
    const ns_parameter *parameters; /* up to one without a name */
    size_t state_bytes;             /* of a state, which begins with an `ns_state_memory` */
    /* Fill a state of zeros and of the parameters' values, or NULL. 0 or a negative error code. */
    int (*create)(void *state, ns_setting *setting);
    int (*attach)(void *state, ns_pool *pool); /* register the words of the state; may be NULL */
    ns_body *root;                          /* the task that the kernel runs, whose argument is the state's address; */
    ns_body *part;                          /* or the part that each worker runs; */
    int (*run)(void *state, ns_pool *pool); /* or a function that runs the tasks */
    void (*run_twin)(void *state);
    bool (*matches)(const void *state);
    void (*release)(void *state); /* release what is not in the state's memory, however far `create` came; or NULL */
} ns_kernel;

/* All kernels in the order of their names, up to NULL. The build makes this table from the sources in this folder: a
 * kernel is a `const ns_kernel ns_<name>_kernel` at the beginning of a line. */
extern const ns_kernel *const NS_KERNELS[];

/* A parameter of kernels that share memory. */
#define NS_OBJECTS_MEANING "whether memory that tasks share is registered and accesses are declared"
#define NS_OBJECTS_PARAMETER {"objects", NS_INTEGER, "1", 0, 1, NULL, NS_OBJECTS_MEANING, NS_AT(memory.objects)}

/* Say why no state can be created; returns NS_ERROR_OPTION. */
int ns_setting_refuse(ns_setting *self, const char *sentence, ...) __attribute__((format(printf, 2, 3)));

/* Allocate memory that begins with a cache line, without touching the pages. Returns NULL where memory is short. */
void *ns_state_take(ns_state_memory *self, int64_t bytes);
void *ns_state_share(ns_state_memory *self, int64_t bytes, const char *name, uint32_t *object);

/* Create a state, register its objects and words, run the kernel, and destroy the state. 0 or a negative error code. */
int ns_state_create(void **made, const ns_kernel *kernel, ns_setting *setting);
int ns_state_attach(void *state, const ns_kernel *kernel, ns_pool *pool);
int ns_state_run(void *state, const ns_kernel *kernel, ns_pool *pool);
void ns_state_destroy(void *state, const ns_kernel *kernel);

/* Create a word of `pool`; the id of the word goes to `*word`. */
int ns_word_attach(ns_pool *pool, const char *name, enum ns_word_role role, uint32_t owner, uint32_t parties,
                   uint32_t *word);

/* Return the time of `units` of work at `ps_per_1000`, rounded to the nearest, as numasim/workload/parameters.py
 * does.
 */
static inline int64_t ns_compute_ps(int64_t units, int64_t ps_per_1000) { return (units * ps_per_1000 + 500) / 1000; }

/* Return an access to `bytes` bytes in one piece. */
static inline ns_access ns_piece(uint32_t object, int64_t offset, int64_t bytes, enum ns_access_mode mode) {
    return (ns_access){
        .object = object, .passes = 1, .offset = offset, .row_bytes = bytes, .rows = 1, .mode = (uint8_t)mode};
}

/* Return an access to `rows` pieces of `row_bytes` bytes; pieces that touch are one piece. */
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
