"""HTML for notebooks: pieces from which objects make what a notebook shows of them, and who shows what."""
