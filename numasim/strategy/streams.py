"""A stream of counter-based draws with its counter, for choices made one by one."""

from __future__ import annotations

from numasim.draws import GAMMA, MASK, DrawClass, base

_A = 0xBF58476D1CE4E5B9
_B = 0x94D049BB133111EB


class Stream:
    """The draws of one (class, id); ``drawn`` counts them. Equal to `numasim.draws.draw`, with the mixer inlined."""

    __slots__ = ("base", "drawn")

    def __init__(self, seed: int, kind: DrawClass, ident: int) -> None:
        """Start before draw 0."""
        self.base = base(seed, kind, ident)
        self.drawn = 0

    def below(self, n: int) -> int:
        """Take one draw and map it to [0, n)."""
        self.drawn = k = self.drawn + 1
        z = (self.base + k * GAMMA) & MASK
        z = (z ^ z >> 30) * _A & MASK
        z = (z ^ z >> 27) * _B & MASK
        return (z ^ z >> 31) * n >> 64
