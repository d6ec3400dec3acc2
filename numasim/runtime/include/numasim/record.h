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

/* Says in a program's file that it declares accesses: a recording without any is then an error. */
static const char ns_record_mark[] __attribute__((used, section(".numasim.record"))) = "ns_record_access";

/* The task that calls this accesses `bytes` bytes from `begin` on: it reads them (NS_RECORD_READ), writes them
 * (NS_RECORD_WRITE) or does both. The access belongs to what the task does from here on, up to its next child or wait.
 */
static inline void ns_record_access(const void *begin, size_t bytes, int mode) {
    if (ns_recorder_access) ns_recorder_access(begin, bytes, mode);
}

#ifdef __cplusplus
}
#endif

#endif
