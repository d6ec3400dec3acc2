"""Readers of each format: from the text of a file to tasks, edges and files."""
