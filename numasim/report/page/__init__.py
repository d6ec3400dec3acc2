"""The page of a sweep: one file with answers, plots, the machine's traffic, the specification and provenance."""
