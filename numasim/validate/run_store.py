"""Stored runs: a file for each cell, written whole after every repeat, so that a killed validation can resume.

A cell is identified by everything that its runs depend on: the contents of machine, strategy and runtime, the recorded
graph, the compiled program itself, and the processor. When any of that changes, its runs are made anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from numasim.errors import InputError
from numasim.files.writer import output_errors, store_bytes
from numasim.parts.base import canonical_json
from numasim.runtime.runtime_program import find_program
from numasim.sweep.store.whole_files import DIRECTORY

RUNS = "runs"

Identity = Mapping[str, Any]


@dataclass
class StoredRuns:
    """The stored repeats of one cell by seed: what was predicted and what was measured.

    ``moved`` is the number of rejected runs, see `numasim.validate.placement_check`. For a comparison by exact
    equality, ``compared`` has the number of values and those that differ. The fields have their names in the file.
    """

    path: Path
    predicted: dict[str, dict[str, int]] = field(default_factory=dict)
    measured: dict[str, dict[str, int]] = field(default_factory=dict)
    compared: dict[str, dict[str, Any]] = field(default_factory=dict)
    moved: int = 0

    def save(self) -> None:
        """Write the file. InputError where that cannot be done."""
        parts = {"predicted": self.predicted, "measured": self.measured, "compared": self.compared, "moved": self.moved}
        store_bytes(self.path, json.dumps(parts).encode())


def read_runs(directory: Path, identity: Identity) -> StoredRuns:
    """The runs of the cell of that identity; empty where there are none. InputError for a damaged file."""
    folder = directory / RUNS
    path = folder / f"{digest(identity)}.json"
    if not path.is_file():
        with output_errors(folder, DIRECTORY):
            folder.mkdir(parents=True, exist_ok=True)
        return StoredRuns(path)
    try:
        return StoredRuns(path, **json.loads(path.read_bytes()))
    except (ValueError, TypeError):
        raise InputError("is damaged", place=str(path), expected="the file as it was written; remove it") from None


def digest(identity: Identity) -> str:
    """32 hex digits that identify ``identity``."""
    return blake2b(canonical_json(dict(identity)).encode(), digest_size=16).hexdigest()


def program_digest() -> str:
    """32 hex digits of the contents of the compiled program. InputError where it was not built."""
    program = find_program()
    return _digest_of(program, program.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _digest_of(program: Path, _modified_ns: int) -> str:
    return blake2b(program.read_bytes(), digest_size=16).hexdigest()
