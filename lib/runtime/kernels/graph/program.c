#include "kernels/graph/program.h"

#include <stdlib.h>

void ns_program_destroy(ns_program *self) {
    free(self->first);
    free(self->code);
    free(self->argument);
    free(self->segment_ps);
    free(self->root);
    free(self->phase);
    free(self->word);
}
