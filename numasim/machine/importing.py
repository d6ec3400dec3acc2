"""The import of the running system, of another system's sysfs or of hwloc's topology as a machine file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from numasim.errors import InputError
from numasim.machine.draft import Draft, draft_machine
from numasim.machine.hwloc_xml import read_hwloc_xml
from numasim.machine.sysfs import RUNNING, read_sysfs
from numasim.parts.models.sources import MARKS, marked


def import_machine(file: Path | None = None, sysfs: Path | None = None, name: str | None = None) -> Draft:
    """Return the draft of the machine in hwloc's XML ``file``, in a copy of ``sysfs``, or of the running system."""
    if file is not None and sysfs is not None:
        raise InputError("a file and --sysfs are given", expected="one of them, or neither for the running system")
    inventory = read_hwloc_xml(file) if file else read_sysfs(sysfs or RUNNING)
    return draft_machine(inventory, name or label(file or sysfs))


def provenance(sources: Mapping[str, str]) -> list[str]:
    """Return lines of text on the sources of a machine file's values.

    Read and derived fields are grouped by source; each assumed field has a line with the reason.
    """
    lines = []
    for mark in MARKS[:2]:
        by_source: dict[str, list[str]] = {}
        for field, source in marked(sources, mark).items():
            by_source.setdefault(source, []).append(field)
        lines += [f"{mark}: {', '.join(fields)} ({source})" for source, fields in by_source.items()]
    return [*lines, *(f"assumed: {field} ({reason})" for field, reason in marked(sources, "assumed").items())]


def label(path: Path | None) -> str:
    """Return a name for a machine, from the name of the file or of the running system."""
    import socket

    text = path.resolve().stem if path else socket.gethostname()
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("-._+")[:100] or "imported"
