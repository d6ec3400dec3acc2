"""Damages of files of any kind, at every place where a command reads a file."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

from bad_input_type import BadInput, together
from places_of_files import ALL, CSV, GRAPH, SYSFS, TABLE, XML, YAML, Place

MOST_BYTES = {YAML: 2**20, GRAPH: 2**27, XML: 2**24, SYSFS: 2**20, CSV: 2**22, TABLE: 2**36}
SIZES = {2**20: "1 MiB", 2**22: "4 MiB", 2**24: "16 MiB", 2**27: "128 MiB", 2**36: "64 GiB"}
ABSENT_IS_ALLOWED = {"provenance of a sweep", "sysfs, online", "sysfs, cpulist", "sysfs, meminfo"}


def directory(path: Path) -> None:
    """Make a directory in place of the file."""
    path.mkdir()


def pipe(path: Path) -> None:
    """Make a named pipe into which nobody writes."""
    os.mkfifo(path)


def device(path: Path) -> None:
    """Make a link to a device without end."""
    path.symlink_to("/dev/zero")


def loop(path: Path) -> None:
    """Make a link to itself."""
    path.symlink_to(path.name)


def bound_socket(path: Path) -> None:
    """Make a socket. Its path is relative to its folder, because systems allow only short paths for sockets."""
    before = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(before)


def holding(data: bytes) -> Callable[[Path], None]:
    """Return a function that makes a file of the bytes ``data``."""
    return lambda path: path.write_bytes(data) and None


def sparse(size: int) -> Callable[[Path], None]:
    """Return a function that makes a file of ``size`` bytes, which takes no room on the disk."""

    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(size)

    return make


def placed(place: Place, name: str, damage: Callable[[Path], None], *says: str) -> BadInput:
    """Return the bad input ``damage`` at a place, after the place's other files have been made."""

    def make(folder: Path) -> None:
        path = folder / place.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        damage(path)

    return BadInput(f"{place.name}: {name}", place.command, together(place.make, make), says)


def damages() -> Iterator[BadInput]:
    """Yield every damage at every place."""
    for place in ALL:
        kind = f"expected {place.kind}"
        text = place.kind not in {TABLE}
        if place.name not in ABSENT_IS_ALLOWED:
            yield placed(place, "missing", lambda _: None, Path(place.file).name, kind)
        yield placed(place, "directory", directory, "is a directory", kind)
        yield placed(place, "named pipe", pipe, "is a named pipe", kind)
        yield placed(place, "device", device, "is a device", kind)
        yield placed(place, "socket", bound_socket, "is a socket", kind)
        if place.kind != SYSFS:
            yield placed(place, "link to itself", loop, "cannot read", kind)
        most = MOST_BYTES.get(place.kind, 2**24)
        if most < 2**36:  # larger files do not fit on some file systems
            yield placed(place, "too large", sparse(most + 1), f"is larger than {SIZES[most]}", kind)
        if text:
            yield placed(place, "UTF-16", holding("machine: x\n".encode("utf-16")), ":1:1: ", "not text in UTF-8", kind)
            yield placed(place, "Latin-1", holding(b"a\nb\xfcro\n"), ":2:2: ", "not text in UTF-8", kind)
            yield placed(place, "zero bytes", holding(b"a\n\0\0\0\n"), ":2:1: ", "U+0000", kind)
        else:
            yield placed(place, "text", holding(b"machine: x\n"), place.file, "expected ")
        if place.kind != SYSFS:
            yield placed(place, "empty", holding(b""), place.file, "expected ")


DAMAGED = list(damages())
