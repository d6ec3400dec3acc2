"""Machines, strategies and task graphs as objects of Python, and the lists of what is shipped."""
