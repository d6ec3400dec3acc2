"""Commands that read, write and record task graphs."""
