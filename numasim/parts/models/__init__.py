"""The models of a specification: machines, workloads, strategies, runtimes, effects.

Annotations are no texts in these modules: pydantic would evaluate each of them whenever a model is imported.
"""
