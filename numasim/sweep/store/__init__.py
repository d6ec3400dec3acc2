"""The results directory: files that are whole or absent, shards, tables."""
