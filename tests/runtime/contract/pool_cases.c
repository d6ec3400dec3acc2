/* Cases (calls of a public function in a situation) of functions for pools, called from outside the pool's tasks. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contract.h"

enum { OPTION = NS_ERROR_OPTION, CALLER = NS_ERROR_CALLER };

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

static int here(int (*call)(void)) { return call(); }

static int with_pool(const pool_way *of, int (*where)(int (*call)(void)), int (*call)(void)) {
    make_pool(of);
    const int error = where(call);
    ns_pool_destroy(it.pool);
    return error;
}

#define HERE_AND_ELSEWHERE(CALL, CHECKED)                                                               \
    static int CALL##_here(const pool_way *of) { return CHECKED(with_pool(of, here, CALL)); }           \
    static int CALL##_in_thread(const pool_way *of) { return CHECKED(with_pool(of, in_thread, CALL)); } \
    static int CALL##_in_child(const pool_way *of) { return CHECKED(with_pool(of, in_child, CALL)); }
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

/* Return whether the pool has threads. A fork does not copy threads, so such a pool
 * refuses to run in a forked process. */
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

#define CREATE(WHAT, ERROR, CHANGE)                                     \
    static void OF_LINE(change_)(ns_pool_options * options) { CHANGE; } \
    OUTSIDE("ns_pool_create", WRONG, WHAT, ERROR, SERIAL, create(way, OF_LINE(change_)))
CREATE("mode 77", OPTION, options->mode = (enum ns_mode)77)
CREATE("mode -1", OPTION, options->mode = (enum ns_mode) - 1)
CREATE("costs 77", OPTION, options->costs = (enum ns_costs)77)
CREATE("order 77", OPTION, options->order = (enum ns_order)77)
CREATE("use 77 of the graph", OPTION, options->graph = (enum ns_graph_use)77)
CREATE("2^32 - 1 workers", OPTION, options->workers = UINT32_MAX)
CREATE("no such plan", NS_ERROR_FILE, options->plan = "/there/is/no/such/file")
CREATE("a plan that is none", NS_ERROR_FORMAT, options->plan = "/proc/self/exe")
CREATE("a pretended machine without a plan", OPTION, (options->mode = NS_MODE_EMULATED, options->plan = NULL))
CREATE("virtual time without a plan", OPTION, (options->mode = NS_MODE_VIRTUAL, options->plan = NULL))
CREATE("threads that record", OPTION, (options->mode = NS_MODE_NATIVE, options->record = "graph.json"))
CREATE("threads in an order", OPTION, (options->mode = NS_MODE_NATIVE, options->order = NS_ORDER_STOLEN))

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

static int after_wrong_call(int64_t error) {
    const int after = run();
    ns_pool_destroy(it.pool);
    return after ? NS_ERROR_PROGRAM : (int)error;
}

/* A case with a wrong call, after which the pool runs as before. */
#define WRONG_CALL(FUNCTION, WHAT, ERROR, CALL) \
    OUTSIDE(#FUNCTION, WRONG, WHAT, ERROR, ALL, (make_pool(way), after_wrong_call(CALL)))
WRONG_CALL(ns_pool_run, "null", OPTION, ns_pool_run(NULL, nothing, NULL, 0))
WRONG_CALL(ns_pool_run, "a null body", OPTION, ns_pool_run(it.pool, NULL, NULL, 0))
WRONG_CALL(ns_pool_run, "null arguments of 8 bytes", OPTION, ns_pool_run(it.pool, nothing, NULL, 8))
WRONG_CALL(ns_pool_run, "-5 bytes", OPTION, ns_pool_run(it.pool, nothing, memory, (size_t)-5))
WRONG_CALL(ns_pool_team, "null", OPTION, ns_pool_team(NULL, nothing, NULL, 0))
WRONG_CALL(ns_pool_team, "a null body", OPTION, ns_pool_team(it.pool, NULL, NULL, 0))
WRONG_CALL(ns_pool_team, "null arguments of 8 bytes", OPTION, ns_pool_team(it.pool, nothing, NULL, 8))
WRONG_CALL(ns_pool_team, "-5 bytes", OPTION, ns_pool_team(it.pool, nothing, memory, (size_t)-5))
WRONG_CALL(ns_object_register, "null", OPTION, ns_object_register(NULL, "object", memory, 1))
WRONG_CALL(ns_object_register, "a null name", OPTION, ns_object_register(it.pool, NULL, memory, 1))
WRONG_CALL(ns_object_register, "a null address", OPTION, ns_object_register(it.pool, "object", NULL, 1))
WRONG_CALL(ns_object_register, "-5 bytes", OPTION, ns_object_register(it.pool, "object", memory, -5))
WRONG_CALL(ns_object_register, "-2^63 bytes", OPTION, ns_object_register(it.pool, "object", memory, INT64_MIN))
WRONG_CALL(ns_word_create, "null", OPTION, ns_word_create(NULL, "word", NS_WORD_LOCK, 0, 1))
WRONG_CALL(ns_word_create, "a null name", OPTION, ns_word_create(it.pool, NULL, NS_WORD_LOCK, 0, 1))
WRONG_CALL(ns_word_create, "role 77", OPTION, ns_word_create(it.pool, "word", (enum ns_word_role)77, 0, 1))
WRONG_CALL(ns_word_create, "role -1", OPTION, ns_word_create(it.pool, "word", (enum ns_word_role) - 1, 0, 1))
WRONG_CALL(ns_word_create, "a barrier of no parties", OPTION, ns_word_create(it.pool, "word", NS_WORD_BARRIER, 0, 0))
WRONG_CALL(ns_word_create, "a condition of no parties", OPTION,
           ns_word_create(it.pool, "word", NS_WORD_CONDITION, 0, 0))
WRONG_CALL(ns_pool_destroy, "null", NS_OK, ns_pool_destroy(NULL))
WRONG_CALL(ns_pool_problem, "null", NS_OK, ns_pool_problem(NULL)[0] ? NS_OK : NS_ERROR_PROGRAM)

/* ---- the other cases --------------------------------------------------------------------------------------------- */

OUTSIDE("ns_pool_run", THREAD, "right", NS_OK, ALL, run_here(way))
OUTSIDE("ns_pool_run", THREAD, "of an idle pool", NS_OK, ALL, run_in_thread(way))
OUTSIDE("ns_pool_run", THREAD, "while the pool runs", CALLER, ALL, run_meanwhile(way))
OUTSIDE("ns_pool_run", CHILD, "of the pool of its parent", CALLER, ALL, forked_run(way))
OUTSIDE("ns_pool_run", CHILD, "forked by a task", CALLER, ALL, run_in_fork(way))
OUTSIDE("ns_pool_team", THREAD, "right", NS_OK, ALL, team_here(way))
OUTSIDE("ns_pool_team", THREAD, "of an idle pool", NS_OK, ALL, team_in_thread(way))
OUTSIDE("ns_pool_team", THREAD, "while the pool runs", CALLER, ALL, team_meanwhile(way))
OUTSIDE("ns_pool_team", CHILD, "of the pool of its parent", CALLER, ALL, forked_team(way))
OUTSIDE("ns_pool_team", CHILD, "forked by a task", CALLER, ALL, team_in_fork(way))
OUTSIDE("ns_pool_destroy", THREAD, "of an idle pool", NS_OK, ALL, destroy_in_thread(way))
OUTSIDE("ns_pool_destroy", THREAD, "while the pool runs", CALLER, ALL, destroy_meanwhile(way))
OUTSIDE("ns_pool_destroy", CHILD, "of the pool of its parent", NS_OK, ALL, destroy_in_child(way))
OUTSIDE("ns_pool_destroy", CHILD, "forked by a task", CALLER, ALL, destroy_in_fork(way))
OUTSIDE("ns_pool_problem", THREAD, "right", NS_OK, ALL, says_nothing_here(way))
OUTSIDE("ns_pool_problem", THREAD, "of an idle pool", NS_OK, ALL, says_nothing_in_thread(way))
OUTSIDE("ns_pool_problem", THREAD, "while the pool runs", NS_OK, ALL, says_in_use_meanwhile(way))
OUTSIDE("ns_pool_problem", CHILD, "of the pool of its parent", NS_OK, ALL, says_nothing_in_child(way))
OUTSIDE("ns_pool_problem", CHILD, "forked by a task", NS_OK, ALL, says_in_use_in_fork(way))
OUTSIDE("ns_object_register", THREAD, "right", NS_OK, ALL, register_object_here(way))
OUTSIDE("ns_object_register", THREAD, "of an idle pool", NS_OK, ALL, register_object_in_thread(way))
OUTSIDE("ns_object_register", THREAD, "while the pool runs", CALLER, ALL, register_object_meanwhile(way))
OUTSIDE("ns_object_register", CHILD, "of the pool of its parent", NS_OK, ALL, register_object_in_child(way))
OUTSIDE("ns_object_register", CHILD, "forked by a task", CALLER, ALL, register_object_in_fork(way))
OUTSIDE("ns_word_create", THREAD, "right", NS_OK, ALL, create_word_here(way))
OUTSIDE("ns_word_create", THREAD, "of an idle pool", NS_OK, ALL, create_word_in_thread(way))
OUTSIDE("ns_word_create", THREAD, "while the pool runs", CALLER, ALL, create_word_meanwhile(way))
OUTSIDE("ns_word_create", CHILD, "of the pool of its parent", NS_OK, ALL, create_word_in_child(way))
OUTSIDE("ns_word_create", CHILD, "forked by a task", CALLER, ALL, create_word_in_fork(way))
OUTSIDE("ns_pool_create", THREAD, "right", NS_OK, ALL, create_and_destroy_here(way))
OUTSIDE("ns_pool_create", THREAD, "in a second one", NS_OK, ALL, create_and_destroy_in_thread(way))
OUTSIDE("ns_pool_create", CHILD, "right", NS_OK, ALL, forked_create(way))
OUTSIDE("ns_pool_create", WRONG, "null", OPTION, SERIAL, create_null(way))
OUTSIDE("ns_pool_create", WRONG, "null options", OPTION, SERIAL, create_null_options(way))
