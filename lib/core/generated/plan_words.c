/* Generated from numasim/schema by `python -m numasim.schema.generate_c`: not to be edited. */
#include "enumerations.h"

const char *const NS_OP_WORD[18] = {"run", "spawn", "call", "wait", "lock", "unlock", "atomic", "barrier", "await", "signal", "broadcast", "begin", "load", "store", "commit", "group", "end_group", "the end"};
const char *const NS_ROW_KIND_WORD[3] = {"task", "call", "implicit"};
const char *const NS_USE_WORD[3] = {"read", "write", "read_write"};
const char *const NS_DEAL_WORD[3] = {"master", "block", "cyclic"};
const char *const NS_TIER_WORD[3] = {"free", "root", "local"};
const char *const NS_SYNC_ROLE_WORD[5] = {"lock", "atomic", "condition", "barrier", "objects"};
const char *const NS_ANCHOR_WORD[8] = {"me", "all", "parent", "thief", "last", "lightest", "data", "label"};
const char *const NS_PICK_WORD[10] = {"random", "in_order", "rotate", "round_robin", "after_last", "longest", "shortest", "cyclic", "block", "permutation"};
const char *const NS_VISIT_WORD[3] = {"nearest", "random", "weighted"};
const char *const NS_REACH_WORD[3] = {"never", "sometimes", "always"};
const char *const NS_AMOUNT_KIND_WORD[2] = {"count", "share"};
const char *const NS_NODE_RANK_WORD[3] = {"most", "cheapest", "any"};
const char *const NS_COUNTED_WORD[3] = {"reads", "writes", "both"};
const char *const NS_WEIGH_WORD[2] = {"bytes", "objects"};
const char *const NS_END_WORD[2] = {"front", "back"};
const char *const NS_FULL_WORD[7] = {"grow", "inline", "next", "block", "displace", "spill_oldest", "spill_newest"};
const char *const NS_JOIN_KIND_WORD[6] = {"help", "own", "strict", "continuation", "block", "leapfrog"};
const char *const NS_PRODUCER_KIND_WORD[3] = {"none", "extra", "master"};
const char *const NS_THRESHOLD_RULE_WORD[3] = {"literal", "avail", "fraction"};
const char *const NS_THRESHOLD_TIME_WORD[3] = {"first-drain", "phase", "fixed"};
const char *const NS_LOCK_KIND_WORD[8] = {"tas", "ttas", "ticket", "mcs", "mutex", "cohort", "clh", "barging"};
const char *const NS_BARRIER_KIND_WORD[4] = {"central", "flag", "tree", "per-domain"};
const char *const NS_CACHE_MODEL_WORD[3] = {"none", "share", "lru"};
const char *const NS_CONTENTION_WORD[3] = {"none", "snapshot", "fluid"};
const char *const NS_LINE_RULE_WORD[3] = {"no", "yes", "latency"};
const char *const NS_RECHECK_RULE_WORD[4] = {"each", "last", "events", "none"};
const char *const NS_WAKE_RULE_WORD[4] = {"every-push", "no-searcher", "empty-queue", "uncovered"};
const char *const NS_WHOM_RULE_WORD[3] = {"newest", "lowest", "all"};
const char *const NS_CHAIN_RULE_WORD[3] = {"finder", "last-searcher", "woken"};
const char *const NS_CAP_RULE_WORD[3] = {"count", "share", "busy-share"};
