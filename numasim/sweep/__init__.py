"""Sweeps: many runs of one specification, kept in a directory that survives any interruption."""
