/* What tasks cost: the steps of a queue by themselves, its line in the cache; and a task that is spawned, executed and
 * joined by a worker of the runtime, bodies empty.
 */
#include <stdlib.h>

#include "numasim/runtime.h"
#include "probe/probe.h"
#include "queues/deque.h"

enum { TASKS = 1024, CAPACITY_BITS = 12 };

/* ---- queues ------------------------------------------------------------------------------------------------------ */

typedef struct {
    ns_deque deque;
    uint32_t taken;
} bench;

static char anything; /* what is queued */

static void push_all(void *context, uint32_t member) {
    bench *self = context;
    (void)member;
    for (int task = 0; task < TASKS; task++) ns_deque_push(&self->deque, &anything);
}

static void pop_all(void *context, uint32_t member) {
    bench *self = context;
    (void)member;
    for (int task = 0; task < TASKS; task++) ns_deque_pop(&self->deque);
}

static void look(void *context, uint32_t member) {
    bench *self = context;
    (void)member;
    for (int probe = 0; probe < TASKS; probe++) ns_deque_steal(&self->deque);
}

static void take_all(void *context, uint32_t member) {
    bench *self = context;
    (void)member;
    self->taken = 0;
    while (ns_deque_steal(&self->deque)) self->taken++;
}

static void empty(void *context) {
    bench *self = context;
    while (ns_deque_pop(&self->deque)) continue;
}

static void fill(void *context) {
    empty(context);
    push_all(context, 0);
}

/* A thief that finds nothing public asks for it, and the owner's next push gives. */
static void offer(void *context) {
    bench *self = context;
    fill(context);
    while (ns_deque_steal(&self->deque)) continue;
    ns_deque_push(&self->deque, &anything);
}

static double of_each_taken(const void *context, double span_ns) {
    const bench *self = context;
    return self->taken ? span_ns / self->taken : NS_PROBE_WORTHLESS;
}

void ns_probe_queues(ns_probe *self) {
    bench *made = aligned_alloc(NS_LINE_BYTES, sizeof *made);
    if (!made || ns_deque_create(&made->deque, CAPACITY_BITS)) {
        ns_probe_miss(self, "push", NULL, ns_error_sentence(NS_ERROR_MEMORY));
        free(made);
        return;
    }
    ns_probe_alone(self, "push",
                   &(ns_sampling){.body = push_all, .context = made, .operations = TASKS, .prepare = empty});
    ns_probe_alone(self, "pop", &(ns_sampling){.body = pop_all, .context = made, .operations = TASKS, .prepare = fill});
    ns_probe_alone(self, "take",
                   &(ns_sampling){.body = take_all, .context = made, .prepare = offer, .value = of_each_taken});
    empty(made);
    ns_probe_alone(self, "probe", &(ns_sampling){.body = look, .context = made, .operations = TASKS});
    ns_deque_destroy(&made->deque);
    free(made);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

typedef struct household household;
struct household {
    ns_pool *pool;
    void (*work)(ns_task *self); /* TASKS times what is measured */
    double span_ns;              /* on the worker, without the way to it */
    bool preempted;
};

static void do_nothing(ns_task *self, void *arguments) { (void)self, (void)arguments; }

static void spawn_and_join(ns_task *self) {
    for (int task = 0; task < TASKS; task++) ns_spawn(self, do_nothing, NULL, 0);
    ns_join(self);
}

static void join_nothing(ns_task *self) {
    for (int task = 0; task < TASKS; task++) ns_join(self);
}

static void keep_house(ns_task *self, void *arguments) {
    household *home = *(household **)arguments;
    const long before = ns_preemptions();
    const double began_ns = ns_now_ns();
    home->work(self);
    home->span_ns = ns_now_ns() - began_ns;
    home->preempted = ns_preemptions() != before;
}

static void run_household(void *context, uint32_t member) {
    household *home = context;
    (void)member;
    ns_pool_run(home->pool, keep_house, &home, sizeof home);
}

static double of_each_task(const void *context, double span_ns) {
    const household *home = context;
    (void)span_ns;
    return home->preempted ? NS_PROBE_WORTHLESS : home->span_ns / TASKS;
}

void ns_probe_tasks(ns_probe *self) {
    household home = {0};
    const int error = ns_pool_create(&home.pool, &(ns_pool_options){.mode = NS_MODE_NATIVE, .workers = 1, .seed = 1});
    if (error) {
        ns_probe_miss(self, "spawn_join", NULL, ns_error_sentence(error));
        ns_pool_destroy(home.pool);
        return;
    }
    const ns_sampling tasks = {.body = run_household, .context = &home, .value = of_each_task};
    home.work = spawn_and_join;
    ns_probe_alone(self, "spawn_join", &tasks);
    home.work = join_nothing;
    ns_probe_alone(self, "join_nothing", &tasks);
    ns_pool_destroy(home.pool);
}
