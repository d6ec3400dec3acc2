"""Machines: topology as arrays, routes, the mapping of workers to hardware threads, and a drawing."""
