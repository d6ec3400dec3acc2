/* Runs all cases (calls of a public function in a situation), each in a process of its own: `contract [NAME=MODE=PLAN
 * ...]`. Each argument is a way of running pools, in addition to serial mode and lanes. Prints a line for each case that
 * does not end as its table says, then a line for each function and situation that has a case or a rule, and finally the
 * numbers of functions and cases. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contract.h"

enum { MOST_WAYS = 16, MOST_SECONDS = 60, MOST_CHECKED = 256, MOST_CASES = 512 };

static const char *const SITUATION_NAME[SITUATIONS] = {"task", "thread", "child", "destroyed", "wrong"};
static const char *const RULE_NAME[RULES] = {"does not occur", "self", "fork", "freed"};

bodies it;

void found(int64_t error) {
    if (error < 0 && !it.error) it.error = (int)error;
}

/* Limit the time, so that a hanging case ends. All other cases take much less time. */
void limit_time(void) { alarm(MOST_SECONDS); }

/* ---- second threads and forked processes ------------------------------------------------------------------------- */

typedef struct {
    int (*call)(void);
    int error;
} threaded;

static void *run_threaded(void *argument) {
    threaded *self = argument;
    self->error = self->call();
    return NULL;
}

int in_thread(int (*call)(void)) {
    threaded self = {call, NS_OK};
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_threaded, &self)) exit(3);
    pthread_join(thread, NULL);
    return self.error;
}

static int status_of(pid_t process) {
    int status = 0;
    waitpid(process, &status, 0);
    return status;
}

int in_child(int (*call)(void)) {
    const pid_t process = fork();
    if (!process) {
        limit_time();
        const int error = call();
        _exit(error > 0 ? 0 : -error);
    }
    const int status = status_of(process);
    return WIFEXITED(status) ? -WEXITSTATUS(status) : -1000 - WTERMSIG(status);
}

/* ---- one case ---------------------------------------------------------------------------------------------------- */

/* A case, and the way of running a pool in which it is run. */
typedef struct {
    const contract_case *of;
    const pool_way *way;
} one_case;

static int complain(const char *what, int error) {
    fprintf(stderr, " %s (code %d)", what, error);
    return 1;
}

static int run_body(const contract_case *the, const pool_way *way) {
    make_pool(way);
    const int ended = ns_pool_run(it.pool, the->body, NULL, 0), error = it.error ? it.error : ended;
    const char *problem = ns_pool_problem(it.pool);
    int wrong = error == the->error ? 0 : complain(problem[0] ? problem : "no sentence", error);
    if (ended && strlen(problem) < 10) wrong = complain("an error without a sentence", ended);
    if (!wrong && the->says && !strstr(problem, the->says)) wrong = complain(problem, ended);
    if (ns_pool_destroy(it.pool)) wrong = complain("the pool cannot be destroyed", 0);
    return wrong;
}

static void call_free(ns_task *self, void *arguments) {
    (void)self;
    found((*(int (**)(void))arguments)());
}

static int run_free(const contract_case *the, const pool_way *way) {
    if (the->situation == THREAD) return in_thread(the->free_call);
    if (the->situation == CHILD) return in_child(the->free_call);
    make_pool(way);
    const int error = ns_pool_run(it.pool, call_free, &the->free_call, sizeof the->free_call);
    ns_pool_destroy(it.pool);
    return error ? error : it.error;
}

static int run_case(const contract_case *the, const pool_way *way) {
    if (the->body) return run_body(the, way);
    const int error = the->call ? the->call(way) : run_free(the, way);
    return error == the->error ? 0 : complain(ns_error_sentence(error), error);
}

/* ---- all cases --------------------------------------------------------------------------------------------------- */

static contract_case cases[MOST_CASES];
static struct {
    const char *function;
    enum situation situation;
    enum rule rule;
} rules[MOST_CASES];
static int case_count, rule_count, runs, failures;

void add_case(contract_case added) {
    if (case_count == MOST_CASES) exit(3);
    cases[case_count++] = added;
}

void add_rule(const char *function, enum situation situation, enum rule rule) {
    if (rule_count == MOST_CASES) exit(3);
    rules[rule_count].function = function;
    rules[rule_count].situation = situation;
    rules[rule_count++].rule = rule;
}

static char names[MOST_CHECKED][64];
static bool covered[MOST_CHECKED][SITUATIONS];
static int functions;

static int number_of(const char *function) {
    int at = 0;
    while (at < functions && strcmp(names[at], function) != 0) at++;
    if (at == functions) snprintf(names[functions++], sizeof names[0], "%s", function);
    return at;
}

/* A case whose process is running. */
typedef struct {
    one_case the;
    pid_t process;
    FILE *complaints;
} started;
static started pending; /* `process` is 0 if no case is running */

static void finish_pending(void) {
    const contract_case *the = pending.the.of;
    const pool_way *way = pending.the.way;
    char said[4096] = "";
    if (!pending.process) return;
    const int status = status_of(pending.process);
    rewind(pending.complaints);
    said[fread(said, 1, sizeof said - 1, pending.complaints)] = 0;
    fclose(pending.complaints);
    pending.process = 0;
    runs++;
    covered[number_of(the->function)][the->situation] = true;
    if (the->error == DIES ? status && strstr(said, the->says) : !status && !said[0]) return;
    failures++;
    printf("%s, %s, %s, %s: %s%d;%s\n", the->function, SITUATION_NAME[the->situation], the->what, way->name,
           WIFSIGNALED(status) ? "signal " : "status ", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
           said);
}

/* Start a case, and then finish the previous case, so that two processors are used. */
static void try(const contract_case *the, const pool_way *way) {
    started next = {{the, way}, 0, tmpfile()};
    if (!next.complaints) exit(2);
    fflush(stdout);
    next.process = fork();
    if (!next.process) {
        limit_time();
        dup2(fileno(next.complaints), STDERR_FILENO);
        exit(run_case(the, way));
    }
    finish_pending();
    pending = next;
}

static bool is_in(enum ways ways, const pool_way *way) {
    const bool is_virtual = way->mode == NS_MODE_VIRTUAL, in_lanes = way->mode == NS_MODE_NATIVE && !way->plan;
    const bool on_fibers = strcmp(way->name, "fibers") == 0;
    switch (ways) {
        case ALL: return true;
        case NOT_VIRTUAL: return !is_virtual;
        case ON_STACKS: return !is_virtual && !on_fibers;
        case SERIAL: return way->mode == NS_MODE_SERIAL;
        case LANES: return in_lanes;
        case NEITHER: return !is_virtual && !in_lanes;
        case WITHOUT_POOL: return in_lanes;
    }
    return false;
}

static pool_way parse(char *argument) {
    char *mode = strchr(argument, '='), *plan = mode ? strchr(mode + 1, '=') : NULL;
    if (!plan) exit(2);
    *mode = *plan = 0;
    return (pool_way){argument, (enum ns_mode)atoi(mode + 1), plan + 1};
}

int main(int arguments, char **argument) {
    pool_way ways[MOST_WAYS] = {{"serial", NS_MODE_SERIAL, NULL}, {"lanes", NS_MODE_NATIVE, NULL}};
    int count = 2;
    for (int at = 1; at < arguments && count < MOST_WAYS; at++) ways[count++] = parse(argument[at]);
    make_pool(&ways[1]); /* values that a process determines only once are inherited by all processes forked from this
                            one */
    ns_pool_destroy(it.pool);
    for (int way = 0; way < count; way++) {
        for (int at = 0; at < case_count; at++) {
            if (is_in(cases[at].ways, &ways[way])) try(&cases[at], &ways[way]);
        }
    }
    finish_pending();
    for (int at = 0; at < functions; at++) {
        for (enum situation where = TASK; where < SITUATIONS; where++) {
            if (covered[at][where]) printf("%s %s defined\n", names[at], SITUATION_NAME[where]);
        }
    }
    for (int at = 0; at < rule_count; at++) {
        printf("%s %s %s\n", rules[at].function, SITUATION_NAME[rules[at].situation], RULE_NAME[rules[at].rule]);
    }
    printf("%d functions, %d cases, %d failures\n", functions, runs, failures);
    return failures > 0;
}
