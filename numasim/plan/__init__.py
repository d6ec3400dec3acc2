"""The Plan: one simulation as frozen arrays and integers, and the properties computed from it before any run."""
