/* The ops of which programs of tasks consist (model 3.1). */
#ifndef NS_OPS_H
#define NS_OPS_H

#include "generated/enumerations.h"

/* Their names, as task graph files have them; that of the end is for the user. */
#define NS_OP_NAME NS_OP_WORD

#endif
