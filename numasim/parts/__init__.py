"""The parts of a specification: machines, strategies, runtimes and effects as validated models, read from YAML."""
