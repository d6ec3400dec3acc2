"""Where recorded programs were recorded, and their times on cores of another rate."""
