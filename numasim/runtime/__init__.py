"""The Python side of the task runtime (lib/runtime).

The modules write compiled plans to files, call the executable ``numasim-runtime`` and read its measurements, make
machine files from measurements, and answer for controllers. `record` records OpenMP programs.
"""
