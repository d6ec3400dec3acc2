/* How far apart the workers of a run are at the moment: the time that a cache line takes from one to the next, all
 * around. A hypervisor may move hardware threads from core to core, and what they share changes with that.
 */
#ifndef NS_RING_H
#define NS_RING_H

#include "numasim/runtime.h"

/* The mean time of a hop, in picoseconds, among the workers of a native pool; 0 where there is one, where they are more
 * than the hardware threads, and in other modes, whose workers are nowhere, or pretend to be elsewhere. The pool counts
 * a team more. 0 or a negative error code. */
int ns_ring_measure(int64_t *hop_ps, ns_pool *pool);

#endif
