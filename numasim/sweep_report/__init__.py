"""What a complete sweep leaves: its tables for Python, and the files with its answers."""
