"""Places for scores in sentences: ``{times}`` stands for a score, ``{times/null}`` for that of its null model."""

from __future__ import annotations

import re

PLACE = re.compile(r"\{([^{}/]+)(?:/([^{}]*))?\}")
VALUE = "value"
PARTS = (VALUE, "null", "ceiling")  # of a score


def places(sentence: str) -> list[tuple[str, str]]:
    """The names of the scores that ``sentence`` has places for, each with the part of it that is asked for."""
    return [(name, part or VALUE) for name, part in PLACE.findall(sentence)]
