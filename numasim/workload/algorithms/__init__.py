"""Algorithms whose data determines the shape of a program's task graph."""
