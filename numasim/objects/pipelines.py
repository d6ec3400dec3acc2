"""Pipelines: items that go through stages, each of which takes one item at a time or many at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from numasim.errors import InputError
from numasim.objects.graph_arrays import costs_ps, plain_graph
from numasim.schema.enumerations import MOST_BYTES, Mode
from numasim.workload.graph import Region, Workload


@dataclass(frozen=True)
class Stage:
    """One stage of a pipeline: ``cost_ns`` of each item, one number or one for each item.

    A ``serial`` stage takes the items one after the other in their order, a parallel one any number at once.
    """

    cost_ns: Any
    serial: bool = False
    name: str = ""


def pipeline(
    stages: Sequence[Any], items: int, name: str, item_bytes: int = 0, most_items: int | None = None
) -> Workload:
    """A task for each item and stage, numbered item by item; InputError for numbers that are wrong."""
    made = [each if isinstance(each, Stage) else Stage(each) for each in stages]
    count = len(made)
    if not count or not _is_count(items):
        raise InputError(f"got {count} stages and {items!r} items", expected="at least one of each")
    if most_items is not None and not _is_count(most_items):
        raise InputError(f"at most {most_items!r} items are under way", expected="at least one, or None for any number")
    if not 0 <= item_bytes * items <= MOST_BYTES:
        raise InputError(f"{items} items have {item_bytes} bytes each", expected=f"0 to {MOST_BYTES} bytes in all")
    costs = np.stack([costs_ps(stage.cost_ns, items) for stage in made], axis=1)
    task = np.arange(items * count).reshape(items, count)
    edges = [(task[:, :-1], task[:, 1:])]
    edges += [(task[:-1, number], task[1:, number]) for number, stage in enumerate(made) if stage.serial]
    if most_items is not None:
        edges.append((task[:-most_items, -1], task[most_items:, 0]))
    source, target = (np.concatenate([each[side].ravel() for each in edges]) for side in (0, 1))
    names = tuple(dict.fromkeys(stage.name for stage in made))
    kernel = np.tile([names.index(stage.name) for stage in made], items)
    blocks = None
    if item_bytes:
        offset = np.repeat(np.arange(items) * item_bytes, count)
        mode = np.tile([Mode.WRITE, *[Mode.READ_WRITE] * (count - 1)], items)
        blocks = (Region("items", items * item_bytes, False), offset, item_bytes, mode)
    return plain_graph(name, costs.ravel(), (source, target), kernels=(names, kernel), blocks=blocks)


def _is_count(given: Any) -> bool:
    return isinstance(given, int | np.integer) and not isinstance(given, bool) and int(given) >= 1
