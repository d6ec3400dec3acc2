"""Strategies as data: the grammar compiled to steal plans, page placement, and descriptions of plans."""
