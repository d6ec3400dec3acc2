"""The workload families: a file has the parameters and generators of one or more, and lists them in ``FAMILIES``."""
