/* Reductions over loops and over children, implemented with public functions only. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "api/operations.h"

/* Return the number of bytes from a value to the next in an array of values that are aligned as by malloc. */
static size_t rounded(size_t bytes) {
    const size_t unit = _Alignof(max_align_t);
    return (bytes + unit - 1) / unit * unit;
}

/* ---- over loops -------------------------------------------------------------------------------------------------- */

enum { SMALL_BYTES = 64 }; /* bytes of a value on the stack; larger values are allocated */

typedef struct {
    int64_t grain;
    ns_reduce_body *body;
    ns_combine *combine;
    void *arguments;
    size_t bytes;
    char *values; /* [numbers of pieces] the value of the right half of each piece; NULL: values are on the stack */
} loop;

/* A piece of the range, with the place for its value. Numbers begin at 1: the halves of piece k are 2 k and 2 k + 1. */
typedef struct {
    const loop *of;
    int64_t first, last;
    uint64_t number;
    void *value;
} piece;
_Static_assert(sizeof(piece) <= NS_INLINED_BYTES, "a piece needs no memory of its own");

static bool is_halved(const loop *of, int64_t first, int64_t last) {
    return (uint64_t)last - (uint64_t)first > (uint64_t)of->grain;
}

static int64_t middle_of(int64_t first, int64_t last) {
    return first + (int64_t)(((uint64_t)last - (uint64_t)first) / 2);
}

static void reduce(ns_task *self, void *arguments) {
    const piece whole = *(const piece *)arguments;
    const loop *of = whole.of;
    if (!is_halved(of, whole.first, whole.last)) {
        of->body(self, of->arguments, whole.first, whole.last, whole.value);
        return;
    }
    _Alignas(max_align_t) char small[SMALL_BYTES];
    piece left = whole, right = whole;
    left.last = right.first = middle_of(whole.first, whole.last);
    left.number = 2 * whole.number;
    right.number = left.number + 1;
    right.value = of->values ? of->values + whole.number * of->bytes : small;
    ns_spawn(self, reduce, &right, sizeof right);
    ns_call(self, reduce, &left);
    ns_join(self);
    of->combine(whole.value, right.value);
}

/* Return a number above the numbers of all halved pieces; SIZE_MAX if this number has more than 63 bits. Going down the
 * right halves suffices, because a right half is at least as long as its left half. */
static size_t end_of_numbers(const loop *of, int64_t first, int64_t last) {
    size_t end = 1;
    for (; is_halved(of, first, last); first = middle_of(first, last)) {
        if (end > SIZE_MAX / 4) return SIZE_MAX;
        end *= 2;
    }
    return end;
}

int ns_parallel_reduce(ns_task *self, int64_t begin, int64_t end, int64_t grain, ns_reduce_body *body,
                       ns_combine *combine, void *arguments, void *value, size_t bytes) {
    if (!body || !combine || !value) return NS_ERROR_OPTION;
    if (bytes > PTRDIFF_MAX) return NS_ERROR_MEMORY;
    if (begin >= end) return NS_OK;
    _Alignas(max_align_t) char small[SMALL_BYTES];
    loop of = {grain > 0 ? grain : 1, body, combine, arguments, rounded(bytes), NULL};
    if (bytes > sizeof small) {
        const size_t count = end_of_numbers(&of, begin, end);
        of.values = count <= PTRDIFF_MAX / of.bytes ? calloc(count, of.bytes) : NULL;
        if (!of.values) return NS_ERROR_MEMORY;
    }
    void *beside = of.values ? of.values : small; /* place 0 of `values` is free: the numbers of pieces begin at 1 */
    ns_call(self, reduce, &(piece){&of, begin, end, 1, beside});
    combine(value, beside);
    free(of.values);
    return NS_OK;
}

/* ---- over children ----------------------------------------------------------------------------------------------- */

enum { TERMS = 32 };

/* A block of up to TERMS terms (values of children), in a list of blocks. */
struct ns_terms {
    struct ns_terms *next;
    size_t count;
    _Alignas(max_align_t) char terms[];
};

/* The arguments of a child, with the arguments of its body at the end. */
typedef struct {
    ns_term_body *body;
    void *term;
    _Alignas(max_align_t) char arguments[];
} contribution;

static void contribute(ns_task *self, void *arguments) {
    contribution *mine = arguments;
    mine->body(self, mine->arguments, mine->term);
}

/* Return the address for one more term; NULL if memory is short. */
static void *add_term(ns_reduction *self) {
    if (!self->newest || self->newest->count == TERMS) {
        struct ns_terms *made = calloc(1, sizeof *made + TERMS * rounded(self->bytes));
        if (!made) return NULL;
        *(self->newest ? &self->newest->next : &self->first) = made;
        self->newest = made;
    }
    return self->newest->terms + self->newest->count++ * rounded(self->bytes);
}

int ns_reduce_spawn(ns_task *self, ns_reduction *reduction, ns_term_body *body, const void *arguments, size_t bytes) {
    if (!reduction || !reduction->value || !reduction->combine || !body || ns_is_wrong_memory(arguments, bytes))
        return NS_ERROR_OPTION;
    if (reduction->bytes > PTRDIFF_MAX / (2 * TERMS)) return NS_ERROR_MEMORY;
    _Alignas(contribution) char small[256];
    const size_t taken = sizeof(contribution) + bytes;
    contribution *made = taken <= sizeof small ? (contribution *)(void *)small : malloc(taken);
    void *term = made ? add_term(reduction) : NULL;
    if (term) {
        made->body = body;
        made->term = term;
        if (bytes) memcpy(made->arguments, arguments, bytes);
        ns_spawn(self, contribute, made, taken);
    }
    if ((char *)made != small) free(made);
    return term ? NS_OK : NS_ERROR_MEMORY;
}

int ns_reduce_join(ns_task *self, ns_reduction *reduction) {
    if (!reduction || !reduction->value || !reduction->combine) return NS_ERROR_OPTION;
    ns_join(self);
    for (struct ns_terms *each = reduction->first, *next; each; each = next) {
        for (size_t at = 0; at < each->count; at++)
            reduction->combine(reduction->value, each->terms + at * rounded(reduction->bytes));
        next = each->next;
        free(each);
    }
    reduction->first = reduction->newest = NULL;
    return NS_OK;
}
