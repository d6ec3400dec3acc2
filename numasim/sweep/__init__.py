"""Sweeps: many runs of one specification, stored in a directory that is valid after any interruption."""
