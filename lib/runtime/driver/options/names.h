/* Names that users give, and what they may have meant. */
#ifndef NS_NAMES_H
#define NS_NAMES_H

#include <stdint.h>

/* How many letters have to be changed, added or left out to make `b` of `a`. */
uint32_t ns_names_distance(const char *a, const char *b);

/* The place of `name` among `names`, which end with NULL; -1 if it is none of them. `*nearest` is the most similar. */
int ns_names_find(const char *const *names, const char *name, const char **nearest);

#endif
