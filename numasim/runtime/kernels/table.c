#include "kernels/kernels.h"

const ns_kernel *const NS_KERNELS[] = {
    &ns_fft_kernel,
    &ns_fib_kernel,
    &ns_graph_kernel,
    &ns_matmul_kernel,
    &ns_mergesort_kernel,
    &ns_nqueens_kernel,
    &ns_sparselu_kernel,
    &ns_spinlock_kernel,
    &ns_stencil_kernel,
    &ns_strassen_kernel,
    &ns_syncbench_kernel,
    &ns_uts_kernel,
    NULL,
};
