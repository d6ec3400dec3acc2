"""Ceilings: how near to the published values any model can come, and what they say of themselves (model 7.4)."""
