"""Answers of a sweep as tables and text, with confidence intervals."""
