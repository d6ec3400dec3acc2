"""The reference engine: the readable definition of the model, event by event on SimPy (model 1 to 5).

It is composed of parts, each with its own state and a narrow interface. The order in which to read them follows. It is
also who may know whom: a module imports only modules of its own step and of the steps before it, without circles, which
a test sees to.

1. State without rules. `task_queues` are the queues of a run, with their thresholds. `task_programs` is the
   task graph, how far each task has come, and the number of a new task among those of the phase. `tables` has what is
   looked up in a plan, `backoff` the waits after fruitless rounds. `actors` are workers and producers: their fields are
   what every part below reads and writes.
2. Time and records. `clock` is the Clock: it has the one pending event of every actor, and no other part says what time
   it is. `ledger` has the counts of a run beside those of its workers, and the Recorder of hashes and rows for a watch.
   `join_rules` say what a worker in a nested join may run. `task_controls` has the tiers, labels and switches that are
   in force, the counts of live subtrees, and whether a worker goes on with a child that it spawns. `run_state` counts
   the tasks of a phase and hands all of these to the parts below.
3. `memory/memory_system` is the MemorySystem: the time of work, and the bytes that it moves. If times are known
   beforehand, KnownTimes has them; if effects couple the workers, `memory/flows` computes them. Both stand on
   `memory/page_map`, which also has the homes of a task's objects. Flows stand on `memory/caches`,
   `memory/access_prices`, `memory/speeds` and `memory/helper_threads`, whose threads run ahead of workers.
4. `sync/sync_objects` are the SyncObjects: locks, atomic words, conditions and barriers. It stands on
   `sync/cache_lines`, `sync/lock_queues` and `sync/barriers`. `sync/attempts` are the Transactions: attempts that
   commit or abort, and the objects that each has opened.
5. How tasks come to workers. `dispatcher` is the Dispatcher, which chooses the queue of a new task; `producers` make
   the items of ranges; `liveness` finds deadlocks; `thief` is the Thief, which looks for work.
6. `executor` is the Executor: ops, segments, spawns, joins and dependences. `work_source` is the WorkSource: phases,
   roots and ranges.
7. Shortcuts, without which the definition is complete: `polling`, `stretch` and `steady`. Each counts in closed form
   what the parts above go through event by event. Each can be switched off by its name in `polling`, and a test holds
   it equal to the parts above.
8. `reference` puts the parts of a run together and collects its result.

Three calls go against this order. All are given at construction: ``proceed``, by which SyncObjects, Dispatcher, Thief
and stretches let a worker go on in the Executor; the end of a phase, which PhaseProgress reports to the WorkSource; and
the shortcuts that Producers, Thief and Executor are given, each of which may be none.
"""
