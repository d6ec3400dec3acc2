/* Leapfrogging (model 3.2): a task that waits in a join executes only tasks from a worker that has begun one of the
 * task's own children.
 *
 * Run as `leapfrogs 0 PLAN`. Prints how many tasks ran, how many of them ran in a join of another task, and how many of
 * these came from a worker that had begun no child of the waiting task. */
#include <sched.h>
#include <stdatomic.h>

#include "program.h"

enum { DEPTH = 12, CHILDREN = 2 };

/* A task's data for its children and for tasks that run in its join. */
typedef struct {
    atomic_int begun_by[CHILDREN]; /* for each child: the worker that has begun the child, + 1 */
} frame;

typedef struct {
    int depth, spawner, child;
    frame *parent;
} node;

static _Thread_local const frame *waiting; /* the frame of the innermost task in whose join this thread is */
static atomic_int tasks, stolen, strange;

/* Return whether the worker has begun a child of the frame. A worker that took a child may not have noted this yet. */
static bool has_begun_a_child(const frame *of, int worker) {
    for (;;) {
        int said = 0;
        for (int at = 0; at < CHILDREN; at++) {
            const int by = atomic_load(&of->begun_by[at]);
            if (by == worker + 1) return true;
            said += by != 0;
        }
        if (said == CHILDREN) return false;
        sched_yield();
    }
}

static void run_node(ns_task *self, void *arguments) {
    const node *mine = arguments;
    const int worker = (int)ns_task_worker(self);
    if (mine->parent) atomic_store(&mine->parent->begun_by[mine->child], worker + 1);
    atomic_fetch_add(&tasks, 1);
    if (waiting && mine->spawner != worker) {
        atomic_fetch_add(&stolen, 1);
        if (!has_begun_a_child(waiting, mine->spawner)) atomic_fetch_add(&strange, 1);
    }
    if (!mine->depth) {
        sched_yield();
        return;
    }
    frame here = {0};
    for (int at = 0; at < CHILDREN; at++)
        ns_spawn(self, run_node, &(node){mine->depth - 1, worker, at, &here}, sizeof(node));
    const frame *outer = waiting;
    waiting = &here;
    ns_join(self);
    waiting = outer;
}

int main(int count, char **words) {
    ns_pool *pool = pool_of(count, words);
    run(pool, run_node, &(node){.depth = DEPTH}, sizeof(node));
    printf("%d %d %d\n", tasks, stolen, strange);
    return finish(pool);
}
