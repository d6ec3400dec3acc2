/* Checks that children with dependences have the same effects as if they ran one after the other. The arguments choose
 * the way of running them. The programs are random programs whose tasks compute from cells (numbers in memory) that
 * they read the cells that they write, chains of more tasks than fit on a stack, and tasks of all other kinds in
 * between. */
#include "program.h"

enum { CELLS = 12, MOST_NAMED = 4, CHAIN = 5000, FAN = 100 };

static uint64_t mixed(uint64_t value) {
    value = (value ^ (value >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    return (value ^ (value >> 27)) * UINT64_C(0x94D049BB133111EB);
}

/* ---- random programs --------------------------------------------------------------------------------------------- */

/* A task that mixes the cells that it reads into the cells that it writes. */
typedef struct {
    uint64_t *cells, number;
    uint32_t count, cell[MOST_NAMED];
    enum ns_direction direction[MOST_NAMED];
} mix;

static void take_part(const mix *m) {
    uint64_t sum = m->number;
    for (uint32_t at = 0; at < m->count; at++) {
        if (m->direction[at] & NS_DIRECTION_IN) sum = mixed(sum + m->cells[m->cell[at]]);
    }
    for (uint32_t at = 0; at < m->count; at++) {
        if (m->direction[at] & NS_DIRECTION_OUT) m->cells[m->cell[at]] = mixed(sum + at);
    }
}

static mix drawn(uint64_t *cells, uint64_t seed, uint64_t number) {
    uint64_t draw = mixed(seed + number);
    mix made = {.cells = cells, .number = number, .count = (uint32_t)(draw % MOST_NAMED) + 1};
    for (uint32_t at = 0; at < made.count; at++) {
        draw = mixed(draw + at + 1);
        made.cell[at] = (uint32_t)(draw % CELLS);
        made.direction[at] = (enum ns_direction)(draw / CELLS % 3 + 1);
    }
    return made;
}

BODY(run_mix) { take_part(arguments); }

BODY(nothing) {}

/* Do a part of a mix by children that depend on each other by the same addresses. The task may leave out its join. */
BODY(run_mix_below) {
    mix *m = arguments;
    ns_spawn(self, nothing, NULL, 0);
    ns_spawn_after(self, nothing, NULL, 0, NS_DEPEND(NS_OUT(m), NS_OUT(NULL)));
    ns_spawn_after(self, run_mix, m, sizeof *m, NS_DEPEND(NS_IN(m), NS_INOUT(m->cells)));
    if (m->number % 2) ns_join(self);
}

static void spawn_mix(ns_task *self, const mix *m) {
    ns_dependence named[MOST_NAMED];
    for (uint32_t at = 0; at < m->count; at++)
        named[at] = (ns_dependence){&m->cells[m->cell[at]], m->direction[at], NULL};
    ns_body *const body = m->number % 3 ? run_mix : run_mix_below;
    ns_spawn_after(self, body, m, sizeof *m, named, m->count);
}

typedef struct {
    uint64_t *cells, seed, tasks;
} program;

/* Spawn all tasks of a program, now and then with a join or with other children in between. */
BODY(run_program) {
    const program *p = arguments;
    for (uint64_t number = 0; number < p->tasks; number++) {
        const mix m = drawn(p->cells, p->seed, number);
        spawn_mix(self, &m);
        if (number % 7 == 0) ns_spawn(self, nothing, NULL, 0);
        if (number % 200 == 199) ns_join(self);
    }
}

static void check_programs(ns_pool *pool, uint64_t programs, uint64_t tasks) {
    for (uint64_t seed = 0; seed < programs; seed++) {
        uint64_t cells[CELLS] = {0}, twin[CELLS] = {0};
        run(pool, run_program, &(program){cells, seed << 32, tasks}, sizeof(program));
        for (uint64_t number = 0; number < tasks; number++) {
            const mix m = drawn(twin, seed << 32, number);
            take_part(&m);
        }
        require(!memcmp(cells, twin, sizeof cells), "tasks with dependences do what they do one after the other");
    }
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

typedef struct {
    uint32_t *at, expected;
} turn;

BODY(take_turn) {
    const turn *t = arguments;
    require(*t->at == t->expected, "a chain is run in its order");
    ++*t->at;
}

BODY(run_chain) {
    uint32_t at = 0;
    for (uint32_t number = 0; number < CHAIN; number++)
        ns_spawn_after(self, take_turn, &(turn){&at, number}, sizeof(turn), NS_DEPEND(NS_INOUT(&at)));
    ns_join(self);
    require(at == CHAIN, "a join waits for the whole chain");
}

/* Typed tasks: many tasks read the value that one task has written, and one task writes after all have read. */
NS_TASK(uint32_t, doubled, const uint32_t *, from) {
    (void)self;
    return 2 * *from;
}

NS_TASK(int, replaced, uint32_t *, place, const uint32_t *, found, uint32_t, value) {
    if (found) ns_spawn(self, nothing, NULL, 0); /* a child that the end of the task joins */
    for (uint32_t at = 0; found && at < FAN; at++) require(found[at] == 2 * *place, "a writer waits for all readers");
    *place = value;
    return 1;
}

NS_TASK(int, fanned, uint32_t, rounds) {
    uint32_t place = 0, found[FAN];
    int first, last;
    uint32_t beside, other = 21;
    for (uint32_t round = 1; round <= rounds; round++) {
        replaced_spawn_after(self, NS_DEPEND(NS_OUT(&place)), &first, &place, NULL, round);
        for (uint32_t at = 0; at < FAN; at++) doubled_spawn_after(self, NS_DEPEND(NS_IN(&place)), &found[at], &place);
        doubled_spawn(self, &beside, &other); /* without dependences; the newest child during the next call */
        require(doubled_call(self, &other) == 42, "a call is run among dependences");
        replaced_spawn_after(self, NS_DEPEND(NS_INOUT(&place)), &last, &place, found, 0);
        if (round % 2)
            doubled_join(self);
        else
            ns_join(self);
        require(first == 1 && last == 1 && !place && beside == 42, "a typed join waits for dependences");
    }
    return 1;
}

/* Dependences of a call's children are separate from the caller's, and these children have ended when it returns. */
BODY(run_part) {
    uint32_t *place = *(uint32_t **)arguments;
    int done;
    replaced_spawn_after(self, NS_DEPEND(NS_INOUT(place)), &done, place, NULL, *place + 1);
    ns_join(self);
}

BODY(call_parts) {
    uint32_t place = 0, other = 0, *part = &place;
    int done;
    for (uint32_t round = 0; round < 50; round++) {
        replaced_spawn_after(self, NS_DEPEND(NS_INOUT(&other)), &done, &other, NULL, round + 1);
        ns_call(self, run_part, &part);
        require(place == round + 1, "a call joins the children that it has spawned");
        ns_join(self);
        require(other == round + 1, "and its caller those that it has");
    }
}

int main(int count, char **words) {
    ns_pool *pool = pool_of(count, words);
    int done = 0;
    check_programs(pool, 6, 400);
    run(pool, run_chain, NULL, 0);
    run(pool, fanned, &(fanned_order){&done, 4}, sizeof(fanned_order));
    run(pool, call_parts, NULL, 0);
    return finish(pool);
}
