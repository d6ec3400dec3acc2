/* The kernels, each in a file of its own. */
#ifndef NS_KERNELS_H
#define NS_KERNELS_H

#include "kernels/kernel.h"

extern const ns_kernel ns_fft_kernel;
extern const ns_kernel ns_fib_kernel;
extern const ns_kernel ns_graph_kernel;
extern const ns_kernel ns_matmul_kernel;
extern const ns_kernel ns_mergesort_kernel;
extern const ns_kernel ns_nqueens_kernel;
extern const ns_kernel ns_sparselu_kernel;
extern const ns_kernel ns_spinlock_kernel;
extern const ns_kernel ns_stencil_kernel;
extern const ns_kernel ns_strassen_kernel;
extern const ns_kernel ns_syncbench_kernel;
extern const ns_kernel ns_uts_kernel;

#endif
