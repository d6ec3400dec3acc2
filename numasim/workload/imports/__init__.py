"""Task graphs from the files of other programs."""
