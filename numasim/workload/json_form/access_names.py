"""How accesses are called in files of task graphs."""

from __future__ import annotations

from typing import Annotated, Literal

from numasim.parts.choices import Choices

ModeName = Annotated[
    Literal["read", "write", "read-write"],
    Choices(
        {
            "read": "They are read.",
            "write": "They are fetched for ownership and written back.",
            "read-write": "They are read and written back.",
        }
    ),
]
PatternName = Annotated[
    Literal["sequential", "strided", "random", "chase"],
    Choices(
        {
            "sequential": "One after the other: ten misses at once (assumed).",
            "strided": "At equal distances: four misses at once (assumed).",
            "random": "Anywhere: three misses at once (assumed).",
            "chase": "Each address depends on the load before: one miss at once.",
        }
    ),
]
MODE_MEANS = "Whether the bytes are read, written or both."
PATTERN_MEANS = "The order of the accesses, which says how many misses are under way at once (model 2.3)."
