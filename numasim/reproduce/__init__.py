"""Reproduces the tables of a published study: measured values, simulated values, and scores of their distance."""
