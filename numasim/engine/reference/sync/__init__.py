"""Synchronisation objects during a run: locks, atomic words, conditions, barriers (model 5)."""
