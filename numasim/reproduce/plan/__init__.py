"""Which runs the cells of a study need."""
