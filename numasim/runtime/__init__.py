"""The Python side of the task runtime: compiled plans for it, and its program."""
