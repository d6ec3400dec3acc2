"""The standard figures."""
