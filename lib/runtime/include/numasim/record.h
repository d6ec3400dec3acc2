/* Declares which memory the tasks of an OpenMP program access, for `numasim record`, which sees no accesses by itself.
 *
 * Where nobody records, a declaration does nothing but find that out. A program that includes this header needs no
 * library. See the page on recorded programs.
 */
#ifndef NUMASIM_RECORD_H
#define NUMASIM_RECORD_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NS_RECORD_READ = 1, NS_RECORD_WRITE = 2, NS_RECORD_BOTH = 3 };

/* Of the recorder; not there where nobody records. */
extern void ns_recorder_access(const void *begin, size_t bytes, int mode) __attribute__((weak));
extern void ns_recorder_tile(const void *begin, size_t rows, size_t bytes, size_t stride, int mode)
    __attribute__((weak));

/* Says in a program's file that it declares accesses: a recording without any is then an error. */
static const char ns_record_mark[] __attribute__((used, section(".numasim.record"))) = "ns_record_access";

/* The task that calls this accesses `bytes` bytes from `begin` on: it reads them (NS_RECORD_READ), writes them
 * (NS_RECORD_WRITE) or does both. The access belongs to what the task does from here on, up to its next child or wait.
 * Where nobody records, it does nothing, whatever it is given. */
static inline void ns_record_access(const void *begin, size_t bytes, int mode) {
    if (ns_recorder_access) ns_recorder_access(begin, bytes, mode);
}

/* Likewise a tile: `rows` rows of `bytes` bytes each, the first one at `begin`, with `stride` bytes from the beginning
 * of one row to that of the next. A tile of T x T doubles of a row-major matrix with N columns has T rows of T *
 * sizeof(double) bytes, N * sizeof(double) bytes apart.
 */
static inline void ns_record_tile(const void *begin, size_t rows, size_t bytes, size_t stride, int mode) {
    if (ns_recorder_tile) ns_recorder_tile(begin, rows, bytes, stride, mode);
}

#ifdef __cplusplus
}
#endif

#endif
