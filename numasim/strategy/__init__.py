"""Strategies as data: the grammar compiled to steal plans, page placement, and a plan in words."""
