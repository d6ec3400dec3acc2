"""The workload families, one file each: parameters, generator, and the descriptors in ``FAMILIES``."""
