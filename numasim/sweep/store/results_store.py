"""The results directory of a sweep: the runs of one specification, none of which is computed twice.

spec.yaml         the sweep as it was last requested, which runs from any place
graphs/           task graphs to which spec.yaml refers
controllers/      modules of controllers to which spec.yaml refers
provenance.json   the specification, and the versions that wrote here
shards/           the runs, a file for each batch; the only source of the tables
*.parquet         the tables, made from the shards when every run has ended
answers.csv       what follows from the tables (numasim/report),
index.html        and a page to read
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numasim.errors import InputError
from numasim.files.owned_folder import MANIFEST, FolderKind, OwnedFolder, make_folder, owned_folder, owns
from numasim.files.writer import FOLDER, output_errors, reading_errors, store_bytes, unfinished
from numasim.sweep.store import provenance
from numasim.sweep.store.shard import NAME as SHARD
from numasim.sweep.store.shard import WHOLE, is_whole, read_shards, shard_number

SPEC = "spec.yaml"
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


def _earlier(directory: Path) -> tuple[str, ...] | None:
    """The files of a version without manifests, next to its provenance, which `_known` reads."""
    return (SPEC, *TABLES) if (directory / provenance.FILE).is_file() else None


SWEEP = FolderKind("numasim sweep", {".": re.compile(re.escape(provenance.FILE)), SHARDS: SHARD}, _earlier)


@dataclass(frozen=True)
class Identity:
    """The specification of a results directory: the hash decides whether it may be extended."""

    spec_hash: str
    model_version: int
    text: str  # of the sweep's YAML
    files: Mapping[str, bytes] = field(default_factory=dict)  # that the text refers to, by their paths beside it


@dataclass(frozen=True)
class Store:
    """An open results directory; only the holder of its lock has one."""

    folder: OwnedFolder

    @property
    def directory(self) -> Path:
        """Where it is."""
        return self.folder.directory

    @property
    def shards(self) -> Path:
        """Where shards are written."""
        return self.directory / SHARDS

    def shard_paths(self) -> list[Path]:
        """List the shards in the order of writing."""
        with reading_errors(self.shards):
            names = [name for name in os.listdir(self.shards) if SHARD.fullmatch(name)]
        return [self.shards / name for name in sorted(names, key=lambda name: (shard_number(name), name))]

    def next_number(self) -> int:
        """Return the number of the next shard; it is higher than those of all existing shards."""
        return max((shard_number(path.name) for path in self.shard_paths()), default=-1) + 1

    def finished(self) -> frozenset[str]:
        """Return the ids of the runs that ended without an error and need not be repeated."""
        runs = read_shards(self.shard_paths(), ["run_id", "error"])
        pairs = zip(runs["run_id"].to_pylist(), runs["error"].to_pylist(), strict=True)
        return frozenset(run_id for run_id, error in pairs if error is None)


@contextmanager
def open_store(directory: Path, identity: Identity) -> Iterator[Store]:
    """Create or extend ``directory`` and lock it.

    Raises `InputError` where it cannot be written, holds something else, belongs to another specification, or is in
    use or damaged; a refused directory is not changed.
    """
    _known(directory, identity)
    with owned_folder(directory, SWEEP, (*TABLES, *REPORT)) as folder:
        _identify(folder, identity, _known(directory, identity))
        _refuse_damaged(directory)
        yield Store(folder)


def _known(directory: Path, identity: Identity) -> dict[str, Any] | None:
    """The provenance of ``directory``, None for a new one; `InputError` if it belongs to another specification."""
    with output_errors(directory, FOLDER):
        known = provenance.read_provenance(directory)
        shards = directory / SHARDS
        if known is None and (directory / MANIFEST).is_file() and shards.is_dir() and any(shards.iterdir()):
            expected = "the file that a sweep wrote; choose another directory"
            raise InputError("is missing", place=str(directory / provenance.FILE), expected=expected)
    if known is not None and known["spec_hash"] != identity.spec_hash:
        version = _model_version(known)
        if version not in (None, identity.model_version):
            problem = f"holds results of model version {version}, and this numasim has version {identity.model_version}"
            expected = "a new directory: runs of the same specification may come out otherwise"
            raise InputError(problem, place=str(directory), expected=expected)
        expected = "a new directory, or a specification that differs only in sweep and repeat"
        problem = f"holds results of another specification, see its {SPEC}"
        raise InputError(problem, place=str(directory), expected=expected)
    return known


def _model_version(known: dict[str, Any]) -> object:
    """The version of the model that wrote last, None where a damaged history does not say it."""
    last = known["history"][-1] if known["history"] else None
    return last.get("model_version") if isinstance(last, dict) else None


def require_unchanged(directory: Path, name: str) -> None:
    """Raise `InputError` if the table ``name`` of ``directory`` has another hash than the manifest says.

    Without a manifest nothing is raised: a sweep's directory gets a remark on standard error, any other none.
    """
    if not (directory / MANIFEST).is_file():
        if not (directory / provenance.FILE).is_file():
            return
        text = f"numasim: {directory}: there is no {MANIFEST}, so that nobody knows whether {name} was changed"
        print(text, file=sys.stderr)
    elif not owns(directory, SWEEP, name):
        problem = f"was changed after, or not written by, `{SWEEP.command}`"
        expected = "the table of the sweep; move this file elsewhere and sweep again, which makes the table anew"
        raise InputError(problem, place=str(directory / name), expected=expected)


def _identify(folder: OwnedFolder, identity: Identity, known: dict[str, Any] | None) -> None:
    """Write the specification, and extend the provenance."""
    folder.write({**identity.files, SPEC: identity.text.encode()})
    entry = provenance.extended(known, identity.spec_hash, identity.model_version)
    if entry != known:
        store_bytes(folder.directory / provenance.FILE, provenance.to_bytes(entry))
    make_folder(folder.directory / SHARDS)


def _refuse_damaged(directory: Path) -> None:
    """InputError for the first file whose content does not match the hash in its name."""
    with reading_errors(directory):
        shards = [path for path in sorted((directory / SHARDS).iterdir()) if unfinished(path.name) is None]
        damaged = [path for path in shards if not is_whole(path)]
    for path in damaged:
        raise InputError(
            "is damaged, or was not written by a sweep",
            place=str(path),
            expected=WHOLE,
        )
