"""`numasim bench --scale`: how time and memory grow with tasks, workers and nodes."""
