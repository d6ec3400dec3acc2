"""What a run tells while it goes on: hashes of its records, rows for traces, tables over time."""
