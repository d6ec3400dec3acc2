"""What holds for all tasks at once, and what of it is alive: tiers, labels, live subtrees."""
