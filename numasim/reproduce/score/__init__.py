"""The errors of predictions against published values, and what they depend on."""
