/* numasim-openmp-probe measures the costs of an OpenMP runtime. The command `empty` runs a program without any work:
 * recorded, it shows how long the recorder itself takes for each event.
 *
 *   numasim-openmp-probe costs LIBRARY    print each cost on a line: its name and nanoseconds
 *   numasim-openmp-probe empty ROUNDS     run empty tasks, with all calls at which the work of a task is interrupted
 *
 * The command `empty` uses the OpenMP runtime that is already loaded. */
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TASKS = 100, ROUNDS = 40, HOPS = 500, BLOCK_BYTES = 256 }; /* TASKS: fewer than a queue of libomp holds */

/* ---- the entry points that compilers call: GOMP's, which both libgomp and libomp have ---------------------------- */

typedef struct {
    void (*parallel)(void (*body)(void *), void *data, unsigned threads, unsigned flags);
    void (*task)(void (*body)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment,
                 bool deferred, unsigned flags, void **dependences, int priority, void *detach);
    void (*taskwait)(void);
    void (*barrier)(void);
    int (*thread)(void);
    bool (*loop_begin)(long first, long end, long step, long chunk, long *from, long *to);
    bool (*loop_next)(long *from, long *to);
    void (*loop_end)(void);
} entrances;

static entrances openmp;

static bool find(void *library, const char *name, void *entrance) {
    void *found = dlsym(library, name);
    memcpy(entrance, &found, sizeof found);
    if (!found) fprintf(stderr, "numasim-openmp-probe: the OpenMP runtime has no %s\n", name);
    return found;
}

/* Find the entry points of `library`, or of a library that is already loaded if `library` is NULL. Return false, with a
 * message, if an entry point is missing. */
static bool load(entrances *self, const char *library) {
    void *opened = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    if (!opened) {
        fprintf(stderr, "numasim-openmp-probe: %s\n", dlerror());
        return false;
    }
    return find(opened, "GOMP_parallel", &self->parallel) && find(opened, "GOMP_task", &self->task) &&
           find(opened, "GOMP_taskwait", &self->taskwait) && find(opened, "GOMP_barrier", &self->barrier) &&
           find(opened, "omp_get_thread_num", &self->thread) &&
           find(opened, "GOMP_loop_dynamic_start", &self->loop_begin) &&
           find(opened, "GOMP_loop_dynamic_next", &self->loop_next) && find(opened, "GOMP_loop_end", &self->loop_end);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void task(void (*body)(void *)) { openmp.task(body, NULL, NULL, 0, 1, true, 0, NULL, 0, NULL); }

static void nothing(void *data) {}

/* ---- a program without work -------------------------------------------------------------------------------------- */

static void one_child(void *data) {
    task(nothing);
    openmp.taskwait();
}

static void children_and_waits(void *data) {
    task(nothing);
    task(nothing);
    openmp.taskwait();
    task(nothing);
    openmp.taskwait();
    openmp.taskwait();
    task(nothing);
}

static void empty_rounds(void *data) {
    if (openmp.thread()) return;
    const int rounds = *(const int *)data;
    for (int i = 0; i < rounds; i++) {
        task(nothing);
        task(one_child);
        task(children_and_waits);
        openmp.taskwait();
        void *volatile block = malloc(BLOCK_BYTES);
        free(block);
    }
}

/* A loop in chunks. A runtime with a single thread makes one chunk. */
static void empty_chunks(void *data) {
    long from, to;
    bool more = openmp.loop_begin(0, *(const int *)data, 1, 1, &from, &to);
    while (more) more = openmp.loop_next(&from, &to);
    openmp.loop_end();
}

/* ---- costs ------------------------------------------------------------------------------------------------------- */

static _Atomic int arrived, released, ran;
static int64_t best_ns; /* the least time of all rounds for the quantity that the region measures */

static void least(int64_t ns) {
    if (ns < best_ns) best_ns = ns;
}

/* Spin while waiting for another thread. Yield the processor now and then, since the other thread may need it. */
static void pause_while_waiting(int *tries) {
    enum { PATIENCE = 1000 };
    if (++*tries % PATIENCE == 0) sched_yield();
}

/* Wait until all `parties` threads have come here, so that they begin together. */
static void meet(int parties) {
    const int mine = atomic_fetch_add(&arrived, 1);
    const int all = (mine / parties + 1) * parties;
    for (int tries = 0; atomic_load(&arrived) < all;) pause_while_waiting(&tries);
}

static int64_t first_ns, last_ns; /* when the first and the last task of a round ran; for a single thread */

static void count_run(void *data) {
    const int number = atomic_load_explicit(&ran, memory_order_relaxed);
    if (number == 0) first_ns = now_ns();
    if (number == TASKS - 1) last_ns = now_ns();
    atomic_store_explicit(&ran, number + 1, memory_order_release); /* release: a reader of the count reads the times */
}

/* Thread 0 makes and executes tasks. The other thread takes no tasks and does its own work. */
static void make_tasks(void *data) {
    const int execute = *(const int *)data;
    for (int round = 0; round < ROUNDS; round++) {
        meet(2);
        if (openmp.thread()) {
            for (int tries = 0; atomic_load(&released) <= round;) pause_while_waiting(&tries);
        } else {
            const int64_t begin = now_ns();
            for (int i = 0; i < TASKS; i++) task(nothing);
            const int64_t made = now_ns();
            openmp.taskwait();
            least(execute ? now_ns() - made : made - begin);
            atomic_store(&released, round + 1);
        }
        openmp.barrier();
    }
}

/* Thread 1 takes all tasks that thread 0 has made, while thread 0 is busy. Thread 1 may take the first tasks when it is
 * still in the barrier of the previous round: so `ran` is set to 0 before the first task is made. */
static void steal_tasks(void *data) {
    for (int round = 0; round < ROUNDS; round++) {
        if (openmp.thread() == 0) {
            atomic_store(&ran, 0);
            for (int i = 0; i < TASKS; i++) task(count_run);
            meet(2);
            for (int tries = 0; atomic_load(&ran) < TASKS;) pause_while_waiting(&tries);
            least(last_ns - first_ns);
        } else {
            meet(2);
        }
        openmp.barrier();
    }
}

/* Thread 0 makes tasks and waits for each of them; thread 1 waits for thread 0. */
static void wait_for_each(void *data) {
    for (int round = 0; round < ROUNDS; round++) {
        meet(2);
        if (openmp.thread()) {
            for (int tries = 0; atomic_load(&released) <= round;) pause_while_waiting(&tries);
        } else {
            const int64_t begin = now_ns();
            for (int i = 0; i < TASKS; i++) {
                task(nothing);
                openmp.taskwait();
            }
            least(now_ns() - begin);
            atomic_store(&released, round + 1);
        }
        openmp.barrier();
    }
}

static void wait_for_nothing(void *data) {
    if (openmp.thread()) return;
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t begin = now_ns();
        for (int i = 0; i < TASKS; i++) openmp.taskwait();
        least(now_ns() - begin);
    }
}

static void barriers(void *data) {
    for (int round = 0; round < ROUNDS; round++) {
        openmp.barrier();
        const int64_t begin = now_ns();
        for (int i = 0; i < TASKS; i++) openmp.barrier();
        if (openmp.thread() == 0) least(now_ns() - begin);
    }
}

static _Atomic int ball;

static void throw_line(void *data) {
    const int me = openmp.thread();
    for (int round = 0; round < 20; round++) {
        meet(2);
        const int64_t begin = now_ns();
        for (int hop = 0; hop < HOPS; hop++) {
            for (int tries = 0; (atomic_load(&ball) & 1) != me;) pause_while_waiting(&tries);
            atomic_fetch_add(&ball, 1);
        }
        if (me == 0) least(now_ns() - begin);
    }
}

static void serial_tasks(void *data) {
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t begin = now_ns();
        for (int i = 0; i < TASKS; i++) task(nothing);
        openmp.taskwait();
        least(now_ns() - begin);
    }
}

static void measure(const char *name, void (*body)(void *), int argument, unsigned threads, int64_t count) {
    best_ns = INT64_MAX;
    atomic_store(&arrived, 0);
    atomic_store(&released, 0);
    atomic_store(&ball, 0);
    openmp.parallel(body, &argument, threads, 0);
    printf("%s %.2f\n", name, (double)best_ns / (double)count);
}

static int costs(void) {
    measure("push", make_tasks, 0, 2, TASKS);
    measure("execute", make_tasks, 1, 2, TASKS);
    measure("each", wait_for_each, 0, 2, TASKS);
    measure("steal", steal_tasks, 0, 2, TASKS - 1);
    measure("wait", wait_for_nothing, 0, 2, TASKS);
    measure("barrier", barriers, 0, 2, TASKS);
    measure("line", throw_line, 0, 2, 2 * HOPS);
    measure("serial", serial_tasks, 0, 1, TASKS);
    return 0;
}

int main(int count, char **arguments) {
    const char *what = count == 3 ? arguments[1] : "";
    if (strcmp(what, "costs") == 0) return load(&openmp, arguments[2]) ? costs() : 1;
    if (strcmp(what, "empty") == 0) {
        int rounds = atoi(arguments[2]);
        if (!load(&openmp, NULL)) return 1;
        openmp.parallel(empty_rounds, &rounds, 0, 0);
        openmp.parallel(empty_chunks, &rounds, 0, 0);
        return 0;
    }
    fprintf(stderr, "usage: numasim-openmp-probe costs LIBRARY | empty ROUNDS\n");
    return 2;
}
