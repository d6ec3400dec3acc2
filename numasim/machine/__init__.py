"""Machines: topology as arrays, routes, the placing of workers on hardware threads, and a drawing."""
