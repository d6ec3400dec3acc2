"""Workloads: task graphs as arrays, one file per benchmark family, read from and written to JSON."""
