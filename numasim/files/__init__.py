"""Everything that leaves the process: files, folders that numasim owns, and the standard streams."""
