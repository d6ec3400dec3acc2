"""Distributions: which unit an item of a range is meant for, by where its data lies (model 4.10)."""
