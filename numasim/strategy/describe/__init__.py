"""A compiled strategy in plain English."""
