"""Task graphs of OpenMP programs that run: `numasim record`.

A shared library (`lib/recorder`) is preloaded into the program and writes what OpenMP tells a tool, of each thread into
a file. In this order the files become a task graph:

1. `event_files`: each file as arrays of events.
2. `event_times`: the time from event to event; of several recordings with the same events, the shortest times.
3. `event_walk`: which task did what, in which order.
4. `recorded_rows`: the rows of the graph; `recorded_data`: which memory the rows access.
5. `recorded_workload`: the arrays of a `Workload`, with names of kernels.

`program_runs` finds LLVM's OpenMP runtime and runs the program, `recording` puts all of it together, and `openmp_costs`
measures an OpenMP runtime.
"""
