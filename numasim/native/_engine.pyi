"""The compiled engine of numasim."""

def draw(stream: int, k: int) -> int:
    """The k-th (from zero) 64-bit number of the stream that starts at ``stream``, as `numasim.draws.draw`."""
