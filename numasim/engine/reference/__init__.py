"""The reference engine: the readable definition of the model, event by event on SimPy (model 1 to 5).

The engine is composed of parts, each with its own state and a narrow interface. The steps below are the order in which
to read them. A module imports only modules of its own step and of earlier steps, without cycles; a test checks this.

1. State without rules. `task_queues` has the queues of a run, with their thresholds. `task_programs` has the task
   graph, the progress of each task, and the numbers of new tasks within their phase (a part of the program between two
   points at which all workers meet). `tables` has lists that are looked up, `backoff` the waits after fruitless
   searches. `actors` has the workers, and the producers (threads that make tasks beside the workers).
2. Time and records. `clock` has the Clock: the one pending event of every actor; only this part advances time. `ledger`
   has the counts of a run beside those of its workers, and the Recorder of hashes and of rows for an observer.
   `join_rules` says which tasks a worker may run while its own task waits. `task_controls` has what a strategy decides
   for single tasks and subtrees. `run_state` counts the tasks of a phase and hands all of these to the later parts.
3. `memory/memory_system` has the MemorySystem: the time of work, and the bytes that work moves. If times are known
   beforehand, KnownTimes has them; if they depend on other workers, `memory/flows` computes them. Both use
   `memory/page_map`, which also has the homes of a task's objects. Flows use `memory/caches`, `memory/access_prices`,
   `memory/speeds` and `memory/helper_threads`, whose threads prefetch for workers.
4. `sync/sync_objects` has the SyncObjects: locks, atomic words, conditions and barriers. They use `sync/cache_lines`,
   `sync/lock_queues` and `sync/barriers`. `sync/queue_lines` has the cache lines of queues, of join counters, and of
   the word that counts idle workers; each serves one worker after the other. `sync/attempts` has the Transactions.
5. The way of tasks to workers. `dispatcher` chooses the queue of a new task; `producers` makes tasks that one rule
   describes (the items of a range); `liveness` finds deadlocks; `resting` has the rules by which idle workers sleep and
   are woken; `thief` looks for work.
6. `executor` executes tasks: segments of work, spawns, joins and dependences. `work_source` starts and ends phases.
7. Shortcuts, without which the definition is complete: `polling`, `stretch` and `steady`. Each computes at once what
   the earlier parts simulate event by event. Each can be switched off by its name in `polling`; a test compares runs
   with and without it.
8. `reference` makes the parts of a run and collects its result.

Three calls go against this order. All are given at construction: ``proceed``, with which parts before the Executor let
a worker go on in it; the end of a phase, which PhaseProgress reports to the WorkSource; and the shortcuts that
Producers, Thief and Executor call if they are not switched off.
"""
