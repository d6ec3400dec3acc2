"""Programs that follow an algorithmic skeleton; each module defines `FAMILIES`."""
