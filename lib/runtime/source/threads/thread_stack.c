#include "threads/thread_stack.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "platform/fiber.h"

/* The pages below the thread's stack; none in threads of others. In no memory that is allocated when it is read first:
 * a handler of signals reads it. */
static _Thread_local struct {
    uintptr_t begin, end;
} guard __attribute__((tls_model("initial-exec")));

static const char OVERFLOWN[] =
    "numasim: the stack of a worker overflows: calls, or tasks that are called where they are joined, nest too "
    "deeply\n";

static void on_fault(int number, siginfo_t *fault, void *context) {
    (void)context;
    const uintptr_t at = (uintptr_t)fault->si_addr;
    if (guard.begin <= at && at < guard.end && write(STDERR_FILENO, OVERFLOWN, sizeof OVERFLOWN - 1) < 0) {
        /* nobody is there to be told */
    }
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(number, &usual, NULL); /* and what has trapped does so again */
    if (fault->si_code <= 0) raise(number);
}

void ns_thread_stack_report(void) {
    struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction found;
    if (!sigaction(SIGSEGV, NULL, &found) && found.sa_handler == SIG_DFL) sigaction(SIGSEGV, &ours, NULL);
}

/* What the system knows of the calling thread's stack: whether it does. */
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
    if (sigaltstack(NULL, &other) || !(other.ss_flags & SS_DISABLE)) return; /* a sanitizer's */
    if (!find_stack(&begin, &guard_bytes) || sigaltstack(&ours, NULL)) return;
    guard.begin = begin - guard_bytes;
    guard.end = begin;
}

void ns_thread_stack_leave(void) {
    const stack_t none = {.ss_flags = SS_DISABLE};
    if (guard.end) sigaltstack(&none, NULL);
    guard.end = 0;
}
