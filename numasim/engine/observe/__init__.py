"""What a run reports while it is simulated: hashes of its records, rows for traces, tables over time."""
