"""Commands about task graphs in files."""
