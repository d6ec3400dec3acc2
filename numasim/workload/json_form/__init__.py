"""The JSON form of a task graph: its fields, its arrays, reading and writing."""
