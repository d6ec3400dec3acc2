"""Reproduction of the tables of a published study: published values, simulated values and scores."""
