"""Events that are counted in closed form instead of being gone through one by one (model 1.5 and 1.8)."""
