"""The Python side of the task runtime (lib/runtime), which runs tasks on real threads or in virtual time.

The modules write plans (a strategy compiled for a machine) to files, call the executable ``numasim-runtime`` and read
its output, make machine files from measurements, and run controllers. `record` records OpenMP programs.
"""
