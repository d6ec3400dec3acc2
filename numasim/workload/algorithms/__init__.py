"""Algorithms whose data determines the shape of a program's task graph, and laws by which data is drawn."""
