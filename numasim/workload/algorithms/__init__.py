"""Algorithms that determine the shape of a task graph from data, and distributions for drawing data."""
