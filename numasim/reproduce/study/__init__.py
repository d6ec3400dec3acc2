"""A study as it is on disk: tables, programs, published values."""
