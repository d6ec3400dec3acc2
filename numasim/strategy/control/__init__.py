"""Decisions of a strategy on all tasks of a program at once: tiers, labels, and controllers between iterations."""
