#include "record/ops.h"

const char *const NS_OP_NAME[NS_OP_END + 1] = {
    [NS_OP_RUN] = "run",     [NS_OP_SPAWN] = "spawn",   [NS_OP_CALL] = "call",           [NS_OP_WAIT] = "wait",
    [NS_OP_LOCK] = "lock",   [NS_OP_UNLOCK] = "unlock", [NS_OP_ATOMIC] = "atomic",       [NS_OP_BARRIER] = "barrier",
    [NS_OP_AWAIT] = "await", [NS_OP_SIGNAL] = "signal", [NS_OP_BROADCAST] = "broadcast", [NS_OP_END] = "the end",
};
