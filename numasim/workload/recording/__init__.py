"""The systems on which programs were recorded, and compute times on cores of another rate."""
