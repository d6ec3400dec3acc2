"""Machines, strategies and task graphs as objects of Python, and lists of shipped names."""
