"""The running system, another one's sysfs or a topology of hwloc as a machine file, and how its values came about."""

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
    """Draft the machine of hwloc's XML ``file``, of the ``sysfs`` of a system, or of the running system."""
    if file is not None and sysfs is not None:
        raise InputError("a file and --sysfs are given", expected="one of them, or neither for the running system")
    inventory = read_hwloc_xml(file) if file else read_sysfs(sysfs or RUNNING)
    return draft_machine(inventory, name or label(file or sysfs))


def provenance(sources: Mapping[str, str]) -> list[str]:
    """How the values of a machine file came about, in lines of text: fields that are read and derived, together by
    their sources, and each assumed one with its reason.
    """
    lines = []
    for mark in MARKS[:2]:
        by_source: dict[str, list[str]] = {}
        for field, source in marked(sources, mark).items():
            by_source.setdefault(source, []).append(field)
        lines += [f"{mark}: {', '.join(fields)} ({source})" for source, fields in by_source.items()]
    return [*lines, *(f"assumed: {field} ({reason})" for field, reason in marked(sources, "assumed").items())]


def label(path: Path | None) -> str:
    """A name made of a file's, or of the running system's."""
    import socket

    text = path.resolve().stem if path else socket.gethostname()
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("-._+")[:100] or "imported"
