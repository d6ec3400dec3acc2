"""The results directory of a sweep: the runs of one specification, each computed once.

spec.yaml         the last requested sweep, in a form that runs from any folder
graphs/           task graphs to which spec.yaml refers
controllers/      modules of controllers to which spec.yaml refers
provenance.json   the specification, and every version and command that wrote to the directory
shards/           the runs, a file for each batch; the only source of the tables
*.parquet         the tables, made from the shards when every run has ended
answers.csv       answers that follow from the tables (numasim/report),
index.html        and a page to read

The provenance has its own file, so that versions and commands do not change the bytes of the results.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import pyarrow as pa

from numasim import __version__
from numasim.errors import InputError
from numasim.files.bounded_json import read_json
from numasim.files.owned_folder import MANIFEST, FolderKind, OwnedFolder, make_folder, owned_folder, owns
from numasim.files.reader import PROVENANCE as PROVENANCE_KIND
from numasim.files.reader import is_there
from numasim.files.standard_streams import legible_text
from numasim.files.writer import FOLDER, output_errors, reading_errors, store_bytes, unfinished
from numasim.sweep.store.shards import SHARD_NAME, WHOLE, is_whole, read_shards, shard_number

SPEC = "spec.yaml"
PROVENANCE = "provenance.json"
SHARDS = "shards"
RESULTS = "results.parquet"
WORKERS = "workers.parquet"
NODE_PAIRS = "node_pairs.parquet"
ITERATIONS = "iterations.parquet"
TIMING = "timing.parquet"
TABLES = (WORKERS, NODE_PAIRS, ITERATIONS, TIMING, RESULTS)
ANSWERS = "answers.csv"
PAGE = "index.html"
REPORT = (ANSWERS, PAGE)
DEPENDENCIES = ("simpy", "numpy", "pydantic", "ruamel.yaml", "pyarrow")  # packages whose versions are in the provenance
SWEEP = FolderKind("numasim sweep", {".": re.compile(re.escape(PROVENANCE)), SHARDS: SHARD_NAME})


@dataclass(frozen=True)
class Identity:
    """The specification of a results directory; only a sweep with the same hash may extend the directory."""

    spec_hash: str
    model_version: int
    text: str  # the sweep's YAML
    files: Mapping[str, bytes] = field(default_factory=dict)  # by their paths beside the text


@dataclass(frozen=True)
class Store:
    """An open results directory; this process holds the lock of the directory."""

    folder: OwnedFolder

    @property
    def directory(self) -> Path:
        """Return the path of the directory."""
        return self.folder.directory

    @property
    def shards(self) -> Path:
        """Return the folder of the shards."""
        return self.directory / SHARDS

    def shard_paths(self) -> list[Path]:
        """Return the shards in the order of writing."""
        with reading_errors(self.shards):
            names = [name for name in os.listdir(self.shards) if SHARD_NAME.fullmatch(name)]
        return [self.shards / name for name in sorted(names, key=lambda name: (shard_number(name), name))]

    def next_number(self) -> int:
        """Return the number of the next shard, which is higher than the numbers of all existing shards."""
        return max((shard_number(path.name) for path in self.shard_paths()), default=-1) + 1

    def finished(self) -> pa.ChunkedArray:
        """Return the ids of the runs that ended without an error and need not be repeated."""
        runs = read_shards(self.shard_paths(), ["run_id", "error"])
        return runs["run_id"].filter(runs["error"].is_null())


@contextmanager
def open_store(directory: Path, identity: Identity) -> Iterator[Store]:
    """Create or extend ``directory`` and lock it.

    Raises `InputError` if the directory cannot be written, holds something else, belongs to another specification, is
    in use, or is damaged. A refused directory is not changed.
    """
    _known(directory, identity)
    with owned_folder(directory, SWEEP, (*TABLES, *REPORT)) as folder:
        known = _known(directory, identity)
        folder.write({**identity.files, SPEC: identity.text.encode()})
        entry = _extended(known, identity)
        if entry != known:
            store_bytes(directory / PROVENANCE, (json.dumps(entry, indent=2) + "\n").encode())
        make_folder(directory / SHARDS)
        with reading_errors(directory):
            shards = [path for path in sorted((directory / SHARDS).iterdir()) if unfinished(path.name) is None]
            damaged = [path for path in shards if not is_whole(path)]
        if damaged:
            raise InputError("is damaged, or was not written by a sweep", place=str(damaged[0]), expected=WHOLE)
        yield Store(folder)


def require_unchanged(directory: Path, name: str) -> None:
    """Raise `InputError` if the table ``name`` of ``directory`` has another hash than the manifest.

    A directory without a manifest is not checked. If a sweep wrote the directory, a remark on standard error says so.
    """
    if not (directory / MANIFEST).is_file():
        if (directory / PROVENANCE).is_file():
            text = f"there is no {MANIFEST}, so that nobody knows whether {name} was changed"
            print(f"numasim: {directory}: {text}", file=sys.stderr)
    elif not owns(directory, SWEEP, name):
        problem = f"was changed after, or not written by, `{SWEEP.command}`"
        expected = "the table of the sweep; move this file elsewhere and sweep again, which makes the table anew"
        raise InputError(problem, place=str(directory / name), expected=expected)


# ---- Provenance ------------------------------------------------------------------------------------------------------


def read_provenance(directory: Path) -> dict[str, Any] | None:
    """Return the provenance of ``directory``, or None for a directory without one.

    Raises `InputError` for a damaged provenance, and OSError if the system does not tell whether the file exists.
    """
    path = directory / PROVENANCE
    if not is_there(path):
        return None
    found = read_json(path, PROVENANCE_KIND)
    try:
        return {"spec_hash": str(found["spec_hash"]), **found, "history": list(found["history"])}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("is damaged", place=str(path), expected=PROVENANCE_KIND.name) from error


def _known(directory: Path, identity: Identity) -> dict[str, Any] | None:
    """Return the provenance of ``directory``, None if there is none. Raises `InputError` for another specification."""
    with output_errors(directory, FOLDER):
        known = read_provenance(directory)
        shards = directory / SHARDS
        if known is None and (directory / MANIFEST).is_file() and shards.is_dir() and any(shards.iterdir()):
            expected = "the file that a sweep wrote; choose another directory"
            raise InputError("is missing", place=str(directory / PROVENANCE), expected=expected)
    if known is None or known["spec_hash"] == identity.spec_hash:
        return known
    last = known["history"][-1] if known["history"] else None
    version = last.get("model_version") if isinstance(last, dict) else None  # None for a damaged history
    if version not in (None, identity.model_version):
        problem = f"holds results of model version {version}, and this numasim has version {identity.model_version}"
        expected = "a new directory: runs of the same specification may come out otherwise"
        raise InputError(problem, place=str(directory), expected=expected)
    problem = f"holds results of another specification, see its {SPEC}"
    expected = "a new directory, or a specification that differs only in sweep and repeat"
    raise InputError(problem, place=str(directory), expected=expected)


def _extended(known: dict[str, Any] | None, identity: Identity) -> dict[str, Any]:
    """Return ``known`` with this process added to the history, once."""
    here = {
        "command": [legible_text(argument) for argument in sys.argv],
        "numasim": __version__,
        "model_version": identity.model_version,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "dependencies": _versions(),
    }
    history = known["history"] if known else []
    return {"spec_hash": identity.spec_hash, "history": history if here in history else [*history, here]}


@cache
def _versions() -> dict[str, str]:
    """Return the versions of the packages on which results depend, read from files."""
    return {name: metadata.version(name) for name in DEPENDENCIES}
