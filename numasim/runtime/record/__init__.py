"""Task graphs of OpenMP programs that run: `numasim record`.

A shared library (``tool``) is preloaded into the program and writes what OpenMP tells a tool, of each thread into a
file. In this order the files become a task graph:

1. `event_files`: each file as arrays of events.
2. `event_times`: how long it was from event to event, in time of the processor and without what the recorder did in
   between; of several recordings with the same events, the shortest times.
3. `divided_work`: whether one thread says enough of a program that a team executes.
4. `event_walk`: which task did what, in which order.
5. `recorded_rows`, `recorded_data`, `kernel_names`, `recorded_workload`: the arrays of a `Workload`. `memory_blocks`
   and `footprints` say which memory an address is in and how many bytes are meant.

`openmp_library` finds LLVM's OpenMP runtime, `program_runs` runs the program, `recording` puts all of it together.
"""
