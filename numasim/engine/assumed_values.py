"""The assumed values of a machine on which a run depends, and the makespan with half and with twice of such a value.

A field whose source begins with ``assumed`` is a value that nobody has measured (`numasim.parts.models.sources`).
The run's specification and counters tell whether the run depends on the field: a run that moves no bytes depends on no
bandwidth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numasim.errors import InputError
from numasim.frozen import Frozen
from numasim.parts.models.machine_model import MachineSpec
from numasim.parts.models.sources import marked
from numasim.parts.validation import validate
from numasim.parts.yaml.nodes import Place, Source, from_python

if TYPE_CHECKING:
    import pandas as pd

    from numasim.spec.run_spec import RunSpec

Row = Mapping[str, Any]
COLUMN = "assumed"  # of a results table: the machine's assumed fields that the run's specification does not rule out
APART = "; "
MOST_EVENTS = 500_000  # the most events of all runs with halved or doubled values together: about half a second
_FACTORS = (Decimal("0.5"), Decimal(2))
# The names of fields that are amounts end in one of these words.
_SCALED = ("_ns", "_gbs", "_ghz", "_ppm", "_per_s", "memory", "llc", "l1", "l2", "llc_sizes")
_MOST_PPM = 1_000_000


def assumed_fields(spec: RunSpec) -> list[str]:
    """Return the assumed fields of the machine that matter under the effects of ``spec``, by their dotted names."""
    fields = list(marked(spec.machine.sources, "assumed"))
    if not fields:
        return []
    idle = set()
    if spec.model.clock == "fixed" or not spec.machine.clock.turbo:
        idle |= {field for field in fields if field.startswith("clock")}
    if spec.model.smt == "none":
        idle.add("smt")
    if spec.model.contention == "none":
        idle |= {field for field in fields if field.endswith("bandwidth_gbs")}
    return [field for field in fields if field not in idle]


def depended_on(fields: Sequence[str], row: Row) -> list[str]:
    """Return the fields on which a run with the counters ``row`` may depend: those that ``row`` does not rule out."""
    return [field for field in fields if any(row[name] for name in _counters(field)) or not _counters(field)]


def _counters(field: str) -> tuple[str, ...]:
    """Return counters, one of which is not zero if a run depends on ``field``; none if any run may depend on it."""
    longest = max((key for key in _COUNTERS if field == key or field.startswith(f"{key}.")), key=len, default="")
    return _COUNTERS.get(longest, ())


_MOVES = ("bytes_local", "bytes_remote", "bytes_cache", "bytes_c2c")
_FAR = ("bytes_remote", "bytes_c2c")
_FAR_OR_STEALS = ("bytes_remote", "bytes_c2c", "steal_attempts_remote")
_COUNTERS: dict[str, tuple[str, ...]] = {
    "nodes.memory": _MOVES,
    "nodes.imc_bandwidth_gbs": ("bytes_local", "bytes_remote"),
    "caches": _MOVES,
    "caches.llc_hit_ns": ("bytes_cache",),
    "caches.llc_remote_hit_ns": ("bytes_c2c",),
    "latency_ns": ("bytes_local", "bytes_remote", "steal_attempts_remote"),
    "local_latency_ns": ("bytes_local", "bytes_remote"),
    "remote_base_latency_ns": _FAR_OR_STEALS,
    "hop_latency_ns": _FAR_OR_STEALS,
    "link_bandwidth_gbs": _FAR,
    "links": _FAR_OR_STEALS,
    "links.bandwidth_gbs": _FAR,
    "mesh": _FAR_OR_STEALS,
    "snoop": _FAR,
    "coherence": ("steal_attempts", "lock_acquisitions", "overhead_ps"),
    "probe": ("steal_attempts",),
    "smt": ("inflation_smt_ps",),
    "page": _MOVES,
    "line": _MOVES,
}


def sentence(machine: str, fields: Sequence[str]) -> list[str]:
    """Return the sentence about the assumed fields on which an answer depends; no sentence if there are no fields."""
    return [f"assumed, not measured, of {machine}: {', '.join(fields)}"] if fields else []


def of_table(frame: pd.DataFrame) -> list[str]:
    """Return a sentence for each machine in a results table; no sentence if the table lacks `COLUMN`."""
    if COLUMN not in frame:
        return []
    import numpy as np

    done: Any = frame[frame["error"].isna()] if "error" in frame else frame
    counted = cache(lambda name: done[name].to_numpy(dtype=float, na_value=0) != 0)
    found: dict[str, list[tuple[int, int, str]]] = {}  # the first run that depends on a field, and the field's place
    named = done[["machine", COLUMN]].reset_index(drop=True)
    for (machine, text), same in named.groupby(["machine", COLUMN], sort=False, observed=True):
        of_machine = found.setdefault(str(machine), [])
        for place, field in enumerate(filter(None, text.split(APART))):
            names = _counters(field)
            rows = (
                same.index[np.logical_or.reduce([counted(name)[same.index] for name in names])] if names else same.index
            )
            of_machine += [(int(row), place, field) for row in rows[:1]]
    return [
        text
        for machine, each in found.items()
        for text in sentence(machine, [*dict.fromkeys(name for *_, name in sorted(each))])
    ]


# ---- half of a value, and twice


class Tried(Frozen):
    """The change of the makespan in percent with half and with twice of the value; None if the value is not valid."""

    field: str
    halved: float | None
    doubled: float | None

    @property
    def matters(self) -> bool:
        """Tell whether the makespan changes at all."""
        return bool(self.halved or self.doubled)


def tried(spec: RunSpec, counters: Row, simulate: Callable[[RunSpec], Row]) -> list[Tried] | None:
    """Run ``spec`` again with half and with twice of each assumed value on which the run with the ``counters`` depends.

    ``simulate`` runs a specification with the same seed and returns the counters. Return None if the runs would take
    more than `MOST_EVENTS` events. Fields that are no amounts, such as the two ends of links, are left out.
    """
    fields = [field for field in depended_on(assumed_fields(spec), counters) if _amounts(spec, field)]
    events = counters["events"] + counters["tasks"]
    if len(_FACTORS) * len(fields) * events > MOST_EVENTS:
        return None
    before = counters["makespan_ps"]
    return [Tried(field, *(_change(spec, field, factor, before, simulate) for factor in _FACTORS)) for field in fields]


def _change(
    spec: RunSpec, field: str, factor: Decimal, before: int, simulate: Callable[[RunSpec], Row]
) -> float | None:
    try:
        after = simulate(replace(spec, machine=scaled(spec.machine, field, factor)))["makespan_ps"]
    except InputError:
        return None
    return 100 * (after - before) / before if before else 0.0


def scaled(machine: MachineSpec, field: str, factor: Decimal) -> MachineSpec:
    """Return the machine with every amount at the dotted ``field`` times ``factor``; raise InputError if the new
    machine is invalid.

    Shares are at most 1,000,000 ppm. Numbers that are no amounts, such as numbers of nodes, stay the same.
    """
    content = machine.model_dump(by_alias=True, exclude_unset=True)
    changed = _with(content, field.split("."), factor)
    return validate(MachineSpec, from_python(changed, Place(Source("", Path()))))


def _amounts(spec: RunSpec, field: str) -> bool:
    content = spec.machine.model_dump(by_alias=True, exclude_unset=True)
    same, other = (_with(content, field.split("."), factor) for factor in (Decimal(1), Decimal("0.5")))
    return bool(same != other)


def _with(value: Any, path: Sequence[str], factor: Decimal) -> Any:
    """Return ``value`` with the amounts at the end of ``path`` scaled; entries of a list share the path of the list."""
    if isinstance(value, list | tuple):
        return [_with(each, path, factor) for each in value]
    if not path or not isinstance(value, Mapping) or path[0] not in value:
        return value
    key, *rest = path
    inner = _with(value[key], rest, factor) if rest else _scaled(value[key], key, factor)
    return {**value, key: inner}


def _scaled(value: Any, key: str, factor: Decimal) -> Any:
    if isinstance(value, Mapping):
        return {name: _scaled(each, name, factor) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_scaled(each, key, factor) for each in value]
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or not key.endswith(_SCALED):
        return value
    product = value * factor
    if key.endswith("_ppm"):
        return max(1, min(int(product), _MOST_PPM))
    return int(product) if isinstance(value, int) else product


def lines(found: Sequence[Tried] | None) -> Iterator[str]:
    """Return the lines that the command `run` prints about the runs with halved and doubled values."""
    if found is None:
        yield "how much each matters is tried in short runs of the native engine alone (--set machine.FIELD=VALUE)"
        return
    for each in found:
        if each.matters:
            changes = each.halved, each.doubled
            halved, doubled = ("no machine" if change is None else f"{change:+.1f} %" for change in changes)
            yield f"makespan with half of {each.field}: {halved}, with twice: {doubled} (same seed)"
    if still := [each.field for each in found if not each.matters]:
        yield f"half and twice of these change nothing: {', '.join(still)}"
