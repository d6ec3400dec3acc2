"""`numasim bench`: this machine's simulation rates, side by side in one run, and the targets that they are held to."""
