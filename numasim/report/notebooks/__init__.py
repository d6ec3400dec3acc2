"""What notebooks show of results: one run, and a sweep."""
