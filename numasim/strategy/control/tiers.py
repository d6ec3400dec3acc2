"""The tiers of tasks (model 4.14): which are the roots of subtrees that are kept together, by depth or by labels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.models.strategy_terms import TierDepth
from numasim.schema.enumerations import Tier
from numasim.strategy.control.controller import I32, U8, Program
from numasim.workload.forest_arrays import levels

NO_TIERS: U8 = np.zeros(0, np.uint8)


def tiers_of(spec: StrategySpec, program: Program, labels: I32) -> U8:
    """[tasks] the tier of each task before the first iteration; empty where all are local."""
    if isinstance(spec.tiers, TierDepth):
        return by_depth(program, spec.tiers.depth)
    if spec.tiers == "slices":
        return by_labels(program, labels)
    nowhere = np.zeros(program.tasks, bool)
    return _tiers(nowhere, nowhere) if spec.tiers == "tune" else NO_TIERS


def by_depth(program: Program, depth: int) -> U8:
    """[tasks] free above ``depth``, root at it, local below it."""
    return _tiers(program.depth < depth, program.depth == depth)


def by_labels(program: Program, labels: I32) -> U8:
    """[tasks] free without a label; of those with one, root where no task above has one, and else local."""
    labelled = labels >= 0
    below = np.zeros(len(labelled), bool)
    for depth, tasks in enumerate(levels(program.parent)):
        if depth:
            parent = program.parent[tasks]
            below[tasks] = below[parent] | labelled[parent]
    return _tiers(~labelled & ~below, labelled & ~below)


def _tiers(free: npt.NDArray[np.bool_], root: npt.NDArray[np.bool_]) -> U8:
    found = np.full(len(free), Tier.LOCAL, np.uint8)
    found[free] = Tier.FREE
    found[root] = Tier.ROOT
    found.setflags(write=False)
    return found
