"""Fitting parameters to published numbers, with a record of the values read and the parameters found (model 7.1)."""
