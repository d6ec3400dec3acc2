"""The models of a specification: machines, workloads, strategies, runtimes, effects."""
