/* Workers that contend for one lock (thesis section 6.2, Table 6.2). Each worker repeats: think, take the lock, count,
 * release the lock. The bodies are as in numasim/workload/families/spinlock.py. */
#include "kernels/kernel.h"

typedef struct {
    ns_state_memory memory;
    int64_t acquisitions, critical_ps, think_ps;
    uint32_t workers, lock;
    int64_t delay;   /* `turns_per_ms` of `ns_delay_take` */
    int64_t counter; /* only the lock's holder changes the counter */
    int64_t twin;
} state;

static const ns_parameter PARAMETERS[] = {
    {"acquisitions", NS_INTEGER, "1000", 1, 8000000, NULL, "how often each worker takes the lock", NS_AT(acquisitions)},
    {"critical_ns", NS_TIME, "0", 0, 1000000000000, NULL, "the time that a worker holds the lock", NS_AT(critical_ps)},
    {"think_ns", NS_TIME, "0", 0, 1000000000000, NULL, "the time before each acquisition", NS_AT(think_ps)},
};

static void contend(ns_task *self, void *arguments) {
    state *of = *(state **)arguments;
    for (int64_t round = 0; round < of->acquisitions; round++) {
        if (of->think_ps) {
            ns_delay_take(of->delay, of->think_ps);
            ns_work(self, of->think_ps);
        }
        ns_word_lock(self, of->lock);
        of->counter++;
        ns_delay_take(of->delay, of->critical_ps);
        ns_work(self, of->critical_ps);
        ns_word_unlock(self, of->lock);
    }
}

static int create(void *whole, ns_setting *setting) {
    state *self = whole;
    self->workers = setting->workers;
    if (setting->waits) self->delay = ns_delay_calibrate();
    return NS_OK;
}

static int attach(void *whole, ns_pool *pool) {
    state *self = whole;
    return ns_word_attach(pool, "lock", NS_WORD_LOCK, 0, 1, &self->lock);
}

static void run_twin(void *whole) {
    state *self = whole;
    for (int64_t round = 0; round < self->acquisitions * self->workers; round++) {
        ns_delay_take(self->delay, self->think_ps);
        ns_delay_take(self->delay, self->critical_ps);
        self->twin++;
    }
}

static bool matches(const void *whole) {
    const state *self = whole;
    return self->counter == self->twin;
}

const ns_kernel ns_spinlock_kernel = {
    .name = "spinlock",
    .meaning = "workers that contend for one lock (thesis section 6.2)",
    NS_KERNEL_COMMON,
    .create = create,
    .attach = attach,
    .part = contend,
};
