"""How large a program is, before it is built and afterwards, and what of it is too large."""
