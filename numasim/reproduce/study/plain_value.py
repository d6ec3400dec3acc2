"""A value of a specification as text."""

from __future__ import annotations


def plain(value: object) -> str:
    """Write a value of a specification as one line of YAML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {plain(inner)}" for key, inner in value.items()) + "}"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
