"""Events that are counted in closed form instead of being gone through one by one."""
