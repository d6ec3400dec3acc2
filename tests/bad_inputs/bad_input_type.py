"""Bad inputs: a command, how its files are made, and what its one sentence must say.

``verification/bad_inputs.py`` runs the same tables, each in a process of its own, and measures it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Make = Callable[[Path], None]  # makes files in the working directory

GOOD_MACHINE = """\
name: toy
sockets: 2
nodes: {cores: 2, memory: 1GiB, imc_bandwidth_gbs: 30}
caches: {}
latency_ns: [[77, 124], [122, 75]]
links: [{between: [0, 1], bandwidth_gbs: 11}]
coherence: {same_core_ns: 5, same_socket_ns: 15, cross_socket_ns: 38}
clock: {base_ghz: 2.0}
"""
GOOD_RUN = """\
machine: xeon-e5-2620-2s
workload: {name: fib, n: 5}
strategy: randomized
workers: 4
"""


@dataclass(frozen=True)
class BadInput:
    """One bad input; every text of ``says`` stands in the sentence."""

    name: str
    command: tuple[str, ...]
    make: Make
    says: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


def text_at(name: str, text: str | bytes) -> Make:
    """Makes one file, and the folders that it needs."""

    def make(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    return make


def together(*makes: Make) -> Make:
    """Makes what all of them make, in order."""

    def make(folder: Path) -> None:
        for each in makes:
            each(folder)

    return make


def nothing(_folder: Path) -> None:
    """Makes no file."""
