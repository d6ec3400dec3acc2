"""The Python side of the task runtime: compiled plans for the runtime, and its program."""
