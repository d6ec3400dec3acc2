"""Task graphs, and what workers did with them, in the formats of other tools."""
