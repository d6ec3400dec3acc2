#include "threads/worker_stack.h"

static bool is_of_library(const ns_thread_pool *pool, ns_body *body) {
    ns_body *const *each = pool->bodies;
    while (*each && *each != body) each++;
    return *each;
}

void ns_thread_enter_deep_body(ns_thread_worker *worker, ns_task *self, ns_body *body, void *arguments) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (is_of_library(pool, body)) {
        body(self, arguments);
        return;
    }
    ns_thread_pool_note(pool, NS_ERROR_MEMORY, "tasks and calls nest too deeply for the stack of a worker");
    for (uint32_t id = 0; id < pool->base.workers; id++)
        ns_atomic_u64_store(&pool->worker[id]->stack_end, NS_NO_STACK, memory_order_relaxed); /* as in the header */
}
