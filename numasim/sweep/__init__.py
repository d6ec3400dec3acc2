"""Sweeps: many runs of one specification, stored in a directory that stays valid after any interruption."""
