"""Task graphs of OpenMP programs that run: `numasim record`.

A shared library (`lib/recorder`) is preloaded into the program. The library writes a file for each thread, with the
events that OpenMP reports to tools. These modules turn the files into a task graph, in this order:

1. `event_files`: each file as arrays of events.
2. `event_times`: the time between events; for several recordings with the same events, the shortest times.
3. `event_walk`: the steps of each task, in their order.
4. `recorded_rows`: the rows of the graph; `recorded_data`: which memory the rows access.
5. `recorded_workload`: the arrays of a `Workload`, with names of kernels.

`program_runs` finds LLVM's OpenMP runtime and runs the program. `recording` combines all steps. `openmp_costs` measures
an OpenMP runtime.
"""
