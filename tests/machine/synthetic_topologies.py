"""Made-up systems: hwloc's lstopo writes the XML of each system in hwloc/synthetic.txt, without `info` elements.

    python tests/machine/synthetic_topologies.py [lstopo]

The same version of hwloc makes the same archive: members have no time and no owner.
"""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent / "hwloc"
LIST, ARCHIVE = HERE / "synthetic.txt", HERE / "synthetic.tar.xz"
FLAGS = {"v1": ["--export-xml-flags", "v1"], "v2": []}  # options of lstopo for each version of the format
_LINE = re.compile(r"([a-z0-9-]+) += ([v123 ]+?) *\| ([^|]+?)(?: \| (.+))?")


class System(NamedTuple):
    """A line of hwloc/synthetic.txt: a made-up system."""

    name: str
    versions: tuple[str, ...]
    description: str
    options: tuple[str, ...]


def systems() -> list[System]:
    """Return the systems of hwloc/synthetic.txt; raise ValueError for a line that is no system."""
    found = []
    for line in filter(None, LIST.read_text().splitlines()):
        parts = _LINE.fullmatch(line)
        if parts:
            found.append(System(parts[1], tuple(parts[2].split()), parts[3], tuple(shlex.split(parts[4] or ""))))
        elif not line.startswith("#"):
            raise ValueError(f"{LIST}: {line!r} is no system")
    return found


def names() -> list[str]:
    """Return the names of the files, without `.xml`."""
    return [f"{version}-{system.name}" for system in systems() for version in system.versions]


def xml_of(lstopo: str, system: System, version: str) -> bytes:
    """Return the XML that lstopo writes of the system, without `info` elements."""
    command = [lstopo, "--input", system.description, *system.options, *FLAGS[version], "--of", "xml", "-"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return re.sub(r" *<info [^>]*/>\n", "", text).encode()


def main(lstopo: str = "lstopo-no-graphics") -> None:
    """Write the archive."""
    with tarfile.open(ARCHIVE, "w:xz") as archive:
        for system in systems():
            for version in system.versions:
                xml = xml_of(lstopo, system, version)
                member = tarfile.TarInfo(f"{version}-{system.name}.xml")
                member.size = len(xml)
                archive.addfile(member, io.BytesIO(xml))


if __name__ == "__main__":
    main(*sys.argv[1:])
