"""The meanings of the words that fields of machines, strategies, runtimes and effects allow; users see them.

A line is a cache line, a probe a thief's look at one queue, a round a pass through all places to steal from. A unit is
a worker, core, cache domain (cores that share a last-level cache), NUMA node or socket. S and s are thresholds of each
queue. A tier is the place of a task among subtrees that are kept together, a label the unit for which it is meant.
"""

CACHES_LLC_SCOPE = {
    "socket": "All cores of a socket share one cache.",
    "node": "All cores of a NUMA node share one cache.",
    "core": "Each core has a cache of its own.",
    "none": "Cores have no last-level cache, or cores_per_llc or llc_cores gives the cores that share one.",
}
LINKS_TOPOLOGY = {
    "ring": "Node i is linked with node i + 1, the last node with the first.",
    "fully-connected": "Every node is linked with every other.",
    "twisted-ladder": "Two rails of nodes with rungs, which cross in the middle; of 8 nodes, 12, 16 and so on.",
    "mesh": "Node row * columns + column is linked with its up to four neighbours in a grid.",
}
MODEL_CONTENTION = {
    "none": "Segments do not slow each other down.",
    "snapshot": "A segment keeps the share that the segment gets at its start.",
    "fluid": "Shares are found anew whenever a segment starts or ends.",
}
MODEL_QUEUEING = {
    "none": "Misses do not wait for each other.",
    "md1": "Each miss waits for the mean time of an M/D/1 queue at the controller's present load.",
}
MODEL_SMT = {"none": "Nothing.", "compute": "Computing.", "memory": "Computing and waiting for memory."}
MODEL_CLOCK = {
    "fixed": "All cores run at the highest clock all the time.",
    "turbo": "The clock of a socket is the clock of the turbo step for the number of busy cores.",
}
MODEL_SKIP = {"auto": "Engines pass over events if that changes no result.", "off": "Engines simulate every event."}
LOCK_FAIRNESS = {"near": "The waiter to which the line travels fastest.", "fair": "The waiter that came first."}
LOCK_HOME = {
    "owner": "Each line on the node of the worker for which the line is kept.",
    "master": "All lines on the node of worker 0, as in a runtime that allocates them in its first thread.",
}
LOCK_WORDS = {
    "cached": "From the core that had the line last.",
    "memory": "Every time from the memory of the line's home, as in equations 6.2 and 6.3 of the thesis.",
}
LOCK_BARRIER = {
    "central": "All workers count on one line; the last opens the barrier, and the others read the line in turn.",
    "flag": "Each worker but the first writes its flag; the first reads all and opens the barrier on one line.",
    "tree": "Workers go up a binary tree to the first one, and down again.",
    "per-domain": "A central barrier within each node, then one among the last of each node (thesis, section 6.3.1).",
}
LOCK_PROBE = {
    "look-first": "A probe looks without the lock; for a task it tries the lock, and fails if the lock is held.",
    "lock-first": "A probe waits for the lock and then looks.",
}
PLACEMENT_ADDING = {"first-touch": "The memory lives on the node of the worker that first touches it."}
PLACEMENT_OVERFLOW = {
    "none": "Nodes are never full.",
    "next": "The page goes to the nearest node that has room; if no node has room, it stays on the wanted node.",
}
JOIN = {
    "help": "The worker keeps the task on its stack and runs any other task meanwhile, as OMPi does.",
    "own": "The worker keeps the task on its stack and runs tasks of its own queue alone.",
    "strict": "The worker keeps the task on its stack and runs descendants of that task alone.",
    "continuation": "The worker leaves the task; the worker that finishes the last child resumes the task, as in Cilk.",
    "block": "The worker sleeps until the last child has finished.",
    "leapfrog": "The worker keeps the task on its stack and runs tasks of its own queue; it steals only by levels "
    "from: thief, where the thief is the worker that has begun a child of the task (A-48).",
}
FULL = {
    "grow": "The task goes to the next queue with room that dispatch finds, and is executed at once if there is none.",
    "inline": "While its own queue is full, a worker executes its new tasks at once, until the queue drains (resume).",
    "next": "The worker's tasks are dealt to all queues in turn.",
    "block": "The same as grow.",
}
FAMILY_FULL = FULL | {
    "displace": "A slot in front of its worker's own queue: a new task takes the place of the slot's task, which goes "
    "to the queue that the next dispatch rules find (model 4.1).",
    "spill-oldest": "The oldest half of the queue and the new task go to the queue that the next dispatch rules find.",
    "spill-newest": "The newest half of the queue and the new task go to the queue that the next dispatch rules find.",
}
THRESHOLD = {
    "literal": "S is the capacity less the pushes that come during one push (thesis, equation 3.3).",
    "avail": "S is s + 1.",
}
CAPACITY = {"none": "No limit."}
COST_LINE = {
    "no": "No transfer is paid.",
    "yes": "Each line serves one request after the other. Reading a line of which the worker has a valid copy is free; "
    "any other access waits for the requests before it and takes the transfer, and a write makes all copies invalid.",
    "latency": "Each probe, take, join and push into another worker's queue takes the transfer from the first worker "
    "of the queue, or from the worker that spawned the child, however many others do the same.",
}
IDLE_RECHECK = {
    "each": "Each worker probes all queues from which it can take.",
    "last": "The last searching worker probes all queues; the others do not.",
    "events": "Each worker makes one more round, and does not sleep if any task has come into a queue meanwhile.",
    "none": "No worker does.",
}
IDLE_SLEEP = {"never": "Never."}
IDLE_SEARCHERS = {"any": "Any number."}
IDLE_CHAIN = {
    "finder": "Each searching worker that finds a task.",
    "last-searcher": "The last searching worker, when it finds a task.",
    "woken": "Each woken worker, before it searches.",
}
WAKE_AT = {
    "every-push": "Every task.",
    "no-searcher": "A task that comes while no searching worker can take it.",
    "empty-queue": "A task that comes into an empty queue.",
    "uncovered": "A task that comes into a queue with tasks, or while no searching worker can take it.",
}
WAKE_WHOM = {
    "newest": "The worker that went to sleep last.",
    "lowest": "The sleeping worker with the lowest number.",
    "all": "All sleeping workers, one after the other.",
}
BACKOFF_FIRST_NS = {"task": "The mean serial time of the program's tasks."}
BACKOFF_AFTER = {"round": "A round in which no probe found anything.", "probe": "Each probe that found nothing."}
BACKOFF_EMPTY = {"skip": "The round is no attempt.", "count": "The round is a failed attempt."}
RUNTIME_PRODUCER = {
    "none": "No thread: the items are dealt to the workers when the phase starts, in no time.",
    "extra": "A thread beside the workers, one item every push_ns.",
    "master": "Worker 0, before it executes any.",
}
RUNTIME_RELEASE = {
    "queue": "The task goes into the queue that dispatch chooses.",
    "begin": "The worker that finished the predecessor begins the task, if the worker has no other task in hand "
    "(Arora, Blumofe and Plaxton 1998).",
}
RUNTIME_QUEUE_ORDER = {
    "lifo-fifo": "The worker takes the newest task, thieves the oldest.",
    "fifo-lifo": "The worker takes the oldest task, thieves the newest.",
}
UNIT = {
    "worker": "Each worker.",
    "core": "Each core.",
    "llc": "The cores that share one last-level cache.",
    "node": "A NUMA node.",
    "socket": "A socket.",
    "machine": "The whole machine.",
}
BOUND = {"min": "The threshold s of the queue.", "max": "The threshold S of the queue."}
AMOUNT_SHARE = {"workers": "The number of workers."}
AMOUNT_ROUND = {
    "up": "The least whole number that is not below the quotient.",
    "above": "The least whole number above the quotient, as in Go: length div share + 1.",
}
CONDITION = {
    "announced": "Queues with the status VICTIM of the thesis: from length S on, until they have fallen to s (A-8).",
    "awake": "Queues whose workers do not sleep; for steal levels and queues per worker alone (model 4.13).",
}
AMOUNT = {"one": "One task.", "half": "Half of the queue, rounded up.", "all": "The whole queue."}
SOURCE = {
    "own": "The queue of the worker's own unit.",
    "others": "All queues except the worker's own.",
    "parent": "The queue of the worker that spawned the task which the searching worker last took from a queue.",
    "last": "The queue of the worker's last successful steal.",
    "thief": "The queue of the worker that stole from the searching worker last.",
    "own-core": "The queues of the worker's core.",
    "own-llc": "The queues of the cores that share its last-level cache.",
    "own-node": "The queues of its NUMA node.",
    "own-socket": "The queues of its socket.",
    "other-cores": "The queues of all other cores.",
    "other-llcs": "The queues of all other cache domains.",
    "other-nodes": "The queues of all other NUMA nodes.",
    "other-sockets": "The queues of all other sockets.",
}
LEVEL_BY = {
    "core": "A group for each core.",
    "llc": "A group for each cache domain.",
    "node": "A group for each NUMA node.",
    "socket": "A group for each socket.",
    "distance": "A group for each distance: same core, same cache domain, same node, then by latency.",
}
LEVEL_VISIT = {
    "nearest": "All, the nearest first.",
    "random": "One, by a draw.",
    "weighted": "One, by a draw: weights fall with the latency and grow with the number of queues.",
}
_PICKS = {
    "random": "By a draw among the candidates.",
    "in-order": "In the order of their ids, from the first.",
    "after-me": "In the order of their ids, from behind the worker's own.",
    "rotate": "In the order of their ids, from a drawn one on.",
    "round-robin": "In the order of their ids, from behind the last pick of this worker here.",
}
LEVEL_PICK = {
    **_PICKS,
    "permutation": "From a drawn one on, by a drawn step that shares no divisor with the number of queues: each comes "
    "once.",
    "after-last": "In the order of their ids, from the victim of the worker's last successful steal on.",
    "longest": "The longest queue first.",
    "shortest": "The shortest queue first.",
}
DISPATCH_PICK = {
    **_PICKS,
    "shortest": "The shortest queue first.",
    "cyclic": "Task i of its phase goes to queue i mod n of n.",
    "block": "Task i of the N of its phase goes to queue i * n div N of n.",
}
LEVEL_TRIES = {"all": "All queues, until a probe finds a task."}
LEVEL_WHO = {"head": "The first worker of each unit of the queues."}
LEVEL_ITERATIONS = {"last": "To the end."}
TIER = {
    "free": "Above the subtrees that are kept together.",
    "root": "The topmost task of such a subtree.",
    "local": "Below the root of such a subtree; the tier of all tasks if the strategy gives no tiers.",
}
STRATEGY_TIERS = {
    "slices": "Tasks without a label are free; the topmost tasks with a label are roots; tasks below roots are local.",
    "tune": "All tasks are local until the controller chooses other tiers (tune).",
    "none": "All tasks are local.",
}
STRATEGY_LABELS = {
    "slices": "The task's slice of the data, of as many slices as units (LAWS, equation 1; model 4.8).",
    "tune": "No task has a label until the controller gives labels (tune).",
    "none": "No task has a label.",
}
STRATEGY_LIVE = {"none": "There is no limit, and no level is gated."}
DISPATCH_TARGET = {
    "own": "The queue of the spawning worker's own unit.",
    "any": "All queues.",
    "data": "The queues of the node that has most of the task's data, or as rank says (thesis, equation 5.2).",
    "label": "The queues of the unit of the task's label (model 4.14); without a label the next rule decides.",
    "lightest": "The queues of the node whose queues hold the fewest tasks.",
    "own-core": "The queues of the spawning worker's core.",
    "own-llc": "The queues of the cores that share its last-level cache.",
    "own-node": "The queues of its NUMA node.",
    "own-socket": "The queues of its socket.",
}
DISPATCH_RANK = {
    "most": "The node that is the home of most of the task's objects.",
    "cheapest": "The node with the least sum, over the objects, of weight times latency to the object's home.",
    "any": "Every node that is the home of one of the objects.",
}
DISPATCH_COUNT = {
    "both": "The objects that the task reads and the objects that it writes.",
    "reads": "The objects that the task reads.",
    "writes": "The objects that the task writes.",
}
DISPATCH_WEIGH = {"bytes": "The object's bytes.", "objects": "One, whatever its size."}
END = {"lifo": "The newest task.", "fifo": "The oldest task."}
TUNE_WHAT = {
    "fastest": "Sets of switches are tried, an iteration each; then the one with the shortest iteration stays on.",
    "packing": "Tasks are packed into subtrees by a profile of the first iteration; further iterations try others.",
}
PACKING_START = {
    "sosc": "The largest subtrees whose misses of private caches fit into the last-level cache of a unit.",
    "slices": "The subtrees of the topmost tasks with a part of the data within one unit's slice.",
}
PACKING_MOVES = {
    "children": "To smaller subtrees, whose roots are the children, for as long as an iteration gets faster.",
    "parents": "To larger subtrees, whose roots are the parents, until an iteration is slower.",
}
PACKING_KEEP = {"faster": "The packing with the shorter iteration."}
PACKING_WITHIN = {
    "tree": "A subtree may be a whole tree.",
    "slice": "A subtree has its part of the data within one unit's slice.",
}
CPU_BOUND = {"none": "All programs are packed."}
THRESHOLD_MAX = {"auto": "The threshold is computed from the costs and times that the worker has seen (model 4.3)."}
THRESHOLD_WHEN = {
    "first-drain": "Once, when the worker first becomes idle after having executed a task.",
    "phase": "For all queues at the end of every phase.",
    "fixed": "Never.",
}
THRESHOLD_ANNOUNCE = {
    "always": "Each worker that changes the queue, at every change.",
    "owner": "The worker that owns the queue, when it takes a task and when it has executed a task.",
    "owner-exact": "As owner, by equality of lengths, as the algorithm of the thesis is printed.",
}
SPAWN_ORDER = {
    "help-first": "With the parent: the child goes into a queue.",
    "work-first": "With the child: the rest of the parent goes into a queue.",
}
STRATEGY_REFILL = {"min": "The threshold s of the queue."}
STRATEGY_THRESHOLDS = {"none": "Queues have no thresholds."}
STRATEGY_MAPPING = {
    "numa-even-cores-first": "Worker i on node i mod M; within a node every core has a worker before any core has two.",
    "contiguous": "Node 0 is filled, then node 1, and so on; cores before second threads.",
    "smt-first": "The threads of core 0 are filled, then those of core 1, and so on.",
    "os-order": "Worker i on hardware thread i, as operating systems number them.",
    "numa-spread": "Worker i of P on node i * M div P; cores before second threads.",
    "scatter": "Worker i on socket i mod S, then in turn over the socket's nodes, then cores before second threads.",
}
