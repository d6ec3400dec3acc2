/* Tasks in lanes. A lane is a worker's stack of slots, each with the body and arguments of a task (queues/lane.h). A
 * spawn is a push to the worker's own lane, and a join begins with pops from it; most of this code is inline in
 * numasim/typed_tasks.h. The children of a task are in the slots from its `first` on. Only a task that leaves its lane
 * has a record (memory of its own): a stolen task, whose end is marked in its slot, or a task of the worker's own lane
 * that the worker finds while it waits. A part is a body that is executed with children and joins of its own. */
#include <stdlib.h>

#include "execution/execution.h"

static ns_lane *lane_of(const ns_worker *worker) {
    const ns_thread_worker *whole = (const ns_thread_worker *)worker;
    return &ns_thread_pool_of(whole)->queues[whole->own]->lane;
}

/* Count the children of `self` again: tasks executed during a wait may have left children above them in the lane. */
static void renew_children(ns_task *self) {
    self->children = (uint32_t)(ns_lane_top(&self->worker->lane) - self->first);
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* A group: the children with dependences of one task, up to the task's next join. A waiting child is in no lane, and a
 * child that can begin is in the lane of the worker that released the child; so the group counts its children. The task
 * also has a task without work (do_nothing) in its lane, below all later children: a join that comes to it joins the
 * group. The groups of a worker nest like its tasks; worker->groups is a list of them, the innermost first. */
typedef struct ns_lane_group ns_lane_group;
struct ns_lane_group {
    ns_dependences known;
    const ns_lane_slot *first; /* `first` of the parent's ns_task */
    ns_atomic_u64 left;        /* number of children that have not ended */
    ns_lane_group *outer;
};

static void do_nothing(ns_task *self, void *arguments) { self->worker->tasks--; /* not counted as a task */ }

static ns_lane_group *group_at(const ns_worker *worker, const ns_lane_slot *first) {
    ns_lane_group *innermost = ((const ns_thread_worker *)worker)->groups;
    return innermost && innermost->first == first ? innermost : NULL;
}

/* Return the group of `self`; make the group if there is none. Return NULL if memory or room in the lane is short. */
static ns_lane_group *open_group(ns_task *self) {
    ns_thread_worker *worker = (ns_thread_worker *)self->worker;
    ns_lane_group *group = group_at(self->worker, self->first);
    if (group) return group;
    group = calloc(1, sizeof *group);
    if (!group) return NULL;
    ns_lane_settle(self);
    if (!ns_lane_push(lane_of(self->worker), do_nothing, NULL, 0)) {
        free(group);
        return NULL;
    }
    self->children++;
    group->first = self->first;
    group->outer = worker->groups;
    worker->groups = group;
    return group;
}

static bool has_none_left(const void *context) {
    const ns_lane_group *group = context;
    return ns_atomic_u64_load(&group->left, memory_order_acquire) == 0; /* acquire: sees all that the children did */
}

/* ---- joins ------------------------------------------------------------------------------------------------------- */

/* Run a body as a part whose children are in the slots from `top` on. Return the number of bytes of its result. */
NS_ALWAYS_INLINE uint32_t run_part(ns_worker *worker, ns_lane_slot *top, ns_body *body, void *arguments) {
    ns_task part = {.worker = worker, .first = top};
    ns_thread_enter_body(worker, &part, body, arguments);
    if (ns_lane_top(&worker->lane) != top) { /* the body has not joined all of its children */
        ns_lane_settle(&part);
        ns_lane_join(worker, top);
    }
    return part.returned;
}

/* Copy the result of a typed task, `returned` bytes in `arguments`, to the address at the begin of `arguments`. */
static void put_result(const char *arguments, uint32_t returned) {
    if (!returned) return;
    void *place;
    memcpy(&place, arguments, sizeof place);
    memcpy(place, arguments + NS_RESULT_AT, returned);
}

/* Execute a task whose arguments are not in the lane. */
NS_ALWAYS_INLINE void execute(ns_worker *worker, ns_lane_slot *top, ns_body *body, char *arguments) {
    put_result(arguments, run_part(worker, top, body, arguments));
    worker->tasks++;
}

/* Execute the task that was just popped. Its arguments are a copy, since the task's children overwrite its slot. */
static void execute_popped(ns_worker *worker, ns_lane_slot *slot) {
    ns_lane_slot copy;
    ns_lane_fill(&copy, slot->body, slot->arguments, sizeof slot->arguments);
    execute(worker, slot, copy.body, copy.arguments);
}

static bool has_ended(const void *slot) { return ns_lane_has_ended(slot); }

/* Execute other tasks until the task at the top, which was stolen, has ended; then remove it. If the other tasks have
 * left children above it, leave it there. `mark` is the first slot of the joining task's children. */
static void await_stolen(ns_worker *worker, ns_lane_slot *mark) {
    ns_lane *lane = lane_of(worker);
    ns_lane_slot *top = ns_lane_top(lane->owned), *slot = top - 1;
    if (!ns_lane_has_ended(slot)) {
        const ns_task waiting = {.worker = worker, .first = mark, .children = (uint32_t)(top - mark)};
        ns_thread_work_until((ns_thread_worker *)worker, &(ns_thread_wait){&waiting, has_ended, slot, NULL, NULL});
    }
    if (ns_lane_top(lane->owned) == top) ns_lane_join_stolen(lane);
}

static void join_lane(ns_worker *worker, ns_lane_slot *mark) {
    ns_task joining = {.worker = worker, .first = mark};
    for (;;) {
        renew_children(&joining);
        if (!joining.children) return;
        if (ns_lane_pops(&joining)) {
            ns_lane_move_top(&joining, joining.children - 1);
            execute_popped(worker, ns_lane_top_of(&joining));
            continue;
        }
        ns_lane_slot *slot = ns_lane_pop_slowly(lane_of(worker));
        if (slot)
            execute_popped(worker, slot);
        else
            await_stolen(worker, mark);
    }
}

/* Join the children from slot `mark` on, and then the children of the group that are not in this lane. */
static void join_group(ns_worker *worker, ns_lane_slot *mark, ns_lane_group *group) {
    ((ns_thread_worker *)worker)->groups = group->outer;
    join_lane(worker, mark);
    const ns_task waiting = {.worker = worker, .first = mark};
    ns_thread_work_until((ns_thread_worker *)worker, &(ns_thread_wait){&waiting, has_none_left, group, NULL, NULL});
    ns_dependences_destroy(&group->known);
    free(group);
}

void ns_lane_join(ns_worker *worker, ns_lane_slot *mark) {
    ns_lane_group *group = group_at(worker, mark);
    if (group) join_group(worker, mark, group);
    join_lane(worker, mark);
}

static void join(ns_task *self) {
    ns_lane_settle(self);
    self->children = 0;
    ns_lane_join(self->worker, self->first);
}

static void call(ns_task *self, ns_body *body, void *arguments) {
    run_part(self->worker, ns_lane_top_of(self), body, arguments);
}

static void wait_for(ns_task *task, const ns_thread_wait *wait) {
    ns_lane_settle(task);
    ns_thread_work_until((ns_thread_worker *)task->worker, wait);
    renew_children(task);
}

/* ---- spawns ------------------------------------------------------------------------------------------------------ */

/* Push a child of `self`; if the lane has no room, execute the child. */
static void push(ns_task *self, ns_body *body, const void *arguments, size_t bytes) {
    ns_lane_settle(self);
    if (ns_lane_push(lane_of(self->worker), body, arguments, bytes)) {
        self->children++;
    } else {
        ns_lane_slot copy;
        ns_lane_fill(&copy, body, arguments, bytes);
        execute(self->worker, ns_lane_top_of(self), body, copy.arguments);
    }
}

static void spawn(ns_task *self, const ns_work_order *order) {
    if (ns_thread_task_is_short(order)) {
        push(self, order->body, order->arguments, order->bytes);
    } else {
        ns_thread_task filled;
        if (ns_thread_task_fill(&filled, order))
            push(self, filled.body, filled.inlined, sizeof filled.inlined);
        else
            ns_thread_execute_order(self, order);
    }
}

ns_lane_slot *ns_lane_spawn(ns_worker *worker, ns_body *body, const void *arguments, size_t bytes) {
    ns_task self = {.worker = worker, .first = ns_lane_top(&worker->lane)};
    spawn(&self, &(ns_work_order){.body = body, .arguments = arguments, .bytes = bytes});
    return ns_lane_top_of(&self);
}

int ns_lane_admit(ns_worker *worker) { return ns_lane_push_written(lane_of(worker)); }

/* ---- children with dependences ----------------------------------------------------------------------------------- */

/* Run a child, and push the children that it releases. If the lane has no room for a released child, put it in front of
 * `*unplaced`. `mine` may be freed as soon as group->left is decreased. */
static void run_one_dependent(ns_worker *worker, ns_thread_dependent *mine, ns_thread_dependent **unplaced) {
    ns_lane_group *group = mine->group;
    ns_task part = {.worker = worker, .first = ns_lane_top(&worker->lane)};
    for (uint32_t at = 0; at < mine->access_count; at++) ns_thread_touch(&part, &mine->accesses[at]);
    run_part(worker, part.first, mine->body, mine->arguments);
    for (ns_waiting *each = ns_dependent_end(&mine->base), *next; each; each = next) {
        next = each->next;
        ns_thread_dependent *child = (ns_thread_dependent *)each->task;
        if (!ns_dependent_release(each->task)) continue;
        if (ns_lane_push(lane_of(worker), ns_lane_run_dependent, &child, sizeof(ns_thread_dependent *))) continue;
        child->next = *unplaced;
        *unplaced = child;
    }
    /* release: the join sees all that the child did */
    ns_atomic_u64_fetch_add(&group->left, UINT64_MAX, memory_order_release);
}

/* Return the next child with dependences to run: from the list `*unplaced`, or from the slots from `mark` on; NULL if
 * there is none. Join all other tasks in these slots that come before it. */
static ns_thread_dependent *next_dependent(ns_worker *worker, ns_lane_slot *mark, ns_thread_dependent **unplaced) {
    ns_thread_dependent *next = *unplaced;
    if (next) *unplaced = next->next;
    while (!next && ns_lane_top(&worker->lane) != mark) {
        ns_lane_slot *slot = ns_lane_pop(lane_of(worker));
        if (!slot)
            await_stolen(worker, mark);
        else if (slot->body == ns_lane_run_dependent)
            memcpy(&next, slot->arguments, sizeof(ns_thread_dependent *));
        else
            execute_popped(worker, slot);
    }
    return next;
}

/* Run a child with dependences. Then run, in a loop, the children that it released on this worker and that no thief
 * took; without the loop a chain of dependences would nest on the stack. */
void ns_lane_run_dependent(ns_task *self, void *arguments) {
    ns_worker *worker = self->worker;
    ns_lane_slot *mark = ns_lane_top_of(self);
    ns_thread_dependent *next = *(ns_thread_dependent **)arguments, *unplaced = NULL;
    while (next) {
        run_one_dependent(worker, next, &unplaced);
        next = next_dependent(worker, mark, &unplaced);
        worker->tasks += next != NULL;
    }
}

static void spawn_after(ns_task *self, const ns_work_order *order) {
    ns_lane_group *group = open_group(self);
    ns_waiting *entries = NULL;
    ns_thread_dependent *made = group ? ns_thread_dependent_create(&group->known, order, &entries) : NULL;
    if (!made) {
        ns_thread_execute_after_all(self, order);
        return;
    }
    made->group = group;
    /* relaxed: only the parent waits for zero */
    ns_atomic_u64_fetch_add(&group->left, 1, memory_order_relaxed);
    if (ns_thread_dependent_wait(&group->known, made, entries))
        push(self, ns_lane_run_dependent, &made, sizeof(ns_thread_dependent *));
}

/* ---- tasks that leave their lane --------------------------------------------------------------------------------- */

/* Return a new record with the body and the arguments of the task in a slot. */
static ns_thread_task *record_of(ns_thread_worker *worker, const ns_lane_slot *slot) {
    char arguments[NS_INLINED_BYTES];
    ns_lane_copy_arguments(slot, arguments);
    const ns_work_order order = {.body = slot->body, .arguments = arguments, .bytes = sizeof arguments};
    return ns_thread_task_create(worker, NULL, &order);
}

/* Take the oldest task, as a thief does. */
static ns_thread_task *take_oldest(ns_thread_worker *worker, ns_lane *lane) {
    ns_lane_slot *slot = ns_lane_steal(lane);
    if (!slot) return NULL;
    ns_thread_task *task = record_of(worker, slot);
    task->slot = slot;
    return task;
}

/* Take a task: the oldest of another worker's lane; the newest child of the waiting task in the own lane, else the
 * oldest task there. `is_owner` and `end` are not used. */
static ns_thread_task *take(ns_thread_worker *worker, const ns_thread_wait *wait, uint32_t q, bool is_owner,
                            enum ns_queue_end end) {
    const ns_task *waiting = wait->task;
    ns_lane *lane = &ns_thread_pool_of(worker)->queues[q]->lane;
    if (!worker->free && !ns_thread_records_more(worker)) return NULL;
    if ((int32_t)q != worker->own) return take_oldest(worker, lane);
    if (waiting && ns_lane_top(lane->owned) != waiting->first) {
        const ns_lane_slot *newest = ns_lane_pop(lane); /* a child of the waiting task */
        return newest ? record_of(worker, newest) : NULL;
    }
    /* the slots of the remaining tasks, below the waiting tasks, stay until their joins: take one as a thief does */
    ns_lane_publish(lane);
    return take_oldest(worker, lane);
}

/* The body of a task in the lane that stands for a task stolen before (`keep`): execute this task. */
void ns_lane_run_kept(ns_task *self, void *arguments) {
    ns_thread_task *task = *(ns_thread_task **)arguments;
    self->worker->tasks--;
    ns_thread_execute((ns_thread_worker *)self->worker, task);
}

static void keep(ns_thread_worker *worker, ns_thread_task *task) {
    if (!ns_lane_push(lane_of(&worker->base), ns_lane_run_kept, &task, sizeof(ns_thread_task *)))
        ns_thread_execute(worker, task);
}

static void execute_record(ns_thread_worker *worker, ns_thread_task *task) {
    ns_lane_slot *slot = task->slot;
    const uint32_t returned = run_part(&worker->base, ns_lane_top(&worker->base.lane), task->body, task->inlined);
    if (!slot) put_result(task->inlined, returned);
    /* free the record before marking the slot, since the join of the task may end the run */
    char arguments[NS_INLINED_BYTES];
    memcpy(arguments, task->inlined, sizeof arguments);
    ns_thread_task_end(worker, task);
    if (slot) ns_lane_end(slot, arguments, returned);
}

static void share(ns_thread_worker *worker) { ns_lane_publish(lane_of(&worker->base)); }

const ns_thread_execution ns_lane_execution = {
    .calls = NS_THREAD_CALLS(call, join),
    .in_lanes = true,
    .execute = execute_record,
    .wait = wait_for,
    .child_ended = ns_thread_child_ended_elsewhere, /* never called: in lanes only roots have parents */
    .take = take,
    .keep = keep,
    .share = share,
};
