"""The invariants of every result, and the comparison of two engines."""
