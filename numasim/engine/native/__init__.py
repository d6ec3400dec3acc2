"""The native engine: the compiled module ``_engine``, and its Python side."""
