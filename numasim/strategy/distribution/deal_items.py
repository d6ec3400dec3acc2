"""The labels of a program's items under a strategy's distribution, and the program that pays for them."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from numasim.machine.topology import Machine, WorkerMap
from numasim.parts.base import ps
from numasim.parts.models.strategy_model import StrategySpec
from numasim.strategy.control.controller import I32
from numasim.strategy.control.known_program import label_unit
from numasim.strategy.distribution.dealing import BY_NAME
from numasim.strategy.distribution.known_items import known_items, unit_nodes
from numasim.workload.algorithms.serial_parts import with_serial_parts
from numasim.workload.builder import frozen
from numasim.workload.graph import Workload

PHASE = "distribution"  # the name of the serial phase in which worker 0 deals


class DealtItems(NamedTuple):
    """``labels`` [items of all families] is empty where the strategy has no distribution, and so is ``nodes``, the node
    of the unit with that label; ``workload`` has, before each phase whose range is dealt at a cost, a serial phase in
    which worker 0 pays for it: its last ``segments`` segments.
    """

    labels: I32
    nodes: I32
    workload: Workload
    segments: int = 0


NO_ITEM_LABELS: I32 = np.zeros(0, np.int32)


def deal_items(spec: StrategySpec, workload: Workload, machine: Machine, workers: WorkerMap) -> DealtItems:
    """The labels that ``spec`` gives the items of ``workload``, which is not folded.

    InputError where they depend on what each run draws.
    """
    distribution = spec.distribution
    if distribution is None or not workload.ranges:
        return DealtItems(NO_ITEM_LABELS, NO_ITEM_LABELS, workload)
    node = unit_nodes(workers, label_unit(spec))
    deal, pair_ps = BY_NAME[distribution.deal], ps(distribution.pair_ns)
    dealt = [deal(known_items(family, machine, node), distribution) for family in workload.ranges]
    before_ps = {
        number: dealt[phase.range_family].pairs * pair_ps
        for number, phase in enumerate(workload.phases)
        if phase.range_family is not None and dealt[phase.range_family].pairs * pair_ps
    }
    labels = np.concatenate([each.units for each in dealt]).astype(np.int32)
    nodes = node[labels].astype(np.int32)
    labels.setflags(write=False)
    nodes.setflags(write=False)
    return DealtItems(labels, nodes, with_serial_parts(workload, before_ps, PHASE), len(before_ps))


@lru_cache(maxsize=2)
def undealt(work: Workload, segments: int) -> Workload:
    """The workload of `DealtItems` without what finds the labels of its items, which is the strategy's and not the
    program's: the last ``segments`` take no time.
    """
    if not segments:
        return work
    compute_ps = work.segment_compute_ps.copy()
    compute_ps[-segments:] = 0
    return replace(work, segment_compute_ps=frozen(compute_ps))
