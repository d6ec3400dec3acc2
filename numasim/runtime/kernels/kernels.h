/* The kernels, each in a file of its own. */
#ifndef NS_KERNELS_H
#define NS_KERNELS_H

#include "kernel.h"

extern const ns_kernel ns_fib_kernel;
extern const ns_kernel ns_graph_kernel;

#endif
