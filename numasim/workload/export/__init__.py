"""Task graphs, and schedules of runs, in the formats of other tools."""
