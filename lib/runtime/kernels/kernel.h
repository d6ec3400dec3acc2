/* A kernel: a program for the runtime together with its serial twin, a serial program with the same result.
 *
 * Each run creates a state with its input, registers the state's objects and words (synchronisation objects) with a
 * pool, runs the program in the pool, runs the serial twin on the calling thread, and compares the two results. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "numasim/runtime.h"

enum ns_parameter_kind {
    NS_INTEGER,
    NS_CHOICE,  /* one of several names; the value is the index of the name */
    NS_TIME,    /* nanoseconds with at most three decimals; the value is in picoseconds */
    NS_FRACTION /* from 0 to 1; the value is in units of 10^-18 */
};

typedef struct {
    const char *name;
    enum ns_parameter_kind kind;
    const char *otherwise;      /* the default, as text */
    int64_t low, high;          /* bounds of an integer; of a time, in picoseconds */
    const char *const *choices; /* the names of a choice, ended by NULL */
    const char *meaning;
    size_t field; /* offset of the value in a state, where the value is an int64_t */
} ns_parameter;

#define NS_AT(field) offsetof(state, field)
#define NS_CHOICES(...) \
    (const char *const[]) { __VA_ARGS__, NULL }

typedef struct {
    int64_t number;
    bool given; /* whether the user has set the value; otherwise the value is the default */
} ns_value;

/* The input from which a state is created. */
typedef struct {
    const ns_value *values; /* in the order of the kernel's parameters */
    uint32_t workers;
    bool waits;        /* whether delays take real time, and are not only declared to the runtime */
    char problem[256]; /* why no state can be created */
} ns_setting;

/* A block of memory of a state. A block with a name is an object that tasks share: ns_state_attach registers the
 * object, and stores its id in `*object`. */
typedef struct {
    void *address;
    int64_t bytes;
    const char *name;
    uint32_t *object;
} ns_state_piece;

enum { NS_MOST_PIECES = 8 };

/* The memory of a state. Every state begins with this struct. The memory is released together with the state. */
typedef struct {
    int64_t objects; /* whether objects are registered and accesses are declared */
    uint32_t count;
    ns_state_piece piece[NS_MOST_PIECES];
} ns_state_memory;

typedef struct {
    const char *name, *meaning;
    const ns_parameter *parameters;
    int parameter_count;
    size_t state_bytes; /* size of a state, which begins with an `ns_state_memory` */
    /* Fill a state that has the parameters' values and is otherwise zero; may be NULL. Return 0 or a negative error
     * code. */
    int (*create)(void *state, ns_setting *setting);
    int (*attach)(void *state, ns_pool *pool); /* register the state's words; may be NULL */
    ns_body *root;                             /* either the root task, whose argument is the state's address, */
    ns_body *part;                             /* or the function that each worker runs, with the same argument, */
    int (*run)(void *state, ns_pool *pool);    /* or a function that runs tasks in the pool */
    void (*run_twin)(void *state);             /* run the serial twin */
    bool (*matches)(const void *state);        /* whether the result equals the result of the twin */
    void (*release)(void *state); /* release memory that `state` holds outside ns_state_memory, even after a failed
                                     `create`; may be NULL */
} ns_kernel;

/* The fields that have the same names in all kernels. */
#define NS_KERNEL_COMMON                                                                                               \
    .parameters = PARAMETERS, .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS, .state_bytes = sizeof(state), \
    .run_twin = run_twin, .matches = matches

/* All kernels in the order of their names, ended by NULL. The build makes this table from the sources in this folder.
 * Each kernel is a `const ns_kernel ns_<name>_kernel` at the beginning of a line. */
extern const ns_kernel *const NS_KERNELS[];

/* The kernel of the command `numasim-runtime plan`, which is not in the table (plan.c). */
extern const ns_kernel NS_PLAN_KERNEL;

/* The text of the parameter `objects`, which all kernels with shared memory have. */
#define NS_OBJECTS_MEANING "whether memory that tasks share is registered and accesses are declared"
#define NS_OBJECTS_PARAMETER {"objects", NS_INTEGER, "1", 0, 1, NULL, NS_OBJECTS_MEANING, NS_AT(memory.objects)}

/* Store a sentence, formatted as by printf, that says why no state can be created. Return NS_ERROR_OPTION. */
int ns_setting_refuse(ns_setting *self, const char *sentence, ...) __attribute__((format(printf, 2, 3)));

/* Allocate a block aligned to a cache line, without touching its pages; ns_state_share: a block with a name. Return
 * NULL if memory is short. */
void *ns_state_take(ns_state_memory *self, int64_t bytes);
void *ns_state_share(ns_state_memory *self, int64_t bytes, const char *name, uint32_t *object);

/* ns_state_spawn spawns a task, and declares `count` accesses of its first segment (the work between two calls of the
 * library). ns_state_declare declares `count` accesses of the running segment. With `objects` == 0 none is declared. */
void ns_state_spawn(ns_task *self, const ns_state_memory *memory, ns_body *body, const void *arguments, size_t bytes,
                    const ns_access *accesses, uint32_t count);
void ns_state_declare(ns_task *self, const ns_state_memory *memory, const ns_access *accesses, uint32_t count);

/* In this order: create a state; register its objects and words; run the kernel; destroy the state. The functions
 * return 0 or a negative error code. */
int ns_state_create(void **made, const ns_kernel *kernel, ns_setting *setting);
int ns_state_attach(void *state, const ns_kernel *kernel, ns_pool *pool);
int ns_state_run(void *state, const ns_kernel *kernel, ns_pool *pool);
void ns_state_destroy(void *state, const ns_kernel *kernel);

/* Create a word (synchronisation object) of `pool`. The id of the word goes to `*word`. */
int ns_word_attach(ns_pool *pool, const char *name, enum ns_word_role role, uint32_t owner, uint32_t parties,
                   uint32_t *word);

/* Return the time of `units` of work at the rate `ps_per_1000`, rounded to the nearest ps
 * (numasim/workload/parameters.py). */
static inline int64_t ns_compute_ps(int64_t units, int64_t ps_per_1000) { return (units * ps_per_1000 + 500) / 1000; }

/* Return an access to one piece of `bytes` bytes. */
static inline ns_access ns_piece(uint32_t object, int64_t offset, int64_t bytes, enum ns_access_mode mode) {
    return (ns_access){
        .object = object, .passes = 1, .offset = offset, .row_bytes = bytes, .rows = 1, .mode = (uint8_t)mode};
}

/* Return an access to `rows` pieces of `row_bytes` bytes. Adjacent pieces become one piece. */
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

/* ---- delays that keep a processor busy for a given time, as the delays of EPCC's benchmarks do ------------------- */

/* Return how many iterations of the loop in `ns_delay_take` take a millisecond of CPU time: the largest number of
 * several trials. A process measures this number once, so that equal delays of the process have equal lengths. */
int64_t ns_delay_calibrate(void);

/* Keep the processor busy for about `picoseconds`, by a loop of which `turns_per_ms` iterations take a millisecond. */
static inline void ns_delay_take(int64_t turns_per_ms, int64_t picoseconds) {
    int64_t turns = (int64_t)((double)picoseconds * 1e-9 * (double)turns_per_ms);
    for (; turns > 0; turns--) __asm__ volatile("" ::: "memory");
}
