#include "kernels/kernel.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- states ------------------------------------------------------------------------------------------------------ */

int ns_state_create(void **made, const ns_kernel *kernel, ns_setting *setting) {
    *made = calloc(1, kernel->state_bytes);
    if (!*made) return NS_ERROR_MEMORY;
    for (int at = 0; kernel->parameters[at].name; at++) {
        const ns_value *value = &setting->values[at];
        char *field = (char *)*made + kernel->parameters[at].field;
        if (kernel->parameters[at].kind == NS_PATH) {
            memcpy(field, &value->text, sizeof value->text);
        } else {
            memcpy(field, &value->number, sizeof value->number);
        }
    }
    const int error = kernel->create ? kernel->create(*made, setting) : NS_OK;
    if (error) ns_state_destroy(*made, kernel);
    return error;
}

static int keep(int64_t made, uint32_t *id) {
    if (made < 0) return (int)made;
    *id = (uint32_t)made;
    return NS_OK;
}

int ns_state_attach(void *state, const ns_kernel *kernel, ns_pool *pool) {
    const ns_state_memory *memory = state;
    int error = NS_OK;
    for (uint32_t at = 0; at < memory->count && memory->objects && !error; at++) {
        const ns_state_piece *piece = &memory->piece[at];
        if (!piece->name) continue;
        error = keep(ns_object_register(pool, piece->name, piece->address, piece->bytes), piece->object);
    }
    return error || !kernel->attach ? error : kernel->attach(state, pool);
}

int ns_word_attach(ns_pool *pool, const char *name, enum ns_word_role role, uint32_t owner, uint32_t parties,
                   uint32_t *word) {
    return keep(ns_word_create(pool, name, role, owner, parties), word);
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
