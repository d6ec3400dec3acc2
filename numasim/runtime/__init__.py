"""The companion task runtime, seen from Python: compiled plans for it, and its program."""
