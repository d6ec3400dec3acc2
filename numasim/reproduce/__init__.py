"""Reproduces the tables of a published study: what was measured, what is simulated, and how far apart they are."""
