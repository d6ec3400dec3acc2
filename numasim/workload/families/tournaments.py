"""Tournaments in place of the reduce phase: first within each node, then among nodes (Souris 2020, section 4.1).

`horizontal-tournament` reduces each row within each node and, behind a barrier, combines the results of the nodes. In
`vertical-tournament` threads meet in pairs, first the threads of a node, then the winners of the nodes. One thread of a
pair (the winner) merges the rows of both threads. Each round is a phase, which ends at a barrier. Every phase builds
its tables of keys anew; a key takes as much time as in the reduce phase of `map-reduce`. A phase is a range with an
item (a task) for each row or thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from pydantic import Field

from numasim.parts.base import ps
from numasim.workload.algorithms.emitted_keys import Columns, mean_keys, met_on_nodes
from numasim.workload.builder import made_of, workload_of
from numasim.workload.families.reductions import BENCHMARK, KERNELS, SMALL, ContainerParameters, facts_of, row_family
from numasim.workload.graph import Deal, Phase, RangeFamily, Workload
from numasim.workload.parameters import Family
from numasim.workload.totals import Totals


class HorizontalParameters(ContainerParameters):
    """A reduction of each row within each node, then of the results of all nodes."""

    name: Literal["horizontal-tournament"] = Field(description="The name of this workload.")

    def totals(self) -> Totals:
        """Return the size of the program as if no phase reduced the number of values."""
        once = super().totals()
        return replace(once.times(2), items=self.rows * min(self.team, 2**10))


class VerticalParameters(ContainerParameters):
    """A tournament of threads, first within each node; the winner of a pair merges the rows of winner and loser."""

    name: Literal["vertical-tournament"] = Field(description="The name of this workload.")

    def totals(self) -> Totals:
        """Return the size of the program as if one thread merged all values in each round."""
        once, rounds = super().totals(), 2 * self.team.bit_length() + 1
        item_ps = self.emits * (ps(self.emit_ns) + ps(self.key_ns) + 2 * ps(self.copy_ns))
        moved = self.emits * self.value_bytes
        return replace(
            once.times(rounds), items=self.team, segment_ps=item_ps, access_bytes=moved, access_lines=moved // 64 + 1
        )


def horizontal(parameters: HorizontalParameters) -> Workload:
    """Return two ranges: an item for each row and node with threads, then an item for each row."""
    columns, container = parameters.columns(), parameters.container()
    met, keys = container.emitted, container.keys
    if parameters.key_filler == "equal-prob":
        met, keys = met_on_nodes(columns, container, parameters.keys, parameters.graph_seed)
    nodes = np.unique(columns.node)
    within = np.zeros((parameters.rows, len(nodes), columns.nodes), np.int64)
    within[:, np.arange(len(nodes)), nodes] = container.emitted[:, nodes]
    inside = met[:, nodes].ravel()
    growth = parameters.copies(inside, parameters.team), parameters.copies(keys, parameters.team)
    first = row_family(parameters, "row of a node", within.reshape(-1, columns.nodes), inside, growth[0])
    second = row_family(parameters, "row", met, keys, growth[1])
    names = ("within nodes", "among nodes")
    return workload_of(
        **made_of(parameters),
        ranges=(first, second),
        phases=[Phase(range_family=at, deal=Deal.CYCLIC, name=name) for at, name in enumerate(names)],
        kernels=KERNELS[:1],
        facts=facts_of(replace(container, keys=keys)),
    )


@dataclass(frozen=True)
class Side:
    """A thread in the tournament, the threads whose values it has merged (itself included), and its number of keys."""

    winner: int
    threads: tuple[int, ...]
    keys: int


def vertical(parameters: VerticalParameters) -> Workload:
    """Return a range for each round, with an item for each thread; the items of threads that lost do nothing.

    One more range follows, in which the last winner outputs the merged values.
    """
    columns = parameters.columns()
    sides = [Side(thread, (thread,), int(emits)) for thread, emits in enumerate(columns.emits)]
    groups = [[side for side in sides if columns.node[side.winner] == node] for node in np.unique(columns.node)]
    rounds: list[tuple[str, RangeFamily]] = []
    for name in ("within nodes", "among nodes"):
        while any(len(group) > 1 for group in groups):
            pairs = [pair for group in groups for pair in _all_pairs(group) if len(pair) == 2]
            merged: dict[tuple[Side, ...], Side] = {}
            for winner, loser in pairs:
                threads, keys = winner.threads + loser.threads, winner.keys + loser.keys
                if parameters.key_filler == "equal-prob":
                    keys = mean_keys(columns.emits[list(threads)], parameters.keys)
                merged[winner, loser] = Side(winner.winner, threads, keys)
            work = {side.winner: (pair, side.keys) for pair, side in merged.items()}
            rounds.append((name, _family(parameters, columns, work)))
            groups = [[merged.get(pair, pair[0]) for pair in _all_pairs(group)] for group in groups]
        groups = [[side for group in groups for side in group]]
    ((last,),) = groups
    rounds.append(("output", _family(parameters, columns, {last.winner: ((last,), last.keys)}, grows=True)))
    return workload_of(
        **made_of(parameters),
        ranges=[family for _, family in rounds],
        phases=[Phase(range_family=at, deal=Deal.BLOCK, name=name) for at, (name, _) in enumerate(rounds)],
        kernels=KERNELS[:1],
        facts={"emits": int(columns.emits.sum()), "keys": last.keys},
    )


def _all_pairs(group: Sequence[Side]) -> list[tuple[Side, ...]]:
    """Return pairs of neighbours in ``group``; an odd last side is alone."""
    return [tuple(group[at : at + 2]) for at in range(0, len(group), 2)]


def _family(
    parameters: VerticalParameters,
    columns: Columns,
    work: Mapping[int, tuple[Sequence[Side], int]],
    *,
    grows: bool = False,
) -> RangeFamily:
    """Return a range with an item for each thread.

    ``work`` has for each thread the sides whose values the item reads, and the number of keys that the item outputs.
    The output goes into a vector that ``grows``, or into a table.
    """
    read = np.zeros((parameters.team, columns.nodes), np.int64)
    out = np.zeros(parameters.team, np.int64)
    for thread, (sides, keys) in work.items():
        out[thread] = keys
        for side in sides:
            read[thread, columns.node[side.winner]] += side.keys
    return row_family(parameters, "thread", read, out, parameters.copies(out, 1) if grows else np.zeros_like(out))


TEAM = {**SMALL, "threads": 4, "nodes": (0, 0, 1, 1)}
FAMILIES = (
    Family(HorizontalParameters, horizontal, small=TEAM, benchmark=BENCHMARK),
    Family(VerticalParameters, vertical, small=TEAM, benchmark={**BENCHMARK, "emits": 4_000, "rows": 400}),
)
