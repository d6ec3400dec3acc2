"""Answers in tables and words, with intervals."""
