"""The results directory of a sweep: the runs of one specification, none of which is computed twice.

spec.yaml         the sweep as it was last requested
provenance.json   the specification, and the versions that wrote here
shards/           the runs, a file for each batch; the only source of the tables
*.parquet         the tables, made from the shards when every run has ended
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numasim.errors import InputError
from numasim.files.writer import output_errors, store_bytes
from numasim.sweep.store import provenance
from numasim.sweep.store.shard import is_whole, read_shards, shard_number
from numasim.sweep.store.whole_files import DIRECTORY, LOCK, TEMPORARY, locked, remove_temporaries

SPEC = "spec.yaml"
SHARDS = "shards"


@dataclass(frozen=True)
class Identity:
    """The specification of a results directory: the hash decides whether it may be extended."""

    spec_hash: str
    model_version: int
    text: str  # of the sweep's YAML


@dataclass(frozen=True)
class Store:
    """An open results directory; only the holder of its lock has one."""

    directory: Path

    @property
    def shards(self) -> Path:
        """Where shards are written."""
        return self.directory / SHARDS

    def shard_paths(self) -> list[Path]:
        """List the shards in the order of writing."""
        found = self.shards.glob("[0-9]*.parquet")
        return sorted(found, key=lambda path: (shard_number(path), path.name))

    def next_number(self) -> int:
        """Return the number of the next shard; it is higher than those of all existing shards."""
        return max(map(shard_number, self.shard_paths()), default=-1) + 1

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
    with _existing(directory), locked(directory):
        _identify(directory, identity, _known(directory, identity))
        try:
            _clean(directory)
            _refuse_damaged(directory)
            yield Store(directory)
        finally:
            _clean(directory)


@contextmanager
def _existing(directory: Path) -> Iterator[None]:
    """Make ``directory`` and its parents; on an error those that stayed empty are removed."""
    with output_errors(directory, DIRECTORY):
        made = [path for path in (directory, *directory.parents) if not path.exists()]
    try:
        with output_errors(directory, DIRECTORY):
            directory.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        with suppress(OSError):
            for path in made:
                path.rmdir()
        raise


def _known(directory: Path, identity: Identity) -> dict[str, Any] | None:
    with output_errors(directory, DIRECTORY):
        return _refuse_foreign(directory, identity)


def _refuse_foreign(directory: Path, identity: Identity) -> dict[str, Any] | None:
    """Return the provenance of ``directory``, None for a new one; `InputError` if it belongs to another sweep."""
    place = str(directory)
    if directory.exists() and not directory.is_dir():
        raise InputError("is a file", place=place, expected="a directory for the results")
    known = provenance.read_provenance(directory)
    if known is None and _holds_anything(directory):
        expected = "a new or empty directory, or one that a sweep wrote"
        raise InputError("holds files that no sweep wrote", place=place, expected=expected)
    if known is not None and known["spec_hash"] != identity.spec_hash:
        expected = "a new directory, or a specification that differs only in sweep and repeat"
        raise InputError(f"holds results of another specification, see its {SPEC}", place=place, expected=expected)
    return known


def _holds_anything(directory: Path) -> bool:
    names = [path.name for path in directory.iterdir()] if directory.is_dir() else []
    return any(name != LOCK and not name.startswith(TEMPORARY) for name in names)


def _identify(directory: Path, identity: Identity, known: dict[str, Any] | None) -> None:
    try:
        _write_identity(directory, identity, known)
    except BaseException:
        if known is None:
            for name in (SPEC, provenance.FILE):
                (directory / name).unlink(missing_ok=True)
        raise


def _write_identity(directory: Path, identity: Identity, known: dict[str, Any] | None) -> None:
    """Write provenance first: it marks the directory as this sweep's even after a kill before the next write."""
    entry = provenance.extended(known, identity.spec_hash, identity.model_version)
    if entry != known:
        store_bytes(directory / provenance.FILE, provenance.to_bytes(entry))
    text = identity.text.encode()
    spec = directory / SPEC
    if not spec.is_file() or spec.read_bytes() != text:
        store_bytes(spec, text)
    with output_errors(directory, DIRECTORY):
        (directory / SHARDS).mkdir(exist_ok=True)


def _refuse_damaged(directory: Path) -> None:
    """InputError for the first file whose content does not match the hash in its name."""
    with output_errors(directory, DIRECTORY):
        damaged = [path for path in sorted((directory / SHARDS).iterdir()) if not is_whole(path)]
    for path in damaged:
        raise InputError(
            "is damaged, or was not written by a sweep",
            place=str(path),
            expected="undamaged shards; delete it and run the sweep again, which repeats its runs",
        )


def _clean(directory: Path) -> None:
    for place in (directory, directory / SHARDS):
        remove_temporaries(place)
