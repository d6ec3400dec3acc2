"""Bad inputs: a command, the function that makes its files, and the texts that its one sentence must have.

``verification/bad_inputs.py`` runs the same tables, each bad input in its own process, and measures the process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "reproduce")]  # with the functions that make inputs

Make = Callable[[Path], None]  # makes files in the working directory
PARTS = 10_000  # parts of a long text that are written at once

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
    """One bad input; the sentence of the command has every text of ``says``."""

    name: str
    command: tuple[str, ...]
    make: Make
    says: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Repeated:
    """A long text, never held as a whole: ``part``, repeated ``times`` times, between ``before`` and ``after``."""

    before: str
    part: str
    times: int
    after: str

    def pieces(self) -> Iterator[bytes]:
        """Yield the text, piece by piece."""
        yield self.before.encode()
        for begin in range(0, self.times, PARTS):
            yield self.part.encode() * min(PARTS, self.times - begin)
        yield self.after.encode()


Text = str | bytes | Repeated


def text_at(name: str, text: Text) -> Make:
    """Return a function that makes one file, and the folders that the file needs."""

    def make(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.writelines(_pieces(text))

    return make


def _pieces(text: Text) -> Iterable[bytes]:
    if isinstance(text, Repeated):
        return text.pieces()
    return [text if isinstance(text, bytes) else text.encode()]


def together(*makes: Make) -> Make:
    """Return a function that calls all of ``makes``, in order."""

    def make(folder: Path) -> None:
        for each in makes:
            each(folder)

    return make


def nothing(_folder: Path) -> None:
    """Make no file."""
