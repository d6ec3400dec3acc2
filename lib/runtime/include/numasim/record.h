/* Declarations of the memory accesses of OpenMP tasks for `numasim record`, which cannot see accesses itself.
 *
 * The recorder is a library that `numasim record` preloads. Without a recorder a declaration has no effect. A program
 * that includes this header needs no library. The manual's page on recorded programs has more. */
#ifndef NUMASIM_RECORD_H
#define NUMASIM_RECORD_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NS_RECORD_READ = 1, NS_RECORD_WRITE = 2, NS_RECORD_BOTH = 3 };

/* Functions of the recorder; null if no recorder is preloaded. */
extern void ns_recorder_access(const void *begin, size_t bytes, int mode) __attribute__((weak));
extern void ns_recorder_tile(const void *begin, size_t rows, size_t bytes, size_t stride, int mode)
    __attribute__((weak));

/* A mark in the program's file, by which `numasim record` knows that the program declares accesses: it then refuses a
 * recording without accesses. */
static const char ns_record_mark[] __attribute__((used, section(".numasim.record"))) = "ns_record_access";

/* Declare that the calling task reads (NS_RECORD_READ) or writes (NS_RECORD_WRITE) `bytes` bytes from `begin` on, or
 * both. The access belongs to the work of the task from here up to the task's next child or wait. Without a recorder,
 * any arguments are allowed. */
static inline void ns_record_access(const void *begin, size_t bytes, int mode) {
    if (ns_recorder_access) ns_recorder_access(begin, bytes, mode);
}

/* Declare that the calling task accesses a tile: `rows` rows of `bytes` bytes each, the first row at `begin`, with
 * `stride` bytes from the beginning of one row to the beginning of the next. A tile of T x T doubles of a row-major
 * matrix with N columns has T rows of T * sizeof(double) bytes, N * sizeof(double) bytes apart. */
static inline void ns_record_tile(const void *begin, size_t rows, size_t bytes, size_t stride, int mode) {
    if (ns_recorder_tile) ns_recorder_tile(begin, rows, bytes, stride, mode);
}

#ifdef __cplusplus
}
#endif

#endif
