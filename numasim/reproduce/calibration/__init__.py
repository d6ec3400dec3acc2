"""Fitting parameters to published numbers, with a record of what was read and what was found (model 7.1)."""
