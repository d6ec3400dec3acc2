"""The fields of runs and sweeps as Markdown."""

from __future__ import annotations

from markdown_text import code, prose, table
from reference_models import HEAD, rows_of

from numasim.spec.json_schema import PARTS_OF_RUN, SPECIAL_AXES
from numasim.spec.run_spec import FIELDS, Settings
from numasim.spec.sweep_axes import RangeSpec

TYPES = {  # and the default
    "machine": ("name, path or [mapping](machine.md)", "needed"),
    "workload": ("name, [mapping](workloads.md) or [task graph](graph.md)", "needed"),
    "strategy": ("name, path or [mapping](strategy.md)", "needed"),
    "runtime": ("name, path or [mapping](runtime.md)", ""),
    "sweep": ("[mapping](#sweeps)", ""),
}


def run() -> str:
    """All fields of a run or sweep, in their order."""
    settings = {row[0]: row for row in rows_of(Settings)}
    parts = {code(name): (code(name), *TYPES[name], "", prose(text)) for name, text in PARTS_OF_RUN.items()}
    return table(HEAD, [{**parts, **settings}[code(name)] for name in FIELDS])


def axes() -> str:
    """The keys of a sweep that are no axes."""
    return table(("key", "meaning"), [(code(name), prose(text)) for name, text in SPECIAL_AXES.items()])


def ranges() -> str:
    """The fields of a range of values."""
    return table(HEAD, rows_of(RangeSpec))
