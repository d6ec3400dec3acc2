/* The costs of a single worker: steps of a core, pausing, switching fibers, steps of a queue, and spawning, executing
 * and joining tasks with empty bodies. */
#include "numasim/runtime.h"
#include "platform/atomics.h"
#include "platform/fiber.h"
#include "probe/probe.h"
#include "queues/deque.h"

/* ---- cores ------------------------------------------------------------------------------------------------------- */

/* The speed of a core: steps per second of a fixed loop. This rate is `core_steps_per_s` of a machine file.
 *
 * A step draws a 64-bit number (a multiplication and an addition), reads the number that the draw chooses from a table
 * of 16 KiB, multiplies and adds a double to a sum, and takes another branch for one draw in eight. Each step needs the
 * result of the previous step, so that no compiler computes several steps at once. All data stay in the first-level
 * cache. Rates of machines are comparable as long as this loop is not changed. */
enum { CORE_STEPS = 50000, ENTRIES = 2048, ENTRY_SHIFT = 53, KILO = 1000 };
_Static_assert(ENTRIES == 1 << (64 - ENTRY_SHIFT), "the upper bits of a draw choose an entry");

typedef struct {
    uint64_t table[ENTRIES];
    volatile uint64_t drawn; /* stored, so that no compiler removes a step */
    volatile double sum;
} work;

/* Return the next draw, with the multiplier of MMIX (Knuth, The Art of Computer Programming, volume 2, section
 * 3.3.4). */
static uint64_t next(uint64_t drawn) { return drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407); }

static void step_often(void *context, uint32_t member) {
    work *self = context;
    uint64_t drawn = self->drawn;
    double sum = 0;
    for (int step = 0; step < CORE_STEPS; step++) {
        const uint64_t entry = self->table[drawn >> ENTRY_SHIFT];
        sum = sum * 0.5 + (double)(entry & 1023u);
        drawn = next(drawn ^ entry);
        if (!(drawn >> 61)) drawn += (uint64_t)sum;
    }
    self->drawn = drawn;
    self->sum = sum;
}

/* Probe one core after the other, while the other cores are idle. */
void ns_probe_cores(ns_probe *self) {
    static work all;
    for (uint32_t entry = 0; entry < ENTRIES; entry++) all.table[entry] = next(entry);
    for (uint32_t at = 0; at < self->topology->cpu_count; at++) {
        const ns_cpu *cpu = &self->topology->cpu[at];
        const ns_subject subject = {"kilostep", "ns", cpu->id, NS_PROBE_NOWHERE};
        if (cpu->sibling != 0) continue;
        ns_probe_sample(self, &subject,
                        &(ns_sampling){.cpu = &cpu->id,
                                       .members = 1,
                                       .body = step_often,
                                       .context = &all,
                                       .operations = (double)CORE_STEPS / KILO});
    }
}

/* ---- small steps: a pause in a waiting loop, a switch to a fiber and back ---------------------------------------- */

enum { STEPS = 2000, STACK_BYTES = 65536 };

static void pause_often(void *context, uint32_t member) {
    for (int step = 0; step < STEPS; step++) ns_pause();
}

void ns_probe_pause(ns_probe *self) {
    ns_probe_alone(self, "pause", &(ns_sampling){.body = pause_often, .operations = STEPS});
}

static void yield_often(void *context, uint32_t member) {
    for (int step = 0; step < STEPS; step++) ns_yield();
}

/* Probe a yield to the operating system while no other thread is ready; other samples are discarded. */
void ns_probe_yield(ns_probe *self) {
    ns_probe_alone(self, "yield", &(ns_sampling){.body = yield_often, .operations = STEPS});
}

/* ---- fibers ------------------------------------------------------------------------------------------------------ */

typedef struct {
    ns_fiber *thread, *fiber;
} pair;

static void come_back(void *context) {
    pair *self = context;
    for (;;) ns_fiber_switch(self->fiber, self->thread);
}

static void go_there(void *context, uint32_t member) {
    pair *self = context;
    for (int step = 0; step < STEPS; step++) ns_fiber_switch(self->thread, self->fiber);
}

void ns_probe_fibers(ns_probe *self) {
    pair both = {0};
    int error = ns_fiber_adopt(&both.thread);
    if (!error) error = ns_fiber_create(&both.fiber, STACK_BYTES, come_back, &both);
    if (error) {
        ns_probe_miss(self, "fiber_switch", ns_error_sentence(error));
    } else {
        ns_probe_alone(self, "fiber_switch",
                       &(ns_sampling){.body = go_there, .context = &both, .operations = 2 * STEPS});
        ns_fiber_destroy(both.fiber);
    }
    if (both.thread) ns_fiber_destroy(both.thread);
}

/* ---- queues: the steps of a queue alone, with its cache line in the cache ---------------------------------------- */

enum { TASKS = 1024, CAPACITY_BITS = 12 };

typedef struct {
    ns_deque deque;
    uint32_t taken;
} bench;

static char anything; /* the queued object */

static void push_all(void *context, uint32_t member) {
    bench *self = context;
    for (int task = 0; task < TASKS; task++) ns_deque_push(&self->deque, &anything);
}

static void pop_all(void *context, uint32_t member) {
    bench *self = context;
    for (int task = 0; task < TASKS; task++) ns_deque_pop(&self->deque);
}

static void look(void *context, uint32_t member) {
    bench *self = context;
    for (int probe = 0; probe < TASKS; probe++) ns_deque_steal(&self->deque);
}

static void take_all(void *context, uint32_t member) {
    bench *self = context;
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

/* Fill the queue, and make half of its tasks public, so that thieves can take them: a thief that finds no public task
 * asks for tasks, and the owner's next push then makes tasks public. */
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
    static bench one, *const made = &one;
    if (ns_deque_create(&made->deque, CAPACITY_BITS)) {
        ns_probe_miss(self, "push", ns_error_sentence(NS_ERROR_MEMORY));
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
}

/* ---- tasks: spawned, executed and joined by a worker of the runtime ---------------------------------------------- */

typedef struct household household;
struct household {
    ns_pool *pool;
    void (*work)(ns_task *self); /* performs the measured operation TASKS times */
    double span_ns;              /* measured on the worker, so that handing over the work does not count */
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
    ns_pool_run(home->pool, keep_house, &home, sizeof home);
}

static double of_each_task(const void *context, double span_ns) {
    const household *home = context;
    return home->preempted ? NS_PROBE_WORTHLESS : home->span_ns / TASKS;
}

void ns_probe_tasks(ns_probe *self) {
    household home = {0};
    const int error = ns_pool_create(&home.pool, &(ns_pool_options){.mode = NS_MODE_NATIVE, .workers = 1, .seed = 1});
    if (error) {
        ns_probe_miss(self, "spawn_join", ns_error_sentence(error));
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
