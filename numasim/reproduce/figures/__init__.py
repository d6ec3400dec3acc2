"""The figures of a reproduction."""
