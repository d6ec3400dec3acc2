"""Validation: comparison of the simulator's predictions with runs of the task runtime."""
