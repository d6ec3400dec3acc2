"""The folder of `numasim validate`: stored runs, recorded graphs, table and page.

Each cell (a program under a strategy with a number of workers) has a file for its runs, which is written anew after
every repeat, so that a killed validation can resume.

The runs of a cell depend on the contents of machine, strategy and runtime, the recorded graph, the compiled program
and the processor. All of these together identify the cell. If one of them changes, the runs of the cell are made again.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pydantic import Field, PrivateAttr, ValidationError

from numasim import __version__
from numasim.errors import InputError
from numasim.files.bounded_json import read_json
from numasim.files.owned_folder import FolderKind, make_folder
from numasim.files.reader import RUNS as RUNS_FILE
from numasim.files.writer import store_bytes
from numasim.machine.sysfs import cpu_info
from numasim.parts.base import Model, canonical_json
from numasim.runtime.runtime_program import find_program

PAGE, TABLE = "index.html", "validation.csv"
RUNS, GRAPHS = "runs", "graphs"
STATE = {RUNS: re.compile(r"[0-9a-f]{32}\.json"), GRAPHS: re.compile(r"[a-z0-9_]+-[0-9a-f]{32}\.json")}
VALIDATION = FolderKind("numasim validate", STATE)

Identity = Mapping[str, Any]
Counts = dict[str, dict[str, int]]


class StoredRuns(Model, frozen=False):
    """The stored repeats of one cell, by seed, in the form of the cell's file."""

    predicted: Counts = Field(default_factory=dict, description="Counters of the predictions by seed.")
    measured: Counts = Field(default_factory=dict, description="Counters of the measurements by seed.")
    compared: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="Numbers of values that were compared exactly, and the values that differ, by seed.",
    )
    moved: int = Field(0, description="Runs that were rejected because threads had moved.")
    _path: Path = PrivateAttr()

    def save(self) -> None:
        """Write the file. Raise InputError if the file cannot be written."""
        store_bytes(self._path, json.dumps(self.model_dump()).encode())


def read_runs(directory: Path, identity: Identity) -> StoredRuns:
    """Return the runs of the cell with this identity; empty if there are none. Raise InputError for a damaged file."""
    path = directory / RUNS / f"{digest(identity)}.json"
    if os.path.lexists(path):
        try:
            found = StoredRuns.model_validate(read_json(path, RUNS_FILE), strict=True)
        except ValidationError:
            raise InputError("is damaged", place=str(path), expected=RUNS_FILE.name) from None
    else:
        make_folder(path.parent)
        found = StoredRuns()
    found._path = path
    return found


def digest(identity: Identity) -> str:
    """Return 32 hex digits that identify ``identity``."""
    return blake2b(canonical_json(dict(identity)).encode(), digest_size=16).hexdigest()


def program_digest() -> str:
    """Return 32 hex digits for the contents of the compiled program. Raise InputError if the program was not built."""
    program = find_program()
    return _digest_of(program, program.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _digest_of(program: Path, _modified_ns: int) -> str:
    return blake2b(program.read_bytes(), digest_size=16).hexdigest()


# ---- The origin of measurements: the processor, the system and the compiled program ----------------------------------


def measurement_origin() -> dict[str, str | int]:
    """Return the processor, the system and the program with which runs on this machine are made."""
    return {
        "processor": processor(),
        "hardware_threads": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.release()}",
        "numasim": __version__,
        "program": program_digest(),
    }


def processor() -> str:
    """Return the name that the processor reports, or else its architecture."""
    found = re.search(r"^model name\s*:(.*)$", cpu_info(), re.MULTILINE)
    return found[1].strip() if found else platform.machine()
