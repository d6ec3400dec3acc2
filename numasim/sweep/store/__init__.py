"""The results directory: shards of finished runs, and tables. Each file is complete or absent."""
