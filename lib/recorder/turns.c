#include "turns.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define TURNS                                                                                                   \
    "NUMASIM_RECORD_TURNS" /* seconds without the end of a turn after which turns are given up; if the variable \
                              is not set, there are no turns */

typedef struct {
    sem_t turn;      /* posted when the thread gets its turn */
    sem_t go;        /* posted when all threads have had their turns */
    bool at_barrier; /* whether the thread's turn has ended at the barrier */
    bool paused;     /* whether the thread waits in the runtime (ns_turn_pause) */
    bool ending;     /* whether the thread is at the barrier, and still executes tasks that it has made */
    int64_t tasks;   /* number of tasks that the thread has made less tasks that have ended on the thread */
} member;

struct ns_team {
    uint64_t number; /* number of the parallel region */
    ns_team *outer;  /* the team of the thread that began the region */
    uint32_t outer_index;
    uint32_t room; /* how many members the allocation has space for */
    _Atomic uint32_t size;
    pthread_mutex_t passing; /* protects the fields below, and `at_barrier` and `paused` of the members */
    uint32_t arrived;        /* number of members at the barrier */
    bool free;               /* whether no thread has the turn */
    ns_team *next;           /* the next team in the list `kept` */
    member members[];
};

extern void *__libc_calloc(size_t count, size_t bytes);

static atomic_bool in_turn;
static long patience_s;
static atomic_ulong passes; /* how often a turn has passed, over all teams */
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;
static ns_team *kept; /* teams whose regions have ended, for reuse */

void ns_turns_begin(void) {
    const char *asked = getenv(TURNS);
    patience_s = asked ? strtol(asked, NULL, 10) : 0;
    in_turn = patience_s > 0;
}

static ns_team *kept_team(uint32_t room) {
    pthread_mutex_lock(&keeping);
    ns_team **place = &kept;
    while (*place && (*place)->room < room) place = &(*place)->next;
    ns_team *found = *place;
    if (found) *place = found->next;
    pthread_mutex_unlock(&keeping);
    return found;
}

ns_team *ns_team_begin(uint64_t number, uint32_t asked, ns_team *outer, uint32_t index) {
    ns_team *self = kept_team(asked);
    if (!self) self = __libc_calloc(1, sizeof *self + asked * sizeof *self->members);
    if (!self) return NULL;
    const uint32_t room = self->room < asked ? asked : self->room;
    *self = (ns_team){.number = number, .outer = outer, .outer_index = index, .room = room};
    pthread_mutex_init(&self->passing, NULL);
    for (uint32_t i = 0; i < self->room; i++) {
        member *one = &self->members[i];
        *one = (member){0};
        sem_init(&one->turn, 0, i == 0);
        sem_init(&one->go, 0, 0);
    }
    return self;
}

ns_team *ns_team_end(ns_team *self, uint32_t *index) {
    ns_team *outer = self->outer;
    *index = self->outer_index;
    pthread_mutex_lock(&keeping);
    self->next = kept;
    kept = self;
    pthread_mutex_unlock(&keeping);
    return outer;
}

uint64_t ns_team_number(const ns_team *self) { return self->number; }

void ns_team_set_size(ns_team *self, uint32_t size) {
    if (size > self->room) in_turn = false;
    self->size = size;
}

static bool has_turns(const ns_team *self) { return in_turn && self->size > 1; }

/* Wait for a post of the semaphore. Return true if this thread is the one that gives up turns, after the time limit. */
static bool wait_for(sem_t *self) {
    for (;;) {
        const unsigned long before = passes;
        struct timespec end;
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_sec += patience_s;
        int failed;
        while ((failed = sem_timedwait(self, &end)) != 0 && errno == EINTR) continue;
        if (!failed || !in_turn) return false;
        if (passes == before) return atomic_exchange(&in_turn, false);
    }
}

bool ns_turn_take(ns_team *self, uint32_t index) {
    if (!has_turns(self)) return false;
    member *mine = &self->members[index];
    pthread_mutex_lock(&self->passing);
    const bool has_it = mine->paused && self->free;
    if (has_it) self->free = false;
    mine->paused = false;
    pthread_mutex_unlock(&self->passing);
    return !has_it && wait_for(&mine->turn);
}

/* Give the turn to the next thread that can work. The caller has locked the team. */
static void pass_turn(ns_team *self, uint32_t index) {
    const uint32_t size = self->size;
    passes++;
    for (uint32_t i = 1; i <= size; i++) {
        member *next = &self->members[(index + i) % size];
        if (next->at_barrier || next->paused) continue;
        sem_post(&next->turn);
        return;
    }
    self->free = true;
}

void ns_turn_pause(ns_team *self, uint32_t index) {
    if (!has_turns(self)) return;
    pthread_mutex_lock(&self->passing);
    self->members[index].paused = true;
    pass_turn(self, index);
    pthread_mutex_unlock(&self->passing);
}

static bool end_turn(ns_team *self, uint32_t index) {
    member *mine = &self->members[index];
    const uint32_t size = self->size;
    pthread_mutex_lock(&self->passing);
    mine->ending = false;
    mine->at_barrier = true;
    const bool last = ++self->arrived == size;
    if (!last) pass_turn(self, index);
    pthread_mutex_unlock(&self->passing);
    if (!last) return wait_for(&mine->go);
    self->arrived = 0;
    for (uint32_t i = 0; i < size; i++) self->members[i].at_barrier = false;
    passes++;
    sem_post(&self->members[0].turn);
    for (uint32_t i = 0; i < size; i++) {
        if (i != index) sem_post(&self->members[i].go);
    }
    return false;
}

bool ns_turn_end(ns_team *self, uint32_t index) {
    if (!has_turns(self)) return false;
    self->members[index].ending = self->members[index].tasks > 0;
    return !self->members[index].ending && end_turn(self, index);
}

void ns_turn_task_made(ns_team *self, uint32_t index) {
    if (has_turns(self)) self->members[index].tasks++;
}

bool ns_turn_task_done(ns_team *self, uint32_t index) {
    if (!has_turns(self)) return false;
    member *mine = &self->members[index];
    return --mine->tasks <= 0 && mine->ending && end_turn(self, index);
}
