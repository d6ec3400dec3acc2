/* Functions that need no pool. */
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "numasim/record.h"

enum { OPTION = NS_ERROR_OPTION };

static int check(bool right) { return right ? NS_OK : NS_ERROR_PROGRAM; }

/* ---- right uses -------------------------------------------------------------------------------------------------- */

static int sentences(void) {
    bool all = true;
    for (int error = NS_ERROR_CALLER; error <= 0; error++) all &= strlen(ns_error_sentence(error)) > 10;
    return check(all);
}

static ns_numa_lock *a_lock(const char *kind) {
    ns_numa_lock *made;
    if (ns_numa_lock_create(&made, &(ns_numa_lock_options){.kind = kind, .nodes = 2, .home = NS_NUMA_ANYWHERE}))
        exit(3);
    return made;
}
static ns_numa_condition *a_condition(void) {
    ns_numa_condition *made;
    if (ns_numa_condition_create(&made, &(ns_numa_condition_options){.nodes = 2})) exit(3);
    return made;
}
static ns_numa_barrier *a_barrier(const char *kind) {
    ns_numa_barrier *made;
    if (ns_numa_barrier_create(&made, &(ns_numa_barrier_options){.kind = kind, .parties = 1})) exit(3);
    return made;
}

static int locks(void) {
    int error = NS_OK;
    for (uint32_t at = 0; ns_numa_lock_kind(at) && !error; at++) {
        ns_numa_lock *lock = a_lock(ns_numa_lock_kind(at));
        error = ns_numa_lock_acquire(lock, 1);
        if (ns_numa_lock_try_acquire(lock, 1)) error = NS_ERROR_PROGRAM;
        if (!error) error = ns_numa_lock_release(lock, 1);
        if (!ns_numa_lock_try_acquire(lock, 0)) error = NS_ERROR_PROGRAM;
        if (!error) error = ns_numa_lock_release(lock, 0);
        ns_numa_lock_destroy(lock);
    }
    return error;
}

static int signal_nobody(void) {
    ns_numa_condition *condition = a_condition();
    int error = ns_numa_condition_signal(condition, 1);
    if (!error) error = ns_numa_condition_broadcast(condition, 1);
    ns_numa_condition_destroy(condition);
    return error;
}

static ns_numa_lock *door_lock;
static ns_numa_condition *door;
static bool is_open;

static int open_door(void) {
    ns_numa_lock_acquire(door_lock, 0);
    is_open = true;
    ns_numa_lock_release(door_lock, 0);
    return ns_numa_condition_signal(door, 0);
}
static int wait_at_door(void) {
    int error = ns_numa_lock_acquire(door_lock, 1);
    while (!error && !is_open) error = ns_numa_condition_wait(door, door_lock, 1);
    return error ? error : ns_numa_lock_release(door_lock, 1);
}

/* Wait until the second thread opens the door for this thread, which may come later. */
static int waits(void) {
    door_lock = a_lock(NULL);
    door = a_condition();
    is_open = false;
    int error = in_thread(open_door);
    if (!error) error = wait_at_door();
    ns_numa_condition_destroy(door);
    ns_numa_lock_destroy(door_lock);
    return error;
}

static int barriers(void) {
    int error = NS_OK;
    for (uint32_t at = 0; ns_numa_barrier_kind(at) && !error; at++) {
        ns_numa_barrier *barrier = a_barrier(ns_numa_barrier_kind(at));
        error = ns_numa_barrier_arrive(barrier, 0);
        ns_numa_barrier_destroy(barrier);
    }
    return error;
}

static int topology(void) {
    ns_topology here;
    int error = ns_topology_detect(&here);
    if (error) return error;
    FILE *file = tmpfile();
    error = file ? ns_topology_print(&here, file) : NS_ERROR_FILE;
    if (file) fclose(file);
    if (!error) error = ns_cpu_pin(here.cpu[0].id);
    ns_topology_destroy(&here);
    ns_topology_destroy(&here); /* a destroyed topology has nothing left to free */
    return error;
}

static int read_sysfs(void) {
    ns_topology here;
    const int error = ns_topology_read(&here, "/sys");
    if (!error) ns_topology_destroy(&here);
    return error;
}

static int node_memory(void) {
    void *memory;
    const int error = ns_node_allocate(&memory, 0, 4096);
    if (error && error != NS_ERROR_UNSUPPORTED) return error;
    memset(memory, 1, 4096);
    const int64_t node = ns_node_of_page(memory);
    ns_node_release(memory, 4096);
    return check(node >= 0 || node == NS_ERROR_UNSUPPORTED);
}

/* A declaration of an access without a recorder. */
static int record(void) {
    ns_record_access(NULL, SIZE_MAX, 77);
    ns_record_tile(NULL, SIZE_MAX, SIZE_MAX, 0, 77);
    return NS_OK;
}

const free_call FREE_CALLS[] = {
    {"ns_error_sentence", sentences, DEFINED},
    {"ns_numa_lock_create", locks, DEFINED},
    {"ns_numa_lock_destroy", locks, BY_FREED},
    {"ns_numa_lock_acquire", locks, BY_FREED},
    {"ns_numa_lock_try_acquire", locks, BY_FREED},
    {"ns_numa_lock_release", locks, BY_FREED},
    {"ns_numa_lock_kind", locks, DEFINED},
    {"ns_numa_condition_create", waits, DEFINED},
    {"ns_numa_condition_destroy", waits, BY_FREED},
    {"ns_numa_condition_wait", waits, BY_FREED},
    {"ns_numa_condition_signal", waits, BY_FREED},
    {"ns_numa_condition_broadcast", signal_nobody, BY_FREED},
    {"ns_numa_barrier_create", barriers, DEFINED},
    {"ns_numa_barrier_destroy", barriers, BY_FREED},
    {"ns_numa_barrier_arrive", barriers, BY_FREED},
    {"ns_numa_barrier_kind", barriers, DEFINED},
    {"ns_topology_detect", topology, DEFINED},
    {"ns_topology_read", read_sysfs, DEFINED},
    {"ns_topology_destroy", topology, RULES},
    {"ns_topology_print", topology, RULES},
    {"ns_cpu_pin", topology, DEFINED},
    {"ns_node_allocate", node_memory, DEFINED},
    {"ns_node_release", node_memory, BY_FREED},
    {"ns_node_of_page", node_memory, BY_FREED},
    {"ns_record_access", record, DEFINED},
    {"ns_record_tile", record, DEFINED},
    {0},
};

/* ---- null and wrong values --------------------------------------------------------------------------------------- */

#define WRONG_CALL(NAME, CALL)            \
    static int NAME(const pool_way *of) { \
        (void)of;                         \
        return (int)(CALL);               \
    }

static ns_numa_lock *no_lock = (ns_numa_lock *)&no_lock;
static ns_numa_condition *no_condition = (ns_numa_condition *)&no_condition;
static ns_numa_barrier *no_barrier = (ns_numa_barrier *)&no_barrier;

/* If creation fails, the lock must be null. */
static int made_lock(int error) { return no_lock ? NS_ERROR_PROGRAM : error; }
static int made_condition(int error) { return no_condition ? NS_ERROR_PROGRAM : error; }
static int made_barrier(int error) { return no_barrier ? NS_ERROR_PROGRAM : error; }

#define LOCK_OF(...) made_lock(ns_numa_lock_create(&no_lock, &(ns_numa_lock_options)__VA_ARGS__))
#define CONDITION_OF(...) \
    made_condition(ns_numa_condition_create(&no_condition, &(ns_numa_condition_options)__VA_ARGS__))
#define BARRIER_OF(...) made_barrier(ns_numa_barrier_create(&no_barrier, &(ns_numa_barrier_options)__VA_ARGS__))

WRONG_CALL(code_77, check(strlen(ns_error_sentence(77)) > 10 && strlen(ns_error_sentence(-77)) > 10))
WRONG_CALL(lock_null, ns_numa_lock_create(NULL, &(ns_numa_lock_options){0}))
WRONG_CALL(lock_null_options, made_lock(ns_numa_lock_create(&no_lock, NULL)))
WRONG_CALL(lock_of_no_kind, LOCK_OF({.kind = "no such kind"}))
WRONG_CALL(lock_of_many_nodes, LOCK_OF({.nodes = UINT32_MAX}))
WRONG_CALL(kind_77, check(!ns_numa_lock_kind(77) && !ns_numa_barrier_kind(UINT32_MAX)))
WRONG_CALL(condition_null, ns_numa_condition_create(NULL, &(ns_numa_condition_options){0}))
WRONG_CALL(condition_null_options, made_condition(ns_numa_condition_create(&no_condition, NULL)))
WRONG_CALL(condition_of_many_nodes, CONDITION_OF({.nodes = UINT32_MAX}))
WRONG_CALL(barrier_null, ns_numa_barrier_create(NULL, &(ns_numa_barrier_options){.parties = 1}))
WRONG_CALL(barrier_null_options, made_barrier(ns_numa_barrier_create(&no_barrier, NULL)))
WRONG_CALL(barrier_of_none, BARRIER_OF({.parties = 0}))
WRONG_CALL(barrier_of_no_kind, BARRIER_OF({.kind = "", .parties = 1}))
WRONG_CALL(barrier_of_far_nodes, BARRIER_OF({.parties = 2, .party_node = (const uint32_t[]){0, UINT32_MAX}}))
WRONG_CALL(barrier_of_many, BARRIER_OF({.parties = UINT32_MAX}))

WRONG_CALL(acquire_null, ns_numa_lock_acquire(NULL, 0))
WRONG_CALL(try_null, check(!ns_numa_lock_try_acquire(NULL, 0)))
WRONG_CALL(release_null, ns_numa_lock_release(NULL, 0))
WRONG_CALL(wait_null, ns_numa_condition_wait(NULL, NULL, 0))
WRONG_CALL(signal_null, ns_numa_condition_signal(NULL, 0))
WRONG_CALL(broadcast_null, ns_numa_condition_broadcast(NULL, 0))
WRONG_CALL(arrive_null, ns_numa_barrier_arrive(NULL, 0))

#define WITH(NAME, TYPE, MADE, CALL)      \
    static int NAME(const pool_way *of) { \
        TYPE *made = MADE;                \
        (void)of;                         \
        const int error = (int)(CALL);    \
        TYPE##_destroy(made);             \
        return error;                     \
    }
WITH(acquire_node_77, ns_numa_lock, a_lock(NULL), ns_numa_lock_acquire(made, 77))
WITH(try_node_77, ns_numa_lock, a_lock(NULL), check(!ns_numa_lock_try_acquire(made, 77)))
WITH(release_node_77, ns_numa_lock, a_lock(NULL), ns_numa_lock_release(made, 77))
WITH(wait_null_lock, ns_numa_condition, a_condition(), ns_numa_condition_wait(made, NULL, 0))
WITH(wait_node_77, ns_numa_condition, a_condition(), ns_numa_condition_wait(made, NULL, 77))
WITH(signal_node_77, ns_numa_condition, a_condition(), ns_numa_condition_signal(made, 77))
WITH(broadcast_node_77, ns_numa_condition, a_condition(), ns_numa_condition_broadcast(made, 77))
WITH(arrive_as_77, ns_numa_barrier, a_barrier(NULL), ns_numa_barrier_arrive(made, 77))

static int destroy_nulls(const pool_way *of) {
    (void)of;
    ns_numa_lock_destroy(NULL);
    ns_numa_condition_destroy(NULL);
    ns_numa_barrier_destroy(NULL);
    ns_topology_destroy(NULL);
    ns_node_release(NULL, 4096);
    return NS_OK;
}

static ns_topology none;
static void *memory = &none;

WRONG_CALL(destroy_again, topology())
WRONG_CALL(detect_null, ns_topology_detect(NULL))
WRONG_CALL(read_null, ns_topology_read(NULL, "/sys"))
WRONG_CALL(read_null_root, ns_topology_read(&none, NULL))
WRONG_CALL(read_nowhere, ns_topology_read(&none, "/there/is/no/such/folder"))
WRONG_CALL(print_null, ns_topology_print(NULL, stdout))
WRONG_CALL(print_nothing, ns_topology_print(&none, stdout))
WRONG_CALL(pin_to_many, ns_cpu_pin(UINT32_MAX))
WRONG_CALL(pin_to_8191, ns_cpu_pin(8191))
WRONG_CALL(allocate_null, ns_node_allocate(NULL, 0, 4096))
WRONG_CALL(allocate_nothing, ns_node_allocate(&memory, 0, 0))
WRONG_CALL(allocate_all, memory ? ns_node_allocate(&memory, 0, SIZE_MAX) : NS_ERROR_PROGRAM)
WRONG_CALL(page_null, ns_node_of_page(NULL))

static int print_to_null(const pool_way *of) {
    (void)of;
    ns_topology here;
    if (ns_topology_detect(&here)) return NS_ERROR_PROGRAM;
    const int error = ns_topology_print(&here, NULL);
    ns_topology_destroy(&here);
    return error;
}

/* Allocate memory on a missing node: the memory is then in pages of another node. */
static int allocate_far(const pool_way *of) {
    (void)of;
    void *made;
    const int error = ns_node_allocate(&made, 8191, 4096);
    memset(made, 1, 4096);
    ns_node_release(made, 4096);
    return error;
}

const plain_case FREE_CASES[] = {
    {"ns_error_sentence", WRONG, "codes that there are not", code_77, NS_OK, true},
    {"ns_numa_lock_create", WRONG, "null", lock_null, OPTION, true},
    {"ns_numa_lock_create", WRONG, "null options", lock_null_options, OPTION, true},
    {"ns_numa_lock_create", WRONG, "an unknown kind", lock_of_no_kind, OPTION, true},
    {"ns_numa_lock_create", WRONG, "2^32 - 1 nodes", lock_of_many_nodes, OPTION, true},
    {"ns_numa_lock_destroy", WRONG, "null", destroy_nulls, NS_OK, true},
    {"ns_numa_lock_acquire", WRONG, "null", acquire_null, OPTION, true},
    {"ns_numa_lock_acquire", WRONG, "node 77 of 2", acquire_node_77, OPTION, true},
    {"ns_numa_lock_try_acquire", WRONG, "null", try_null, NS_OK, true},
    {"ns_numa_lock_try_acquire", WRONG, "node 77 of 2", try_node_77, NS_OK, true},
    {"ns_numa_lock_release", WRONG, "null", release_null, OPTION, true},
    {"ns_numa_lock_release", WRONG, "node 77 of 2", release_node_77, OPTION, true},
    {"ns_numa_lock_kind", WRONG, "a number that there is not", kind_77, NS_OK, true},
    {"ns_numa_condition_create", WRONG, "null", condition_null, OPTION, true},
    {"ns_numa_condition_create", WRONG, "null options", condition_null_options, OPTION, true},
    {"ns_numa_condition_create", WRONG, "2^32 - 1 nodes", condition_of_many_nodes, OPTION, true},
    {"ns_numa_condition_destroy", WRONG, "null", destroy_nulls, NS_OK, true},
    {"ns_numa_condition_wait", WRONG, "null", wait_null, OPTION, true},
    {"ns_numa_condition_wait", WRONG, "a null lock", wait_null_lock, OPTION, true},
    {"ns_numa_condition_wait", WRONG, "node 77 of 2", wait_node_77, OPTION, true},
    {"ns_numa_condition_signal", WRONG, "null", signal_null, OPTION, true},
    {"ns_numa_condition_signal", WRONG, "node 77 of 2", signal_node_77, OPTION, true},
    {"ns_numa_condition_broadcast", WRONG, "null", broadcast_null, OPTION, true},
    {"ns_numa_condition_broadcast", WRONG, "node 77 of 2", broadcast_node_77, OPTION, true},
    {"ns_numa_barrier_create", WRONG, "null", barrier_null, OPTION, true},
    {"ns_numa_barrier_create", WRONG, "null options", barrier_null_options, OPTION, true},
    {"ns_numa_barrier_create", WRONG, "no parties", barrier_of_none, OPTION, true},
    {"ns_numa_barrier_create", WRONG, "an unknown kind", barrier_of_no_kind, OPTION, true},
    {"ns_numa_barrier_create", WRONG, "a party on node 2^32 - 1", barrier_of_far_nodes, OPTION, true},
    {"ns_numa_barrier_create", WRONG, "2^32 - 1 parties", barrier_of_many, NS_ERROR_MEMORY, true},
    {"ns_numa_barrier_destroy", WRONG, "null", destroy_nulls, NS_OK, true},
    {"ns_numa_barrier_arrive", WRONG, "null", arrive_null, OPTION, true},
    {"ns_numa_barrier_arrive", WRONG, "party 77 of 1", arrive_as_77, OPTION, true},
    {"ns_numa_barrier_kind", WRONG, "a number that there is not", kind_77, NS_OK, true},
    {"ns_topology_detect", WRONG, "null", detect_null, OPTION, true},
    {"ns_topology_read", WRONG, "null", read_null, OPTION, true},
    {"ns_topology_read", WRONG, "a null root", read_null_root, OPTION, true},
    {"ns_topology_read", WRONG, "no such folder", read_nowhere, NS_ERROR_FILE, true},
    {"ns_topology_destroy", WRONG, "null", destroy_nulls, NS_OK, true},
    {"ns_topology_destroy", DESTROYED, "again", destroy_again, NS_OK, true},
    {"ns_topology_print", WRONG, "null", print_null, OPTION, true},
    {"ns_topology_print", WRONG, "a null file", print_to_null, OPTION, true},
    {"ns_topology_print", DESTROYED, "nothing", print_nothing, OPTION, true},
    {"ns_cpu_pin", WRONG, "processor 2^32 - 1", pin_to_many, NS_ERROR_THREAD, true},
    {"ns_cpu_pin", WRONG, "processor 8191", pin_to_8191, NS_ERROR_THREAD, true},
    {"ns_node_allocate", WRONG, "null", allocate_null, OPTION, true},
    {"ns_node_allocate", WRONG, "no bytes", allocate_nothing, OPTION, true},
    {"ns_node_allocate", WRONG, "all bytes", allocate_all, NS_ERROR_MEMORY, true},
    {"ns_node_allocate", WRONG, "node 8191", allocate_far, NS_ERROR_UNSUPPORTED, true},
    {"ns_node_release", WRONG, "null", destroy_nulls, NS_OK, true},
    {"ns_node_of_page", WRONG, "null", page_null, NS_ERROR_UNSUPPORTED, true},
    {0},
};

/* ---- situations that are undefined, or do not occur -------------------------------------------------------------- */

const undefined_case UNDEFINED_CASES[] = {
    {"ns_join", WRONG, BY_SELF},
    {"ns_task_worker", WRONG, BY_SELF},
    {"ns_task_workers", WRONG, BY_SELF},
    {"ns_task_node", WRONG, BY_SELF},
    {"NAME_spawn", WRONG, BY_SELF},
    {"NAME_call", WRONG, BY_SELF},
    {"NAME_join", WRONG, BY_SELF},
    {"ns_pool_create", DESTROYED, DEFINED},
    {"ns_pool_run", DESTROYED, BY_FREED},
    {"ns_pool_team", DESTROYED, BY_FREED},
    {"ns_pool_destroy", DESTROYED, BY_FREED},
    {"ns_pool_problem", DESTROYED, BY_FREED},
    {"ns_object_register", DESTROYED, BY_FREED},
    {"ns_word_create", DESTROYED, BY_FREED},
    {"ns_record_access", WRONG, DEFINED}, /* any arguments are allowed */
    {"ns_record_tile", WRONG, DEFINED},
    {0},
};
