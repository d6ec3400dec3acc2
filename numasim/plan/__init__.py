"""The Plan: one simulation as frozen arrays and integers, and what follows from it before any run."""
