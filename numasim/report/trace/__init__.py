"""Traces of single runs for Perfetto."""
