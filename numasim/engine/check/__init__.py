"""What every result obeys, and where two engines part."""
