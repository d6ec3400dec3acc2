"""`numasim bench`: the simulation rates of this machine, and the targets that they are compared with."""
