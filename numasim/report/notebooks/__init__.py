"""Runs, sweeps and figures as HTML for notebooks."""
