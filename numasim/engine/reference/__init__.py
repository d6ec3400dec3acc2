"""The reference engine: the readable definition of the model, event by event on SimPy (model 1 to 5).

It is composed of parts, each with its own state and a narrow interface. The order in which to read them follows. It is
also who may know whom: a module imports only modules of its own step and of the steps before it, without circles, which
a test sees to.

1. State without rules. `thresholds` are S and s of a queue, `task_queues` the queues of a run, `task_programs` the task
   graph and how far each task has come, `tables` what is looked up in a plan, `task_numbers` which of how many tasks of
   the phase a new one is, `backoff` the waits after fruitless rounds. `actors` are workers and producers: their fields
   are what every part below talks about.
2. Time and records. `clock` is the Clock: it has the one pending event of every actor, and nobody else says what time
   it is. `phase_progress` counts the tasks of a phase. `ledger` has the counts of a run beside those of its workers,
   `recorder` is the Recorder of hashes and rows for a watch. `join_rules` say what a worker in a nested join may run,
   `control/spawn_order` whether it goes on with a child. `control/task_controls` has the tiers, labels and switches
   that are in force, and `control/live_subtrees` counts what is live of the subtrees that they make. `run_state` hands
   all of these to the parts below.
3. `memory/memory_system` is the MemorySystem: what work takes, and what it moves. It stands on `memory/page_map`,
   `memory/known_times` where times are known beforehand, and `memory/flows` where effects couple the workers. Flows
   stand on `memory/caches`, `memory/access_prices`, `memory/max_min_shares`, `memory/speeds` and, for what threads
   bring into caches that run ahead of workers, `memory/helper_threads`. The homes of a task's objects are in
   `memory/object_map`.
4. `sync/sync_objects` are the SyncObjects: locks, atomic words, conditions and barriers. It stands on
   `sync/cache_lines`, `sync/sync_counts`, `sync/lock_queues` and `sync/barriers`. `sync/attempts` are the
   Transactions: attempts that commit or abort; who has opened which objects is in `sync/object_owners`.
5. How tasks come to workers. `dispatcher` is the Dispatcher, which chooses the queue of a new task; `producers` make
   the items of ranges; `liveness` finds deadlocks; `thief` is the Thief, which looks for work.
6. `executor` is the Executor: ops, segments, spawns, joins and dependences. `work_source` is the WorkSource: phases,
   roots and ranges.
7. Shortcuts, without which the definition is complete: `shortcuts/polling`, `shortcuts/stretch` and
   `shortcuts/steady`. Each counts in closed form what the parts above go through event by event, can be switched off
   by its name in `shortcuts/shortcut`, and is held equal to them by a test.
8. `reference` puts the parts of a run together and collects its result.

Three calls go against this order. All are given at construction: ``proceed``, by which SyncObjects, Dispatcher, Thief
and stretches let a worker go on in the Executor; the end of a phase, which PhaseProgress reports to the WorkSource; and
the shortcuts that Producers, Thief and Executor are given, each of which may be none.
"""
