"""How far predictions are from what was published, and what that hangs on."""
