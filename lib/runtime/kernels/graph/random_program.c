/* Random fork-join graphs. Each task draws from its own stream of random numbers, chosen by the number of the task. So
 * a graph is the same on every machine. */
#include <stdlib.h>

#include "kernels/graph/program.h"
#include "policy/draws.h"

enum { DRAW_ARRIVAL = 8, MOST_ROWS = 8000000 };
enum { CHILDREN, HABITS, FIRST_TIME }; /* indices of the draws in a task's stream */

typedef struct {
    const ns_random_program *random;
    uint32_t *children, *size; /* [capacity] children and subtree size of each row, in preorder */
    uint32_t rows, capacity;
    int error;
} tree;

static uint64_t stream_of(const tree *self, uint32_t row) {
    return ns_base((uint64_t)self->random->seed, DRAW_ARRIVAL, row);
}

static bool make_room(tree *self) {
    const uint32_t capacity = self->capacity ? 2 * self->capacity : 1024;
    uint32_t *children = realloc(self->children, capacity * sizeof *children);
    if (children) self->children = children;
    uint32_t *size = realloc(self->size, capacity * sizeof *size);
    if (size) self->size = size;
    self->capacity = capacity;
    if (!children || !size) self->error = NS_ERROR_MEMORY;
    return !self->error;
}

/* Draw the subtree of the next row at depth `depth`. The root has at least one child. */
static void grow(tree *self, int64_t depth) {
    if (self->error || (self->rows == self->capacity && !make_room(self))) return;
    if (self->rows == MOST_ROWS) {
        self->error = NS_ERROR_OPTION;
        return;
    }
    const uint32_t row = self->rows++;
    const uint64_t width = (uint64_t)self->random->width, number = ns_draw(stream_of(self, row), CHILDREN);
    uint32_t children = 0;
    if (depth < self->random->depth) {
        children = (uint32_t)(row ? ns_below(number, width + 1) : 1 + ns_below(number, width));
    }
    self->children[row] = children;
    for (uint32_t child = 0; child < children; child++) grow(self, depth + 1);
    self->size[row] = self->rows - row;
}

/* The place of the next op. As long as the arrays are NULL, ops are only counted. */
typedef struct {
    ns_program *program;
    uint64_t ops;
} writer;

static void put(writer *self, enum ns_op code, uint32_t argument) {
    if (self->program->code) {
        self->program->code[self->ops] = (uint8_t)code;
        self->program->argument[self->ops] = argument;
    }
    self->ops++;
}

static void put_run(writer *self, const tree *from, uint32_t row, uint64_t number) {
    ns_program *program = self->program;
    const uint64_t span = (uint64_t)(from->random->high_ps - from->random->low_ps) + 1;
    if (program->segment_ps) {
        const uint64_t draw = ns_draw(stream_of(from, row), FIRST_TIME + number);
        program->segment_ps[program->segments] = from->random->low_ps + (int64_t)ns_below(draw, span);
    }
    put(self, NS_OP_RUN, program->segments++);
}

/* Write the ops of a row. A draw determines the habits of the row: whether the task works between its spawns, waits
 * between its spawns, waits at its end, and works after this last wait. */
static void put_row(writer *self, const tree *from, uint32_t row) {
    const uint64_t habits = ns_draw(stream_of(from, row), HABITS);
    const uint32_t children = from->children[row];
    uint64_t runs = 0;
    put_run(self, from, row, runs++);
    uint32_t child = row + 1;
    for (uint32_t number = 0; number < children; number++) {
        const uint64_t bits = habits >> (4 + 2 * (number % 24));
        put(self, NS_OP_SPAWN, child);
        child += from->size[child];
        if (habits & bits & 1) put_run(self, from, row, runs++);
        if ((habits & 2) && (bits & 3) == 2) put(self, NS_OP_WAIT, 0);
    }
    if (children && (habits & 12)) {
        put(self, NS_OP_WAIT, 0);
        put_run(self, from, row, runs);
    }
}

static void put_rows(ns_program *self, const tree *from) {
    writer ops = {self, 0};
    self->segments = 0;
    for (uint32_t row = 0; row < from->rows; row++) {
        self->first[row] = ops.ops;
        put_row(&ops, from, row);
    }
    self->first[from->rows] = ops.ops;
}

/* Go through all ops twice: first without arrays, to count the ops, then to write the ops into arrays. */
static int lay_out(ns_program *self, const tree *from) {
    *self = (ns_program){.rows = from->rows, .phases = 1};
    self->first = malloc(((size_t)from->rows + 1) * sizeof *self->first);
    self->root = calloc(1, sizeof *self->root);
    self->phase = calloc(1, sizeof *self->phase);
    if (!self->first || !self->root || !self->phase) return NS_ERROR_MEMORY;
    self->phase[0].roots = 1;
    put_rows(self, from);
    const size_t ops = self->first[from->rows];
    self->code = malloc(ops);
    self->argument = malloc(ops * sizeof *self->argument);
    self->segment_ps = malloc(self->segments * sizeof *self->segment_ps);
    if (!self->code || !self->argument || !self->segment_ps) return NS_ERROR_MEMORY;
    put_rows(self, from);
    return NS_OK;
}

int ns_program_draw(ns_program *self, const ns_random_program *random, ns_setting *setting) {
    tree drawn = {.random = random};
    grow(&drawn, 0);
    int error = drawn.error;
    if (error == NS_ERROR_OPTION) {
        error = ns_setting_refuse(setting, "this graph has more than %d tasks; depth or width has to be smaller",
                                  MOST_ROWS);
    } else if (!error) {
        error = lay_out(self, &drawn);
    }
    free(drawn.children);
    free(drawn.size);
    return error;
}
