"""What notebooks show of results: one run, a sweep, figures."""
