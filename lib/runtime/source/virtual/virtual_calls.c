/* What programs call in virtual time: each call is an op of the plan's graph. */
#include "virtual/virtual_state.h"

static void spawn(ns_task *self, const ns_work_order *order) {
    ns_virtual_ask((virtual_task *)self, (virtual_call){.op = NS_OP_SPAWN, .order = order});
}

static void join(ns_task *self) { ns_virtual_ask((virtual_task *)self, (virtual_call){.op = NS_OP_WAIT}); }

/* The callee is on the fiber of its caller. It is gone when its end has been executed. */
static void call(ns_task *self, ns_body *body, void *arguments) {
    virtual_task *caller = (virtual_task *)self;
    if (ns_fiber_left(caller->fiber) < NS_LEAST_STACK_BYTES) {
        ns_virtual_fail(caller, NS_ERROR_MEMORY, "the calls of task %u nest too deeply for their stack", caller->row);
    }
    ns_virtual_ask(caller, (virtual_call){.op = NS_OP_CALL, .order = &(ns_work_order){.body = body}});
    virtual_task *callee = caller->callee;
    body(&callee->base, arguments);
    ns_virtual_ask(callee, (virtual_call){.op = NS_OP_END});
}

static void get(ns_task *self, ns_future *future) {
    ns_virtual_ask((virtual_task *)self, (virtual_call){.op = NS_VIRTUAL_GET, .future = future});
}

/* ---- synchronisation objects, and what has no call of its own ---------------------------------------------------- */

static void ask(ns_task *self, uint32_t op, uint32_t argument) {
    ns_virtual_ask((virtual_task *)self, (virtual_call){.op = op, .argument = argument});
}

static void lock(ns_task *self, uint32_t word) { ask(self, NS_OP_LOCK, word); }
static void unlock(ns_task *self, uint32_t word) { ask(self, NS_OP_UNLOCK, word); }
static void arrive(ns_task *self, uint32_t word) { ask(self, NS_OP_BARRIER, word); }
static void await(ns_task *self, uint32_t word) { ask(self, NS_OP_AWAIT, word); }

/* Bodies go on in the order in which the word is granted. */
static int64_t add(ns_task *self, uint32_t word, int64_t value) {
    ask(self, NS_OP_ATOMIC, word);
    ns_word *counter = &self->worker->pool->words[word];
    const int64_t before = counter->value;
    counter->value += value;
    return before;
}

/* How many pass is said by the graph. */
static void signal(ns_task *self, uint32_t word, uint32_t permits) {
    (void)permits;
    ask(self, NS_OP_SIGNAL, word);
}

/* ---- what is only told ------------------------------------------------------------------------------------------- */

static void work(ns_task *self, int64_t picoseconds) {
    (void)self;
    (void)picoseconds; /* the plan knows what its segments take */
}

static void declare(ns_task *self, const ns_access *access) {
    (void)self;
    (void)access; /* and what they access */
}

static void refuse(ns_task *self, int error, const char *sentence) {
    ns_virtual_fail((virtual_task *)self, error, "%s", sentence);
}

const ns_task_operations ns_virtual_calls = {
    .spawn = spawn,
    .spawn_after = spawn,
    .call = call,
    .join = join,
    .get = get,
    .work = work,
    .access = declare,
    .lock = lock,
    .unlock = unlock,
    .add = add,
    .arrive = arrive,
    .await = await,
    .signal = signal,
    .op = ask,
    .refuse = refuse,
};
