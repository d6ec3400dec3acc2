#include "kernels/kernel.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/ticks.h"

enum { LINE_BYTES = 64 };

int ns_setting_refuse(ns_setting *self, const char *sentence, ...) {
    va_list arguments;
    va_start(arguments, sentence);
    vsnprintf(self->problem, sizeof self->problem, sentence, arguments);
    va_end(arguments);
    return NS_ERROR_OPTION;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

void *ns_state_share(ns_state_memory *self, int64_t bytes, const char *name, uint32_t *object) {
    void *address = aligned_alloc(LINE_BYTES, ((size_t)bytes / LINE_BYTES + 1) * LINE_BYTES);
    if (address) self->piece[self->count++] = (ns_state_piece){address, bytes, name, object};
    return address;
}

void *ns_state_take(ns_state_memory *self, int64_t bytes) { return ns_state_share(self, bytes, NULL, NULL); }

void ns_state_spawn(ns_task *self, const ns_state_memory *memory, ns_body *body, const void *arguments, size_t bytes,
                    const ns_access *accesses, uint32_t count) {
    ns_spawn_with(self, body, arguments, bytes, accesses, memory->objects ? count : 0);
}

void ns_state_declare(ns_task *self, const ns_state_memory *memory, const ns_access *accesses, uint32_t count) {
    for (uint32_t at = 0; at < count && memory->objects; at++) ns_access_declare(self, &accesses[at]);
}

/* ---- states ------------------------------------------------------------------------------------------------------ */

int ns_state_create(void **made, const ns_kernel *kernel, ns_setting *setting) {
    *made = calloc(1, kernel->state_bytes);
    if (!*made) return NS_ERROR_MEMORY;
    for (int at = 0; at < kernel->parameter_count; at++) {
        memcpy((char *)*made + kernel->parameters[at].field, &setting->values[at].number, sizeof(int64_t));
    }
    const int error = kernel->create ? kernel->create(*made, setting) : NS_OK;
    if (error) ns_state_destroy(*made, kernel);
    return error;
}

int ns_state_attach(void *state, const ns_kernel *kernel, ns_pool *pool) {
    const ns_state_memory *memory = state;
    for (uint32_t at = 0; at < memory->count && memory->objects; at++) {
        const ns_state_piece *piece = &memory->piece[at];
        if (!piece->name) continue;
        const int64_t made = ns_object_register(pool, piece->name, piece->address, piece->bytes);
        if (made < 0) return (int)made;
        *piece->object = (uint32_t)made;
    }
    return kernel->attach ? kernel->attach(state, pool) : NS_OK;
}

int ns_word_attach(ns_pool *pool, const char *name, enum ns_word_role role, uint32_t owner, uint32_t parties,
                   uint32_t *word) {
    const int64_t made = ns_word_create(pool, name, role, owner, parties);
    if (made < 0) return (int)made;
    *word = (uint32_t)made;
    return NS_OK;
}

int ns_state_run(void *state, const ns_kernel *kernel, ns_pool *pool) {
    if (kernel->root) return ns_pool_run(pool, kernel->root, &state, sizeof state);
    return kernel->part ? ns_pool_team(pool, kernel->part, &state, sizeof state) : kernel->run(state, pool);
}

void ns_state_destroy(void *state, const ns_kernel *kernel) {
    ns_state_memory *memory = state;
    if (kernel->release) kernel->release(state);
    for (uint32_t at = 0; at < memory->count; at++) free(memory->piece[at].address);
    free(state);
}

/* ---- delays ------------------------------------------------------------------------------------------------------ */

enum { TRIALS = 7, TRIAL_MS = 1 };
static const int64_t GUESS_PER_MS = 1000000;

static int64_t calibrated;

static void calibrate(void) {
    int64_t least_ps = INT64_MAX;
    for (int trial = 0; trial < TRIALS; trial++) {
        const int64_t begin_ps = ns_cpu_ps();
        ns_delay_take(GUESS_PER_MS, TRIAL_MS * INT64_C(1000000000));
        const int64_t took_ps = ns_cpu_ps() - begin_ps;
        if (took_ps < least_ps) least_ps = took_ps;
    }
    calibrated = GUESS_PER_MS * TRIAL_MS * INT64_C(1000000000) / (least_ps > 0 ? least_ps : 1);
}

int64_t ns_delay_calibrate(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, calibrate);
    return calibrated;
}
