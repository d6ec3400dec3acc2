/* Cases of pools that are called from outside the pool's tasks. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contract.h"

/* ---- pools that can be run --------------------------------------------------------------------------------------- */

static char memory[OBJECT_BYTES];

static uint32_t made_id(int64_t made) {
    if (made < 0) exit(3);
    return (uint32_t)made;
}

static ns_pool_options options_of(const pool_way *of) {
    return (ns_pool_options){.mode = of->mode, .workers = WORKERS, .plan = of->plan};
}

void make_pool(const pool_way *of) {
    const ns_pool_options options = options_of(of);
    if (ns_pool_create(&it.pool, &options)) exit(3);
    it.way = of;
    it.object = made_id(ns_object_register(it.pool, "object", memory, sizeof memory));
    it.lock = made_id(ns_word_create(it.pool, "lock", NS_WORD_LOCK, 0, 1));
    it.counter = made_id(ns_word_create(it.pool, "counter", NS_WORD_ATOMIC, 77, 0));
    it.condition = made_id(ns_word_create(it.pool, "condition", NS_WORD_CONDITION, 1, 2));
    it.barrier = made_id(ns_word_create(it.pool, "barrier", NS_WORD_BARRIER, 0, 1));
    it.wide_barrier = made_id(ns_word_create(it.pool, "wide barrier", NS_WORD_BARRIER, 0, WORKERS + 1));
}

static int run(void) { return ns_pool_run(it.pool, nothing, NULL, 0); }
static int team(void) { return ns_pool_team(it.pool, nothing, NULL, 0); }
static int destroy(void) { return ns_pool_destroy(it.pool); }
static int create_and_destroy(void) {
    ns_pool *made;
    const ns_pool_options options = options_of(it.way);
    const int error = ns_pool_create(&made, &options);
    return error ? error : ns_pool_destroy(made);
}
static int register_object(void) { return (int)ns_object_register(it.pool, "more", memory, 1); }
static int create_word(void) { return (int)ns_word_create(it.pool, "more", NS_WORD_LOCK, 0, 1); }

/* Return whether the pool's sentence is the sentence of the error code for a pool in use. */
static int says_in_use(void) {
    return strcmp(ns_pool_problem(it.pool), ns_error_sentence(NS_ERROR_CALLER)) == 0 ? NS_OK : NS_ERROR_PROGRAM;
}
static int says_nothing(void) { return ns_pool_problem(it.pool)[0] ? NS_ERROR_PROGRAM : NS_OK; }

/* ---- right uses, from other threads and processes ---------------------------------------------------------------- */

/* Return the result of a creation as an error code: an id is not an error. */
static int without_id(int made) { return made > 0 ? NS_OK : made; }

#define HERE_AND_ELSEWHERE(CALL, CHECKED)             \
    static int CALL##_here(const pool_way *of) {      \
        make_pool(of);                                \
        const int error = CHECKED(CALL());            \
        ns_pool_destroy(it.pool);                     \
        return error;                                 \
    }                                                 \
    static int CALL##_in_thread(const pool_way *of) { \
        make_pool(of);                                \
        const int error = CHECKED(in_thread(CALL));   \
        ns_pool_destroy(it.pool);                     \
        return error;                                 \
    }                                                 \
    static int CALL##_in_child(const pool_way *of) {  \
        make_pool(of);                                \
        const int error = CHECKED(in_child(CALL));    \
        ns_pool_destroy(it.pool);                     \
        return error;                                 \
    }
HERE_AND_ELSEWHERE(run, )
HERE_AND_ELSEWHERE(team, )
HERE_AND_ELSEWHERE(create_and_destroy, )
HERE_AND_ELSEWHERE(register_object, without_id)
HERE_AND_ELSEWHERE(create_word, without_id)
HERE_AND_ELSEWHERE(says_nothing, )

static int destroy_in_thread(const pool_way *of) {
    make_pool(of);
    return in_thread(destroy);
}
static int destroy_in_child(const pool_way *of) {
    make_pool(of);
    const int error = in_child(destroy);
    return error ? error : destroy();
}

/* Return whether the pool has threads. Threads are not forked, so a pool with threads refuses to run in a forked
 * process. */
static bool has_threads(const pool_way *of) { return of->mode == NS_MODE_NATIVE || of->mode == NS_MODE_EMULATED; }
/* ThreadSanitizer sees neither that fibers were made before the fork, nor that threads belong to another process. */
#ifdef __SANITIZE_THREAD__
enum { IS_SEEN_IN_FORKS = false };
#else
enum { IS_SEEN_IN_FORKS = true };
#endif

static int in_fork(const pool_way *of, int (*call)(const pool_way *of), int of_threads) {
    if (!IS_SEEN_IN_FORKS && of->mode != NS_MODE_SERIAL) return of_threads;
    const int error = call(of);
    return error == (has_threads(of) ? of_threads : NS_OK) ? of_threads : NS_ERROR_PROGRAM;
}
static int forked_run(const pool_way *of) { return in_fork(of, run_in_child, NS_ERROR_CALLER); }
static int forked_team(const pool_way *of) { return in_fork(of, team_in_child, NS_ERROR_CALLER); }
static int forked_create(const pool_way *of) { return in_fork(of, create_and_destroy_in_child, NS_OK); }

/* ---- while the pool runs ----------------------------------------------------------------------------------------- */

/* The function that is called while a task runs: by a second thread, or in a process that the task forks. */
static int (*meanwhile)(void);
static bool is_forked;

static void call_meanwhile(ns_task *self, void *arguments) {
    (void)self, (void)arguments;
    found(is_forked ? in_child(meanwhile) : in_thread(meanwhile));
}

static int during_a_run(const pool_way *of, int (*call)(void), bool forked) {
    make_pool(of);
    meanwhile = call;
    is_forked = forked;
    const int error = ns_pool_run(it.pool, call_meanwhile, NULL, 0);
    ns_pool_destroy(it.pool);
    return error ? NS_ERROR_PROGRAM : it.error;
}

#define DURING_A_RUN(CALL)                                                                    \
    static int CALL##_meanwhile(const pool_way *of) { return during_a_run(of, CALL, false); } \
    static int CALL##_in_fork(const pool_way *of) { return during_a_run(of, CALL, true); }
DURING_A_RUN(run)
DURING_A_RUN(team)
DURING_A_RUN(destroy)
DURING_A_RUN(register_object)
DURING_A_RUN(create_word)
DURING_A_RUN(says_in_use)

/* ---- null and wrong values --------------------------------------------------------------------------------------- */

static int create(const pool_way *of, void (*change)(ns_pool_options *options)) {
    ns_pool *made = (ns_pool *)memory;
    ns_pool_options options = options_of(of);
    change(&options);
    const int error = ns_pool_create(&made, &options);
    if (error && made && !ns_pool_problem(made)[0]) return NS_OK; /* the pool has no sentence */
    /* a pool whose creation failed cannot be run, but can be destroyed */
    if (made && ns_pool_run(made, nothing, NULL, 0) != error) return NS_OK;
    return ns_pool_destroy(made) ? NS_OK : error;
}

#define CREATE(NAME, CHANGE)                                        \
    static void change_##NAME(ns_pool_options *options) { CHANGE; } \
    static int create_##NAME(const pool_way *of) { return create(of, change_##NAME); }
CREATE(mode_77, options->mode = (enum ns_mode)77)
CREATE(mode_minus, options->mode = (enum ns_mode) - 1)
CREATE(costs_77, options->costs = (enum ns_costs)77)
CREATE(order_77, options->order = (enum ns_order)77)
CREATE(graph_77, options->graph = (enum ns_graph_use)77)
CREATE(many_workers, options->workers = UINT32_MAX)
CREATE(no_file, options->plan = "/there/is/no/such/file")
CREATE(damaged_file, options->plan = "/proc/self/exe")
CREATE(pretended, (options->mode = NS_MODE_EMULATED, options->plan = NULL))
CREATE(virtual_without, (options->mode = NS_MODE_VIRTUAL, options->plan = NULL))
CREATE(threads_recorded, (options->mode = NS_MODE_NATIVE, options->record = "graph.json"))
CREATE(threads_ordered, (options->mode = NS_MODE_NATIVE, options->order = NS_ORDER_STOLEN))

static int create_null(const pool_way *of) {
    const ns_pool_options options = options_of(of);
    return ns_pool_create(NULL, &options);
}
static int create_null_options(const pool_way *of) {
    ns_pool *made = (ns_pool *)memory;
    (void)of;
    const int error = ns_pool_create(&made, NULL);
    return made ? NS_OK : error;
}

/* A case with a wrong call, after which the pool runs as before. */
#define WRONG_CALL(NAME, CALL)                        \
    static int NAME(const pool_way *of) {             \
        make_pool(of);                                \
        const int64_t error = CALL;                   \
        const int after = run();                      \
        ns_pool_destroy(it.pool);                     \
        return after ? NS_ERROR_PROGRAM : (int)error; \
    }
WRONG_CALL(run_null, ns_pool_run(NULL, nothing, NULL, 0))
WRONG_CALL(run_null_body, ns_pool_run(it.pool, NULL, NULL, 0))
WRONG_CALL(run_null_arguments, ns_pool_run(it.pool, nothing, NULL, 8))
WRONG_CALL(run_minus_five, ns_pool_run(it.pool, nothing, memory, (size_t)-5))
WRONG_CALL(team_null, ns_pool_team(NULL, nothing, NULL, 0))
WRONG_CALL(team_null_body, ns_pool_team(it.pool, NULL, NULL, 0))
WRONG_CALL(team_null_arguments, ns_pool_team(it.pool, nothing, NULL, 8))
WRONG_CALL(team_minus_five, ns_pool_team(it.pool, nothing, memory, (size_t)-5))
WRONG_CALL(register_null, ns_object_register(NULL, "object", memory, 1))
WRONG_CALL(register_null_name, ns_object_register(it.pool, NULL, memory, 1))
WRONG_CALL(register_null_address, ns_object_register(it.pool, "object", NULL, 1))
WRONG_CALL(register_minus_five, ns_object_register(it.pool, "object", memory, -5))
WRONG_CALL(register_far_below, ns_object_register(it.pool, "object", memory, INT64_MIN))
WRONG_CALL(create_word_null, ns_word_create(NULL, "word", NS_WORD_LOCK, 0, 1))
WRONG_CALL(create_word_null_name, ns_word_create(it.pool, NULL, NS_WORD_LOCK, 0, 1))
WRONG_CALL(create_word_role_77, ns_word_create(it.pool, "word", (enum ns_word_role)77, 0, 1))
WRONG_CALL(create_word_role_minus, ns_word_create(it.pool, "word", (enum ns_word_role) - 1, 0, 1))
WRONG_CALL(create_barrier_of_none, ns_word_create(it.pool, "word", NS_WORD_BARRIER, 0, 0))
WRONG_CALL(create_condition_of_none, ns_word_create(it.pool, "word", NS_WORD_CONDITION, 0, 0))
WRONG_CALL(destroy_null, ns_pool_destroy(NULL))
WRONG_CALL(problem_null, ns_pool_problem(NULL)[0] ? NS_OK : NS_ERROR_PROGRAM)

/* ---- all cases --------------------------------------------------------------------------------------------------- */

enum { OPTION = NS_ERROR_OPTION, CALLER = NS_ERROR_CALLER };

const plain_case POOL_CASES[] = {
    {"ns_pool_run", THREAD, "right", run_here, NS_OK, false},
    {"ns_pool_run", THREAD, "of an idle pool", run_in_thread, NS_OK, false},
    {"ns_pool_run", THREAD, "while the pool runs", run_meanwhile, CALLER, false},
    {"ns_pool_run", CHILD, "of the pool of its parent", forked_run, CALLER, false},
    {"ns_pool_run", CHILD, "forked by a task", run_in_fork, CALLER, false},
    {"ns_pool_run", WRONG, "null", run_null, OPTION, false},
    {"ns_pool_run", WRONG, "a null body", run_null_body, OPTION, false},
    {"ns_pool_run", WRONG, "null arguments of 8 bytes", run_null_arguments, OPTION, false},
    {"ns_pool_run", WRONG, "-5 bytes", run_minus_five, OPTION, false},
    {"ns_pool_team", THREAD, "right", team_here, NS_OK, false},
    {"ns_pool_team", THREAD, "of an idle pool", team_in_thread, NS_OK, false},
    {"ns_pool_team", THREAD, "while the pool runs", team_meanwhile, CALLER, false},
    {"ns_pool_team", CHILD, "of the pool of its parent", forked_team, CALLER, false},
    {"ns_pool_team", CHILD, "forked by a task", team_in_fork, CALLER, false},
    {"ns_pool_team", WRONG, "null", team_null, OPTION, false},
    {"ns_pool_team", WRONG, "a null body", team_null_body, OPTION, false},
    {"ns_pool_team", WRONG, "null arguments of 8 bytes", team_null_arguments, OPTION, false},
    {"ns_pool_team", WRONG, "-5 bytes", team_minus_five, OPTION, false},
    {"ns_pool_destroy", THREAD, "of an idle pool", destroy_in_thread, NS_OK, false},
    {"ns_pool_destroy", THREAD, "while the pool runs", destroy_meanwhile, CALLER, false},
    {"ns_pool_destroy", CHILD, "of the pool of its parent", destroy_in_child, NS_OK, false},
    {"ns_pool_destroy", CHILD, "forked by a task", destroy_in_fork, CALLER, false},
    {"ns_pool_destroy", WRONG, "null", destroy_null, NS_OK, false},
    {"ns_pool_problem", THREAD, "right", says_nothing_here, NS_OK, false},
    {"ns_pool_problem", THREAD, "of an idle pool", says_nothing_in_thread, NS_OK, false},
    {"ns_pool_problem", THREAD, "while the pool runs", says_in_use_meanwhile, NS_OK, false},
    {"ns_pool_problem", CHILD, "of the pool of its parent", says_nothing_in_child, NS_OK, false},
    {"ns_pool_problem", CHILD, "forked by a task", says_in_use_in_fork, NS_OK, false},
    {"ns_pool_problem", WRONG, "null", problem_null, NS_OK, false},
    {"ns_object_register", THREAD, "right", register_object_here, NS_OK, false},
    {"ns_object_register", THREAD, "of an idle pool", register_object_in_thread, NS_OK, false},
    {"ns_object_register", THREAD, "while the pool runs", register_object_meanwhile, CALLER, false},
    {"ns_object_register", CHILD, "of the pool of its parent", register_object_in_child, NS_OK, false},
    {"ns_object_register", CHILD, "forked by a task", register_object_in_fork, CALLER, false},
    {"ns_object_register", WRONG, "null", register_null, OPTION, false},
    {"ns_object_register", WRONG, "a null name", register_null_name, OPTION, false},
    {"ns_object_register", WRONG, "a null address", register_null_address, OPTION, false},
    {"ns_object_register", WRONG, "-5 bytes", register_minus_five, OPTION, false},
    {"ns_object_register", WRONG, "-2^63 bytes", register_far_below, OPTION, false},
    {"ns_word_create", THREAD, "right", create_word_here, NS_OK, false},
    {"ns_word_create", THREAD, "of an idle pool", create_word_in_thread, NS_OK, false},
    {"ns_word_create", THREAD, "while the pool runs", create_word_meanwhile, CALLER, false},
    {"ns_word_create", CHILD, "of the pool of its parent", create_word_in_child, NS_OK, false},
    {"ns_word_create", CHILD, "forked by a task", create_word_in_fork, CALLER, false},
    {"ns_word_create", WRONG, "null", create_word_null, OPTION, false},
    {"ns_word_create", WRONG, "a null name", create_word_null_name, OPTION, false},
    {"ns_word_create", WRONG, "role 77", create_word_role_77, OPTION, false},
    {"ns_word_create", WRONG, "role -1", create_word_role_minus, OPTION, false},
    {"ns_word_create", WRONG, "a barrier of no parties", create_barrier_of_none, OPTION, false},
    {"ns_word_create", WRONG, "a condition of no parties", create_condition_of_none, OPTION, false},
    {"ns_pool_create", THREAD, "right", create_and_destroy_here, NS_OK, false},
    {"ns_pool_create", THREAD, "in a second one", create_and_destroy_in_thread, NS_OK, false},
    {"ns_pool_create", CHILD, "right", forked_create, NS_OK, false},
    {"ns_pool_create", WRONG, "null", create_null, OPTION, true},
    {"ns_pool_create", WRONG, "null options", create_null_options, OPTION, true},
    {"ns_pool_create", WRONG, "mode 77", create_mode_77, OPTION, true},
    {"ns_pool_create", WRONG, "mode -1", create_mode_minus, OPTION, true},
    {"ns_pool_create", WRONG, "costs 77", create_costs_77, OPTION, true},
    {"ns_pool_create", WRONG, "order 77", create_order_77, OPTION, true},
    {"ns_pool_create", WRONG, "use 77 of the graph", create_graph_77, OPTION, true},
    {"ns_pool_create", WRONG, "2^32 - 1 workers", create_many_workers, OPTION, true},
    {"ns_pool_create", WRONG, "no such plan", create_no_file, NS_ERROR_FILE, true},
    {"ns_pool_create", WRONG, "a plan that is none", create_damaged_file, NS_ERROR_FORMAT, true},
    {"ns_pool_create", WRONG, "a pretended machine without a plan", create_pretended, OPTION, true},
    {"ns_pool_create", WRONG, "virtual time without a plan", create_virtual_without, OPTION, true},
    {"ns_pool_create", WRONG, "threads that record", create_threads_recorded, OPTION, true},
    {"ns_pool_create", WRONG, "threads in an order", create_threads_ordered, OPTION, true},
    {0},
};
