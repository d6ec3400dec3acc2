"""What a strategy says beside its levels, rules and locks, a line each: places, pages, tiers, labels, a controller."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numasim.machine.topology import WorkerMap
from numasim.parts.base import Model
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.yaml.yaml_text import flow_text

HEADINGS = {
    "placement": "Pages",
    "tiers": "Tiers of tasks",
    "labels": "Labels of tasks",
    "live": "Subtrees that may be live",
    "tune": "A controller chooses between two iterations",
    "helpers": "Helper threads",
}
USUAL = {"tiers": "none", "labels": "none", "live": "none", "tune": None, "helpers": None}


def place_line(workers: WorkerMap, worker: int) -> str:
    """Where ``worker`` runs."""
    unit = {name: int(getattr(workers, name)[worker]) for name in ("thread", "core", "llc", "node", "socket")}
    return (
        f"It runs on hardware thread {unit['thread']}: core {unit['core']}, cache domain {unit['llc']}, "
        f"node {unit['node']}, socket {unit['socket']}."
    )


def setting_lines(spec: StrategySpec) -> Iterator[str]:
    """The fields of ``spec`` that are no part of its tables of levels, as in its YAML file, without usual values."""
    for key, heading in HEADINGS.items():
        value = getattr(spec, key)
        if value != USUAL.get(key, ...):
            yield f"{heading}: {flow_text(_plain(value))}."


def _plain(value: Any) -> Any:
    """A model as the fields that are not as by default."""
    if isinstance(value, Model):
        fields = type(value).model_fields
        given = {field.alias or name: getattr(value, name) for name, field in fields.items()}
        usual = {field.alias or name: field.get_default(call_default_factory=True) for name, field in fields.items()}
        return {key: _plain(each) for key, each in given.items() if each != usual[key]}
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
