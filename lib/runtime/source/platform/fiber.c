#include "platform/fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "numasim/runtime.h"
#include "platform/sanitizers.h"

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#define NS_FIBER_UCONTEXT 1
#endif

struct ns_fiber {
#ifdef NS_FIBER_UCONTEXT
    ucontext_t context;
#else
    void *stack_pointer; /* points to the saved registers of a suspended fiber */
#endif
    ns_fiber_entry *entry;
    void *argument;
    char *mapping; /* NULL: the fiber is a thread's own stack */
    size_t mapping_bytes, guard_bytes;
    ns_sanitized_fiber sanitized;
};

static void begin(ns_fiber *self) {
    ns_sanitized_arrive(&self->sanitized);
    self->entry(self->argument);
    abort(); /* unreachable: entries do not return */
}

#if defined(__x86_64__)

enum { SAVED_WORDS = 8 }; /* six registers, mxcsr with the x87 control word, the return address */

/* Push the registers that a call preserves, store the stack pointer at `from`, and switch to the stack `to`. */
void ns_fiber_swap(void **from, void *to);
void ns_fiber_start(void);
__asm__(
    ".text\n.balign 16\n.globl ns_fiber_swap\n.hidden ns_fiber_swap\n.type ns_fiber_swap,@function\nns_fiber_swap:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  subq $8, %rsp\n  stmxcsr (%rsp)\n  fnstcw 4(%rsp)\n"
    "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n"
    "  ldmxcsr (%rsp)\n  fldcw 4(%rsp)\n  addq $8, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n  ret\n"
    ".size ns_fiber_swap, .-ns_fiber_swap\n"
    /* first switch to the fiber: r12 has the fiber, r13 has the function; there is no caller */
    ".balign 16\n.globl ns_fiber_start\n.hidden ns_fiber_start\n.type ns_fiber_start,@function\nns_fiber_start:\n"
    "  xorl %ebp, %ebp\n  movq %r12, %rdi\n  callq *%r13\n  ud2\n"
    ".size ns_fiber_start, .-ns_fiber_start\n");

static void prepare(ns_fiber *self) {
    uint64_t *top = (uint64_t *)(void *)(self->mapping + self->mapping_bytes);
    uint64_t *saved = top - SAVED_WORDS - 2; /* aligned to 16 bytes after the return to ns_fiber_start */
    uint32_t mxcsr;
    uint16_t control;
    __asm__("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(control));
    memset(saved, 0, (SAVED_WORDS + 2) * sizeof *saved);
    saved[0] = mxcsr | (uint64_t)control << 32;
    saved[3] = (uint64_t)(uintptr_t)begin; /* r13 */
    saved[4] = (uint64_t)(uintptr_t)self;  /* r12 */
    saved[7] = (uint64_t)(uintptr_t)ns_fiber_start;
    self->stack_pointer = saved;
}

#elif defined(__aarch64__)

enum { SAVED_WORDS = 20 }; /* x19 to x30, d8 to d15 */

void ns_fiber_swap(void **from, void *to);
void ns_fiber_start(void);
__asm__(
    ".text\n.balign 16\n.globl ns_fiber_swap\n.hidden ns_fiber_swap\n.type ns_fiber_swap,%function\nns_fiber_swap:\n"
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n  stp x25, x26, [sp, #48]\n"
    "  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n"
    "  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
    "  ldp x19, x20, [sp]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n  ldp x25, x26, [sp, #48]\n"
    "  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n"
    "  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n  ret\n"
    ".size ns_fiber_swap, .-ns_fiber_swap\n"
    ".balign 16\n.globl ns_fiber_start\n.hidden ns_fiber_start\n.type ns_fiber_start,%function\nns_fiber_start:\n"
    "  mov x29, xzr\n  mov x30, xzr\n  mov x0, x19\n  blr x20\n  brk #0\n"
    ".size ns_fiber_start, .-ns_fiber_start\n");

static void prepare(ns_fiber *self) {
    uint64_t *saved = (uint64_t *)(void *)(self->mapping + self->mapping_bytes) - SAVED_WORDS;
    memset(saved, 0, SAVED_WORDS * sizeof *saved);
    saved[0] = (uint64_t)(uintptr_t)self;
    saved[1] = (uint64_t)(uintptr_t)begin;
    saved[11] = (uint64_t)(uintptr_t)ns_fiber_start;
    self->stack_pointer = saved;
}

#else

static void begin_halves(unsigned high, unsigned low) { begin((ns_fiber *)(((uintptr_t)high << 16 << 16) | low)); }

static void prepare(ns_fiber *self) {
    uintptr_t whole = (uintptr_t)self;
    getcontext(&self->context);
    self->context.uc_stack.ss_sp = self->mapping + self->guard_bytes;
    self->context.uc_stack.ss_size = self->mapping_bytes - self->guard_bytes;
    self->context.uc_link = NULL;
    makecontext(&self->context, (void (*)(void))begin_halves, 2, (unsigned)(whole >> 16 >> 16), (unsigned)whole);
}

#endif

int ns_fiber_adopt(ns_fiber **self) {
    *self = calloc(1, sizeof **self);
    if (!*self) return NS_ERROR_MEMORY;
    ns_sanitized_adopt(&(*self)->sanitized);
    return NS_OK;
}

void ns_fiber_adopt_again(ns_fiber *self) { ns_sanitized_adopt(&self->sanitized); }

static int map_stack(ns_fiber *self, size_t stack_bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    self->guard_bytes = page;
    self->mapping_bytes = page + (stack_bytes + page - 1) / page * page;
    void *mapping = mmap(NULL, self->mapping_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapping == MAP_FAILED) return NS_ERROR_MEMORY;
    self->mapping = mapping;
    return mprotect(mapping, page, PROT_NONE) ? NS_ERROR_MEMORY : NS_OK;
}

/* Tell sanitizers that the functions on the stack will not resume. */
static void forget_stack(const ns_fiber *self) {
#ifdef NS_FIBER_UCONTEXT
    const void *low = self->mapping + self->guard_bytes;
#else
    const void *low = self->stack_pointer;
#endif
    if (low) ns_sanitized_forget(low, self->mapping + self->mapping_bytes);
}

int ns_fiber_create(ns_fiber **self, size_t stack_bytes, ns_fiber_entry *entry, void *argument) {
    ns_fiber *made = calloc(1, sizeof *made);
    if (!made) return NS_ERROR_MEMORY;
    const int error = map_stack(made, stack_bytes);
    if (error) {
        ns_fiber_destroy(made);
        return error;
    }
    ns_sanitized_create(&made->sanitized, made->mapping + made->guard_bytes, made->mapping_bytes - made->guard_bytes);
    ns_fiber_reuse(made, entry, argument);
    *self = made;
    return NS_OK;
}

void ns_fiber_reuse(ns_fiber *self, ns_fiber_entry *entry, void *argument) {
    self->entry = entry;
    self->argument = argument;
    forget_stack(self);
    prepare(self);
}

void ns_fiber_switch(ns_fiber *from, ns_fiber *to) {
    ns_sanitized_leave(&from->sanitized, &to->sanitized);
#ifdef NS_FIBER_UCONTEXT
    swapcontext(&from->context, &to->context);
#else
    ns_fiber_swap(&from->stack_pointer, to->stack_pointer);
#endif
    ns_sanitized_arrive(&from->sanitized);
}

uintptr_t ns_fiber_stack_begin(const ns_fiber *self) { return (uintptr_t)(self->mapping + self->guard_bytes); }

/* The stack register is read, not a variable's address, since sanitizers may keep variables outside the stack. */
size_t ns_fiber_left(const ns_fiber *self) {
    return (size_t)((uintptr_t)__builtin_frame_address(0) - ns_fiber_stack_begin(self));
}

void ns_fiber_destroy(ns_fiber *self) {
    if (!self) return;
    if (self->mapping) {
        forget_stack(self);
        ns_sanitized_destroy(&self->sanitized);
        munmap(self->mapping, self->mapping_bytes);
    }
    free(self);
}
