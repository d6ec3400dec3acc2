"""Algorithms whose data determines the shape of a task graph, and laws for drawing data."""
