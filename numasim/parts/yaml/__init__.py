"""YAML text as trees of values with their places in the source."""
