/* An allocator for tests whose n-th request fails: malloc, calloc, realloc, aligned_alloc, mmap and the start of
 * threads go through it where a program is linked with `--wrap` of these names.
 */
#ifndef NS_FAILING_ALLOCATOR_H
#define NS_FAILING_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

/* Let the request number `nth` from now on fail, counted from 1, and no other; 0: none. */
void fail_request(int64_t nth);

/* Whether it has come to that request. */
bool request_has_failed(void);

#endif
