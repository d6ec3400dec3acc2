/* The part of the OpenMP tools interface (OMPT, OpenMP 5.0 and 5.1, chapter 4) that the recorder uses.
 *
 * Names and values are those of the specification. This header defines them, because some compilers come without
 * omp-tools.h. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef union {
    uint64_t value;
    void *ptr;
} ompt_data_t;

typedef struct {
    ompt_data_t exit_frame, enter_frame;
    int exit_frame_flags, enter_frame_flags;
} ompt_frame_t;

typedef struct {
    ompt_data_t variable;
    int dependence_type;
} ompt_dependence_t;

typedef struct {
    uint64_t start, iterations;
} ompt_dispatch_chunk_t;

/* Callbacks. */
enum {
    ompt_callback_parallel_begin = 3,
    ompt_callback_parallel_end = 4,
    ompt_callback_task_create = 5,
    ompt_callback_task_schedule = 6,
    ompt_callback_implicit_task = 7,
    ompt_callback_target = 8,
    ompt_callback_sync_region_wait = 16,
    ompt_callback_dependences = 18,
    ompt_callback_work = 20,
    ompt_callback_masked = 21,
    ompt_callback_sync_region = 23,
    ompt_callback_mutex_acquire = 26,
    ompt_callback_mutex_acquired = 27,
    ompt_callback_cancel = 30,
    ompt_callback_dispatch = 32,
    ompt_callback_target_emi = 33,
};

enum { ompt_scope_begin = 1 };
enum {
    ompt_sync_region_taskwait = 5,
    ompt_sync_region_taskgroup = 6,
    ompt_sync_region_reduction = 7,
    ompt_sync_region_barrier_implicit_parallel = 9, /* the barrier at the end of a parallel region */
};
enum { ompt_mutex_lock = 1, ompt_mutex_critical = 5, ompt_mutex_ordered = 7 };
enum { ompt_dispatch_ws_loop_chunk = 3 };
enum { ompt_set_sometimes = 3 }; /* this value and higher values: the runtime reports the event */
enum {
    ompt_task_complete = 1,
    ompt_task_cancel = 3,
    ompt_task_early_fulfill = 5,
    ompt_task_late_fulfill = 6,
    ompt_task_switch = 7,
};

/* Flags of tasks. */
#define OMPT_TASK_INITIAL 0x00000001u
#define OMPT_TASK_IMPLICIT 0x00000002u
#define OMPT_TASK_TARGET 0x00000008u
#define OMPT_TASK_TASKWAIT 0x00000010u
#define OMPT_TASK_UNTIED 0x10000000u
#define OMPT_TASK_FINAL 0x20000000u

typedef void (*ompt_callback_t)(void);
typedef void (*ompt_interface_fn_t)(void);
typedef ompt_interface_fn_t (*ompt_function_lookup_t)(const char *name);
typedef int (*ompt_set_callback_t)(int event, ompt_callback_t callback);

typedef struct {
    int (*initialize)(ompt_function_lookup_t lookup, int device, ompt_data_t *tool);
    void (*finalize)(ompt_data_t *tool);
    ompt_data_t tool_data;
} ompt_start_tool_result_t;
