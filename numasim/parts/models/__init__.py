"""The models of a specification: machines, workloads, strategies, runtimes, effects.

The annotations in these modules are no texts: pydantic would evaluate each text whenever a model is imported.
"""
