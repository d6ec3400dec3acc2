"""The native engine seen from Python: a Plan's arrays into the compiled module, and a Result out of it."""
