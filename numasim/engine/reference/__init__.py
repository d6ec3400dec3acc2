"""The reference engine: the readable definition of the model, event by event on SimPy."""
