/* On which nodes the memory of registered objects lies: where the running system has put it, or, for a machine that is
 * only pretended, on the node that touched it first.
 */
#ifndef NS_OBJECT_HOMES_H
#define NS_OBJECT_HOMES_H

#include "api/operations.h"

typedef struct ns_object_homes ns_object_homes;

enum { NS_NO_HOME = -1 }; /* of memory that was not touched yet */

/* For machines of `nodes` nodes. `pretended`: homes follow first touches, else the running system, whose nodes in
 * ascending order are those of the machine. 0 or a negative error code. */
int ns_object_homes_create(ns_object_homes **self, uint32_t nodes, bool pretended);
void ns_object_homes_destroy(ns_object_homes *self);

/* Follow the objects of a pool that are not followed yet, while none is in use: 0 or NS_ERROR_MEMORY. */
int ns_object_homes_add(ns_object_homes *self, const ns_object *objects, uint32_t count);

/* Add the bytes of an access, once for each pass, to bytes[home]; first touches come from `node`, or from none if
 * that is NS_NO_HOME. Bytes without a home are not added. */
void ns_object_homes_find(ns_object_homes *self, const ns_access *access, int32_t node, int64_t *bytes);

#endif
