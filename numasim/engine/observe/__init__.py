"""Reports of a run while it is simulated: hashes of its records, rows for traces, tables over time."""
