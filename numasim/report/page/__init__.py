"""The page of a sweep: one file with its answers, its plot, the machine's traffic, the specification and provenance."""
