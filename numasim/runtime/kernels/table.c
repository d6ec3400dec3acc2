#include "kernels.h"

const ns_kernel *const NS_KERNELS[] = {
    &ns_fib_kernel,
    &ns_graph_kernel,
    NULL,
};
