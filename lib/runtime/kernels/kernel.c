#include "kernels/kernel.h"

#include <stdarg.h>
#include <stdio.h>

int ns_setting_refuse(ns_setting *self, const char *sentence, ...) {
    va_list arguments;
    va_start(arguments, sentence);
    vsnprintf(self->problem, sizeof self->problem, sentence, arguments);
    va_end(arguments);
    return NS_ERROR_OPTION;
}

static int keep(int64_t made, uint32_t *id) {
    if (made < 0) return (int)made;
    *id = (uint32_t)made;
    return NS_OK;
}

int ns_object_attach(ns_pool *pool, const char *name, void *address, int64_t bytes, uint32_t *object) {
    return keep(ns_object_register(pool, name, address, bytes), object);
}

int ns_word_attach(ns_pool *pool, const char *name, enum ns_word_role role, uint32_t owner, uint32_t parties,
                   uint32_t *word) {
    return keep(ns_word_create(pool, name, role, owner, parties), word);
}
