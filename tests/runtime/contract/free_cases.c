/* Cases (calls of a public function in a situation) of functions that need no pool of workers. */
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

/* Wait until the second thread opens the door for this thread; the second thread may do so later than this call. */
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

/* Declare an access of a task although no program is recorded. */
static int record(void) {
    ns_record_access(NULL, SIZE_MAX, 77);
    ns_record_tile(NULL, SIZE_MAX, SIZE_MAX, 0, 77);
    return NS_OK;
}

/* Right calls of a function, with the rule for a destroyed object. */
#define RIGHT_USE(FUNCTION, CALL, DESTROYED_RULE)                                                              \
    BEFORE_MAIN(for (enum situation where = TASK; where <= CHILD; where++) add_case((contract_case){           \
        .function = #FUNCTION, .situation = where, .what = "right", .ways = WITHOUT_POOL, .free_call = CALL}); \
                if (DESTROYED_RULE != RULES) add_rule(#FUNCTION, DESTROYED, DESTROYED_RULE))
RIGHT_USE(ns_error_sentence, sentences, DEFINED)
RIGHT_USE(ns_numa_lock_create, locks, DEFINED)
RIGHT_USE(ns_numa_lock_destroy, locks, BY_FREED)
RIGHT_USE(ns_numa_lock_acquire, locks, BY_FREED)
RIGHT_USE(ns_numa_lock_try_acquire, locks, BY_FREED)
RIGHT_USE(ns_numa_lock_release, locks, BY_FREED)
RIGHT_USE(ns_numa_lock_kind, locks, DEFINED)
RIGHT_USE(ns_numa_condition_create, waits, DEFINED)
RIGHT_USE(ns_numa_condition_destroy, waits, BY_FREED)
RIGHT_USE(ns_numa_condition_wait, waits, BY_FREED)
RIGHT_USE(ns_numa_condition_signal, waits, BY_FREED)
RIGHT_USE(ns_numa_condition_broadcast, signal_nobody, BY_FREED)
RIGHT_USE(ns_numa_barrier_create, barriers, DEFINED)
RIGHT_USE(ns_numa_barrier_destroy, barriers, BY_FREED)
RIGHT_USE(ns_numa_barrier_arrive, barriers, BY_FREED)
RIGHT_USE(ns_numa_barrier_kind, barriers, DEFINED)
RIGHT_USE(ns_topology_detect, topology, DEFINED)
RIGHT_USE(ns_topology_read, read_sysfs, DEFINED)
RIGHT_USE(ns_topology_destroy, topology, RULES)
RIGHT_USE(ns_topology_print, topology, RULES)
RIGHT_USE(ns_cpu_pin, topology, DEFINED)
RIGHT_USE(ns_node_allocate, node_memory, DEFINED)
RIGHT_USE(ns_node_release, node_memory, BY_FREED)
RIGHT_USE(ns_node_of_page, node_memory, BY_FREED)
RIGHT_USE(ns_record_access, record, DEFINED)
RIGHT_USE(ns_record_tile, record, DEFINED)

/* ---- null and wrong values --------------------------------------------------------------------------------------- */

#define WRONG_CALL(FUNCTION, WHAT, ERROR, ...) OUTSIDE(#FUNCTION, WRONG, WHAT, ERROR, WITHOUT_POOL, __VA_ARGS__)

static ns_numa_lock *no_lock = (ns_numa_lock *)&no_lock;
static ns_numa_condition *no_condition = (ns_numa_condition *)&no_condition;
static ns_numa_barrier *no_barrier = (ns_numa_barrier *)&no_barrier;

/* Return `error`, of a creation that failed; or NS_ERROR_PROGRAM if the lock, condition or barrier is not null. */
static int made_lock(int error) { return no_lock ? NS_ERROR_PROGRAM : error; }
static int made_condition(int error) { return no_condition ? NS_ERROR_PROGRAM : error; }
static int made_barrier(int error) { return no_barrier ? NS_ERROR_PROGRAM : error; }

#define LOCK_OF(...) made_lock(ns_numa_lock_create(&no_lock, &(ns_numa_lock_options)__VA_ARGS__))
#define CONDITION_OF(...) \
    made_condition(ns_numa_condition_create(&no_condition, &(ns_numa_condition_options)__VA_ARGS__))
#define BARRIER_OF(...) made_barrier(ns_numa_barrier_create(&no_barrier, &(ns_numa_barrier_options)__VA_ARGS__))

WRONG_CALL(ns_error_sentence, "codes that there are not", NS_OK,
           check(strlen(ns_error_sentence(77)) > 10 && strlen(ns_error_sentence(-77)) > 10))
WRONG_CALL(ns_numa_lock_create, "null", OPTION, ns_numa_lock_create(NULL, &(ns_numa_lock_options){0}))
WRONG_CALL(ns_numa_lock_create, "null options", OPTION, made_lock(ns_numa_lock_create(&no_lock, NULL)))
WRONG_CALL(ns_numa_lock_create, "an unknown kind", OPTION, LOCK_OF({.kind = "no such kind"}))
WRONG_CALL(ns_numa_lock_create, "2^32 - 1 nodes", OPTION, LOCK_OF({.nodes = UINT32_MAX}))
WRONG_CALL(ns_numa_lock_kind, "a number that there is not", NS_OK,
           check(!ns_numa_lock_kind(77) && !ns_numa_barrier_kind(UINT32_MAX)))
WRONG_CALL(ns_numa_barrier_kind, "a number that there is not", NS_OK,
           check(!ns_numa_lock_kind(77) && !ns_numa_barrier_kind(UINT32_MAX)))
WRONG_CALL(ns_numa_condition_create, "null", OPTION, ns_numa_condition_create(NULL, &(ns_numa_condition_options){0}))
WRONG_CALL(ns_numa_condition_create, "null options", OPTION,
           made_condition(ns_numa_condition_create(&no_condition, NULL)))
WRONG_CALL(ns_numa_condition_create, "2^32 - 1 nodes", OPTION, CONDITION_OF({.nodes = UINT32_MAX}))
WRONG_CALL(ns_numa_barrier_create, "null", OPTION,
           ns_numa_barrier_create(NULL, &(ns_numa_barrier_options){.parties = 1}))
WRONG_CALL(ns_numa_barrier_create, "null options", OPTION, made_barrier(ns_numa_barrier_create(&no_barrier, NULL)))
WRONG_CALL(ns_numa_barrier_create, "no parties", OPTION, BARRIER_OF({.parties = 0}))
WRONG_CALL(ns_numa_barrier_create, "an unknown kind", OPTION, BARRIER_OF({.kind = "", .parties = 1}))
WRONG_CALL(ns_numa_barrier_create, "a party on node 2^32 - 1", OPTION,
           BARRIER_OF({.parties = 2, .party_node = (const uint32_t[]){0, UINT32_MAX}}))
WRONG_CALL(ns_numa_barrier_create, "2^32 - 1 parties", NS_ERROR_MEMORY, BARRIER_OF({.parties = UINT32_MAX}))

WRONG_CALL(ns_numa_lock_acquire, "null", OPTION, ns_numa_lock_acquire(NULL, 0))
WRONG_CALL(ns_numa_lock_try_acquire, "null", NS_OK, check(!ns_numa_lock_try_acquire(NULL, 0)))
WRONG_CALL(ns_numa_lock_release, "null", OPTION, ns_numa_lock_release(NULL, 0))
WRONG_CALL(ns_numa_condition_wait, "null", OPTION, ns_numa_condition_wait(NULL, NULL, 0))
WRONG_CALL(ns_numa_condition_signal, "null", OPTION, ns_numa_condition_signal(NULL, 0))
WRONG_CALL(ns_numa_condition_broadcast, "null", OPTION, ns_numa_condition_broadcast(NULL, 0))
WRONG_CALL(ns_numa_barrier_arrive, "null", OPTION, ns_numa_barrier_arrive(NULL, 0))

/* A wrong call with the object `made`. */
#define WITH(FUNCTION, WHAT, ERROR, TYPE, MADE, CALL) \
    static int OF_LINE(with_)(TYPE * made) {          \
        const int error = (int)(CALL);                \
        TYPE##_destroy(made);                         \
        return error;                                 \
    }                                                 \
    WRONG_CALL(FUNCTION, WHAT, ERROR, OF_LINE(with_)(MADE))
WITH(ns_numa_lock_acquire, "node 77 of 2", OPTION, ns_numa_lock, a_lock(NULL), ns_numa_lock_acquire(made, 77))
WITH(ns_numa_lock_try_acquire, "node 77 of 2", NS_OK, ns_numa_lock, a_lock(NULL),
     check(!ns_numa_lock_try_acquire(made, 77)))
WITH(ns_numa_lock_release, "node 77 of 2", OPTION, ns_numa_lock, a_lock(NULL), ns_numa_lock_release(made, 77))
WITH(ns_numa_condition_wait, "a null lock", OPTION, ns_numa_condition, a_condition(),
     ns_numa_condition_wait(made, NULL, 0))
WITH(ns_numa_condition_wait, "node 77 of 2", OPTION, ns_numa_condition, a_condition(),
     ns_numa_condition_wait(made, NULL, 77))
WITH(ns_numa_condition_signal, "node 77 of 2", OPTION, ns_numa_condition, a_condition(),
     ns_numa_condition_signal(made, 77))
WITH(ns_numa_condition_broadcast, "node 77 of 2", OPTION, ns_numa_condition, a_condition(),
     ns_numa_condition_broadcast(made, 77))
WITH(ns_numa_barrier_arrive, "party 77 of 1", OPTION, ns_numa_barrier, a_barrier(NULL),
     ns_numa_barrier_arrive(made, 77))

static int destroy_nulls(void) {
    ns_numa_lock_destroy(NULL);
    ns_numa_condition_destroy(NULL);
    ns_numa_barrier_destroy(NULL);
    ns_topology_destroy(NULL);
    ns_node_release(NULL, 4096);
    return NS_OK;
}

static ns_topology none;
static void *memory = &none;

OUTSIDE("ns_topology_destroy", DESTROYED, "again", NS_OK, WITHOUT_POOL, topology())
WRONG_CALL(ns_topology_detect, "null", OPTION, ns_topology_detect(NULL))
WRONG_CALL(ns_topology_read, "null", OPTION, ns_topology_read(NULL, "/sys"))
WRONG_CALL(ns_topology_read, "a null root", OPTION, ns_topology_read(&none, NULL))
WRONG_CALL(ns_topology_read, "no such folder", NS_ERROR_FILE, ns_topology_read(&none, "/there/is/no/such/folder"))
WRONG_CALL(ns_topology_print, "null", OPTION, ns_topology_print(NULL, stdout))
OUTSIDE("ns_topology_print", DESTROYED, "nothing", OPTION, WITHOUT_POOL, ns_topology_print(&none, stdout))
WRONG_CALL(ns_cpu_pin, "processor 2^32 - 1", NS_ERROR_THREAD, ns_cpu_pin(UINT32_MAX))
WRONG_CALL(ns_cpu_pin, "processor 8191", NS_ERROR_THREAD, ns_cpu_pin(8191))
WRONG_CALL(ns_node_allocate, "null", OPTION, ns_node_allocate(NULL, 0, 4096))
WRONG_CALL(ns_node_allocate, "no bytes", OPTION, ns_node_allocate(&memory, 0, 0))
WRONG_CALL(ns_node_allocate, "all bytes", NS_ERROR_MEMORY,
           memory ? ns_node_allocate(&memory, 0, SIZE_MAX) : NS_ERROR_PROGRAM)
WRONG_CALL(ns_node_of_page, "null", NS_ERROR_UNSUPPORTED, ns_node_of_page(NULL))

static int print_to_null(void) {
    ns_topology here;
    if (ns_topology_detect(&here)) return NS_ERROR_PROGRAM;
    const int error = ns_topology_print(&here, NULL);
    ns_topology_destroy(&here);
    return error;
}

/* Allocate memory on a missing node: the memory is then in pages of another node. */
static int allocate_far(void) {
    void *made;
    const int error = ns_node_allocate(&made, 8191, 4096);
    memset(made, 1, 4096);
    ns_node_release(made, 4096);
    return error;
}

WRONG_CALL(ns_numa_lock_destroy, "null", NS_OK, destroy_nulls())
WRONG_CALL(ns_numa_condition_destroy, "null", NS_OK, destroy_nulls())
WRONG_CALL(ns_numa_barrier_destroy, "null", NS_OK, destroy_nulls())
WRONG_CALL(ns_topology_destroy, "null", NS_OK, destroy_nulls())
WRONG_CALL(ns_node_release, "null", NS_OK, destroy_nulls())
WRONG_CALL(ns_topology_print, "a null file", OPTION, print_to_null())
WRONG_CALL(ns_node_allocate, "node 8191", NS_ERROR_UNSUPPORTED, allocate_far())

/* ---- situations that are undefined, or do not occur -------------------------------------------------------------- */

#define UNDEFINED(FUNCTION, SITUATION, RULE) BEFORE_MAIN(add_rule(#FUNCTION, SITUATION, RULE))
UNDEFINED(ns_join, WRONG, BY_SELF)
UNDEFINED(ns_task_worker, WRONG, BY_SELF)
UNDEFINED(ns_task_workers, WRONG, BY_SELF)
UNDEFINED(ns_task_node, WRONG, BY_SELF)
UNDEFINED(NAME_spawn, WRONG, BY_SELF)
UNDEFINED(NAME_call, WRONG, BY_SELF)
UNDEFINED(NAME_join, WRONG, BY_SELF)
UNDEFINED(ns_pool_create, DESTROYED, DEFINED)
UNDEFINED(ns_pool_run, DESTROYED, BY_FREED)
UNDEFINED(ns_pool_team, DESTROYED, BY_FREED)
UNDEFINED(ns_pool_destroy, DESTROYED, BY_FREED)
UNDEFINED(ns_pool_problem, DESTROYED, BY_FREED)
UNDEFINED(ns_object_register, DESTROYED, BY_FREED)
UNDEFINED(ns_word_create, DESTROYED, BY_FREED)
UNDEFINED(ns_record_access, WRONG, DEFINED) /* any arguments are allowed */
UNDEFINED(ns_record_tile, WRONG, DEFINED)
