"""YAML text as trees of values that know where they were written."""
