/* The ops of which programs of tasks consist (model 3.1), as numasim/workload/graph.py numbers them. */
#ifndef NS_OPS_H
#define NS_OPS_H

enum ns_op {
    NS_OP_RUN,
    NS_OP_SPAWN,
    NS_OP_CALL,
    NS_OP_WAIT,
    NS_OP_LOCK,
    NS_OP_UNLOCK,
    NS_OP_ATOMIC,
    NS_OP_BARRIER,
    NS_OP_AWAIT,
    NS_OP_SIGNAL,
    NS_OP_BROADCAST,
    NS_OP_END /* what comes behind the last op; no op itself */
};

/* Their names, as task graph files have them; that of the end is for the user. */
extern const char *const NS_OP_NAME[NS_OP_END + 1];

#endif
