"""What a strategy decides for all tasks of a program at once: tiers, labels, and what changes between iterations."""
