"""A controller whose choices depend on all its inputs, so that any difference between two engines changes everything
later.
"""

from __future__ import annotations

from hashlib import blake2b
from random import Random

import numpy as np

from numasim.strategy.control.controller import Controls, Measures, Program


def choose(program: Program, state: bytes | None, measures: Measures | None) -> tuple[bytes, Controls]:
    """Return random controls; the state is a digest of all measures so far."""
    digest = blake2b(state or b"begin", digest_size=16)
    if measures is not None:
        for value in measures:
            digest.update(np.ascontiguousarray(value, np.int64).tobytes())
    chance = Random(digest.digest())
    return digest.digest(), any_controls(program, chance)


def any_controls(program: Program, chance: Random) -> Controls:
    """Return controls of which some are as before."""
    switches = frozenset(name for name in program.switches if chance.random() < 0.5)
    tiers = np.array(chance.choices((1, 2, 4), (1, 2, 3), k=program.tasks), np.uint8)
    labels = np.array([chance.randrange(-1, program.units) for _ in range(program.tasks)], np.int32)
    return Controls(
        tiers=tiers if chance.random() < 0.6 else None,
        labels=labels if chance.random() < 0.6 else None,
        switches=switches if chance.random() < 0.7 else None,
        placement=chance.choice((None, *program.placements)),
    )
