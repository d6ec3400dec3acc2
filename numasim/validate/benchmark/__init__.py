"""`numasim bench`: the simulation rates of this machine, compared with targets."""
