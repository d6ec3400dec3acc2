// Loops over hashes are compiled once for each generation of vector units; the processor's own is taken when the module
// is loaded. Elsewhere they are compiled once.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(NUMASIM_SANITIZED)
#define NUMASIM_VECTORS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define NUMASIM_VECTORS
#endif
