"""The reference engine: the readable definition of the model, event by event on SimPy (model 1 to 5).

The engine is composed of parts, each with its own state and a narrow interface. The steps below are the order in which
to read them. A module imports only modules of its own step and of earlier steps, without cycles; a test checks this.

1. State without rules. `task_queues` are the queues of a run, with their thresholds. `task_programs` is the task graph,
   the progress of each task, and the numbers of new tasks within their phase. `tables` are lists that are looked up,
   `backoff` the waits after fruitless rounds. `actors` are workers and producers, whose fields all later parts read and
   write.
2. Time and records. `clock` is the Clock: it has the one pending event of every actor, and only this part advances
   time. `ledger` has the counts of a run beside those of its workers, and the Recorder of hashes and of rows for a
   watch. `join_rules` are the tasks that a worker in a nested join may run. `task_controls` has the tiers, labels and
   switches that are in force, the counts of live subtrees, and the order of spawns. `run_state` counts the tasks of a
   phase and hands all of these to the later parts.
3. `memory/memory_system` is the MemorySystem: the time of work, and the bytes that work moves. If times are known
   beforehand, KnownTimes has them; if effects couple the workers, `memory/flows` computes them. Both use
   `memory/page_map`, which also has the homes of a task's objects. Flows use `memory/caches`, `memory/access_prices`,
   `memory/speeds` and `memory/helper_threads`, whose threads run ahead of workers.
4. `sync/sync_objects` are the SyncObjects: locks, atomic words, conditions and barriers. They use `sync/cache_lines`,
   `sync/lock_queues` and `sync/barriers`. `sync/queue_lines` are the lines of queues and of idle workers' sets, which
   serve one worker after the other. `sync/attempts` are the Transactions: attempts that commit or abort, and the
   objects that each has opened.
5. The way of tasks to workers. `dispatcher` is the Dispatcher, which chooses the queue of a new task; `producers` make
   the items of ranges; `liveness` finds deadlocks; `resting` has the rules for idle workers, who sleep and are woken; `thief` is the Thief,
   which looks for work.
6. `executor` is the Executor: ops, segments, spawns, joins and dependences. `work_source` is the WorkSource: phases,
   roots and ranges.
7. Shortcuts, without which the definition is complete: `polling`, `stretch` and `steady`. Each counts in closed form
   what the earlier parts simulate event by event. Each can be switched off by its name in `polling`; a test compares
   runs with and without it.
8. `reference` makes the parts of a run and collects its result.

Three calls go against this order. All are given at construction: ``proceed``, with which SyncObjects, Dispatcher, Thief
and stretches let a worker go on in the Executor; the end of a phase, which PhaseProgress reports to the WorkSource; and
the shortcuts of Producers, Thief and Executor, each of which may be None.
"""
