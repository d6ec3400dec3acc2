"""Input and output of the process: files that users name, folders that numasim owns, and the standard streams."""
