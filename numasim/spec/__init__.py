"""Whole documents: runs and sweeps, resolved from YAML or mappings to validated specifications."""
