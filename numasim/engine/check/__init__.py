"""The invariants and bounds of every result, and the refusal of runs that cannot end."""
