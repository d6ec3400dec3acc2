"""Random values of keys, and mappings of them: what random documents in a grammar are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from random_graphs import Document, happens

Values = Sequence[Any] | Callable[[Random], Any]
Options = Mapping[str, tuple[int, Values]]  # key: (percent of cases that have it, its values)


def one(chance: Random, values: Values) -> Any:
    """One of the values."""
    return values(chance) if callable(values) else chance.choice(values)


def some(chance: Random, options: Options) -> Document:
    """Some of the keys, each with one of its values."""
    return {key: one(chance, values) for key, (percent, values) in options.items() if happens(chance, percent)}


def mapping(**keys: Values) -> Callable[[Random], Document]:
    """All of the keys, each with one of its values."""
    return lambda chance: {key: one(chance, values) for key, values in keys.items()}


def either(*kinds: Values) -> Callable[[Random], Any]:
    """A value of any of the kinds."""
    return lambda chance: one(chance, chance.choice(kinds))


TINY = (1, 2, 3, 4)
NANOSECONDS = (0, 100, 20, 0.001, 7, 333, 2500)
FRACTIONS = (0, 1, 0.5, 0.25, 0.7)
SIGNED = (0, 1, -1, 0.3, -0.3)
