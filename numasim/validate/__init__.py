"""Validation: predictions of the simulator held against runs of the task runtime."""
