#include "threads/worker_stack.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* ---- bodies that begin ------------------------------------------------------------------------------------------- */

void ns_thread_enter_deep_body(ns_thread_worker *worker, ns_task *self, ns_body *body, void *arguments) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    ns_body *const *own = pool->bodies; /* bodies of the library */
    while (*own && *own != body) own++;
    if (*own) {
        body(self, arguments);
        return;
    }
    ns_thread_pool_note(pool, NS_ERROR_MEMORY, "tasks and calls nest too deeply for the stack of a worker");
    for (uint32_t id = 0; id < pool->base.workers; id++)
        ns_atomic_u64_store(&pool->worker[id]->stack_end, NS_NO_STACK, memory_order_relaxed); /* as in stand_on */
}

/* ---- stacks that overflow ---------------------------------------------------------------------------------------- */

/* The addresses of the guard pages below the thread's stack; end 0 in threads that are not watched. A signal handler
 * reads this variable, so its memory must exist before the first use. */
static _Thread_local struct {
    uintptr_t begin, end;
} guard __attribute__((tls_model("initial-exec")));

static const char OVERFLOWN[] =
    "numasim: the stack of a worker overflows: calls, or tasks that are called where they are joined, nest too "
    "deeply\n";

static void on_fault(int number, siginfo_t *fault, void *context) {
    const uintptr_t at = (uintptr_t)fault->si_addr;
    if (guard.begin <= at && at < guard.end && write(STDERR_FILENO, OVERFLOWN, sizeof OVERFLOWN - 1) < 0) {
        /* nothing can be done if the sentence cannot be written */
    }
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(number, &usual, NULL); /* the faulting instruction runs again and traps again */
    if (fault->si_code <= 0) raise(number);
}

void ns_thread_stack_report(void) {
    struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction found;
    if (!sigaction(SIGSEGV, NULL, &found) && found.sa_handler == SIG_DFL) sigaction(SIGSEGV, &ours, NULL);
}

/* Find the lowest address of the calling thread's stack, and the size of its guard pages. Return whether they are
 * known. */
static bool find_stack(uintptr_t *begin, size_t *guard_bytes) {
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes)) return false;
    const bool known =
        !pthread_attr_getstack(&attributes, &lowest, &bytes) && !pthread_attr_getguardsize(&attributes, guard_bytes);
    pthread_attr_destroy(&attributes);
    *begin = (uintptr_t)lowest;
    return known;
}

uintptr_t ns_thread_stack_end(void) {
    uintptr_t begin = 0;
    size_t guard_bytes = 0;
    return find_stack(&begin, &guard_bytes) ? begin + NS_LEAST_STACK_BYTES : 0;
}

void ns_thread_stack_watch(void *apart, size_t bytes) {
    uintptr_t begin = 0;
    size_t guard_bytes = 0;
    const stack_t ours = {.ss_sp = apart, .ss_size = bytes};
    stack_t other;
    if (sigaltstack(NULL, &other) || !(other.ss_flags & SS_DISABLE)) return; /* a sanitizer set this stack */
    if (!find_stack(&begin, &guard_bytes) || sigaltstack(&ours, NULL)) return;
    guard.begin = begin - guard_bytes;
    guard.end = begin;
}

void ns_thread_stack_leave(void) {
    const stack_t none = {.ss_flags = SS_DISABLE};
    if (guard.end) sigaltstack(&none, NULL);
    guard.end = 0;
}
