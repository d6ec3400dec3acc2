"""The folders that belong to a command, and the files in such a folder that belong to the command.

A command writes to a folder that is new, empty, or was written by the same command. Every other folder is refused and
stays unchanged. The manifest in a folder names the command and, for each file of the command, the hashes of the
contents that the command wrote. A file belongs to the command if the hash of its contents is in the manifest. All other
files belong to the user: the command neither replaces nor removes a file of the user or the target of a symbolic link.

Before a file is written, the hash of its new contents is entered in the manifest; afterwards the hash of its old
contents is deleted. A kill at any moment therefore leaves a folder that is recognised, and a manifest without files of
the user. State, such as the shards of a sweep, is not in the manifest: state files are recognised by their names and
contents, and are checked before they are replaced.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import stat
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from numasim.errors import InputError
from numasim.files.bounded_json import read_json
from numasim.files.reader import MANIFEST as MANIFEST_KIND
from numasim.files.reader import hash_of, is_folder, is_there
from numasim.files.writer import FOLDER, output_errors, reading_errors, store_bytes, unfinished

# ---- A lock for the only writer of a folder --------------------------------------------------------------------------

LOCK = ".numasim.lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock ``folder`` for one writer. The system releases the lock when the process ends, so no kill leaves a lock."""
    path = folder / LOCK
    with output_errors(folder, FOLDER):
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        with output_errors(folder, FOLDER):
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # The last holder may have removed the lock file after this process opened it: then this lock is void.
                is_held = os.fstat(lock).st_ino == os.stat(path).st_ino
            except (BlockingIOError, FileNotFoundError):
                is_held = False
        if not is_held:
            expected = "another folder, or to wait until that command has ended"
            raise InputError("another command is writing here", place=str(folder), expected=expected)
        try:
            yield
        finally:
            with suppress(OSError):  # the next command can lock a lock file that stays behind
                path.unlink()
    finally:
        with suppress(OSError):  # the system frees the descriptor even if closing reports an error
            os.close(lock)


MANIFEST = ".numasim.json"
FORMAT = "numasim folder 1"

Hashes = dict[str, list[str]]  # path in the folder -> hashes of the possible contents


@dataclass(frozen=True)
class FolderKind:
    """The command that owns a folder, and the names of the state files that the command writes there.

    ``state`` has, for each sub-folder ("." for the folder itself), a pattern of the names of its state files.
    """

    command: str
    state: Mapping[str, re.Pattern[str]] = field(default_factory=dict)


@contextmanager
def owned_folder(directory: Path, kind: FolderKind, names: Collection[str] = ()) -> Iterator[OwnedFolder]:
    """Make or reopen ``directory`` for the command of ``kind``, and lock the folder until the block ends.

    Raises InputError for a folder that does not belong to the command, has a file of the user at one of ``names``, is
    in use or cannot be written; such a folder stays unchanged. If the block raises an error, a new folder that is empty
    is removed, and an old folder without a manifest is unchanged if the block wrote nothing.
    """
    require_free(directory, kind, names)
    with _made(directory), locked(directory):
        before = _names(directory)
        folder = OwnedFolder(directory, kind)
        folder.require_free(names)
        try:
            folder.claim()
            yield folder
        except BaseException:
            if MANIFEST not in before:
                with suppress(OSError, InputError):
                    if _names(directory) <= before | {MANIFEST}:
                        (directory / MANIFEST).unlink()
            raise
        finally:
            folder.remove_unfinished()  # files of a writer that was interrupted


def require_free(directory: Path, kind: FolderKind, names: Iterable[str]) -> None:
    """Raise InputError if ``directory`` is not the command's, or has a file of the user at one of ``names``."""
    OwnedFolder(directory, kind).require_free(names)


def owns(directory: Path, kind: FolderKind, name: str) -> bool:
    """Return whether a file of ``directory`` belongs to the command of ``kind``, or does not exist."""
    folder = OwnedFolder(directory, kind)
    return not folder.has(name) or folder.owns(name)


def make_folder(folder: Path) -> Path:
    """Make ``folder`` and its missing parents. Raises InputError if a folder cannot be made."""
    with output_errors(folder, FOLDER):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


class OwnedFolder:
    """A folder that a command may write to. Files are named by their paths in the folder, such as ``tables/a.csv``."""

    def __init__(self, directory: Path, kind: FolderKind) -> None:
        """Raise InputError as `require_own` does."""
        self.directory = directory
        self._command = kind.command
        self._state = kind.state
        self._files = require_own(directory, kind)

    def write(self, files: Mapping[str, bytes | BinaryIO]) -> list[Path]:
        """Write ``files``, bytes or open files, in their order, each whole or not at all, and return their paths.

        Raises InputError, before the first file is written, if the user has a file of one of the names.
        """
        hashes = {name: hash_of(content) for name, content in files.items()}
        present = {name: _hash_of(self.directory / name) for name in files}
        differing = [name for name in files if present[name] != hashes[name]]
        self.require_free(differing)
        self._enter({name: [each for each in dict.fromkeys((present[name], hashes[name])) if each] for name in files})
        for name in differing:
            make_folder((self.directory / name).parent)
            store_bytes(self.directory / name, files[name])
        self._enter({name: [hashes[name]] for name in files})
        return [self.directory / name for name in files]

    def write_only(self, files: Mapping[str, bytes]) -> list[Path]:
        """Write ``files``, remove all other files of the command, and print the names of files that the user changed.

        A file of the command that the user changed is kept.
        """
        paths = self.write(files)
        for path in self.remove_others(files):
            print(f"numasim: {path}: was changed after `{self._command}` wrote it, and is kept", file=sys.stderr)
        return paths

    def require_free(self, names: Iterable[str]) -> None:
        """Raise InputError if the user has a file at one of ``names``."""
        for name in names:
            for path in reversed(self._below(name)):
                with reading_errors(path):
                    is_file = is_there(path) and not is_folder(path)
                if is_file:
                    raise self._in_the_way(path, f"is a file, where `{self._command}` has a folder")
            if self.has(name) and not self.owns(name):
                how = "changed after" if name in self._files else "not written by"
                written = f"`{self._command}` wrote it" if name in self._files else f"`{self._command}`"
                raise self._in_the_way(self.directory / name, f"was {how} {written}, which would replace it")

    def remove_others(self, names: Collection[str]) -> tuple[Path, ...]:
        """Remove the command's files except ``names``. Return the files that stay because the user changed them."""
        others = [name for name in self._files if name not in names]
        kept = [name for name in others if self.has(name) and not self._remove(name)]
        if others:
            self._files = {name: hashes for name, hashes in self._files.items() if name in names}
            self._save()
        return tuple(self.directory / name for name in kept)

    def claim(self) -> None:
        """Write the manifest, and remove unfinished files of killed writers."""
        if not self.has(MANIFEST):
            self._save()
        self.remove_unfinished()

    def remove_unfinished(self) -> None:
        """Remove unfinished files of killed writers of the command."""
        for folder in {".", *self._state, *(str(PurePosixPath(name).parent) for name in self._files)}:
            place = self.directory / folder
            with output_errors(place, FOLDER):
                if place.is_symlink() or not is_folder(place):
                    continue
                for entry in list(os.scandir(place)):
                    finished = unfinished(entry.name)
                    if finished and self._writes(folder, finished) and entry.is_file(follow_symlinks=False):
                        os.unlink(entry)

    def has(self, name: str) -> bool:
        """Return whether a file called ``name`` exists."""
        with reading_errors(self.directory / name):
            return is_there(self.directory / name)

    def owns(self, name: str) -> bool:
        """Return whether the command wrote the contents of a file."""
        return _hash_of(self.directory / name) in self._files.get(name, ())

    def _remove(self, name: str) -> bool:
        """Remove a file of the command. Return False if the file is the user's or is reached through a link."""
        path = self.directory / name
        with output_errors(path, FOLDER):
            if any(folder.is_symlink() for folder in self._below(name)) or not self.owns(name):
                return False
            path.unlink()
        return True

    def _below(self, name: str) -> list[Path]:
        """Return the sub-folders on the way to a file, the innermost first."""
        return [self.directory / parent for parent in PurePosixPath(name).parents if parent.name]

    @staticmethod
    def _in_the_way(path: Path, problem: str) -> InputError:
        return InputError(problem, place=str(path), expected="it moved elsewhere, or deleted")

    def _writes(self, folder: str, name: str) -> bool:
        """Return whether the command writes a file called ``name`` to the sub-folder ``folder``."""
        pattern = self._state.get(folder)
        return str(PurePosixPath(folder, name)) in {MANIFEST, *self._files} or bool(pattern and pattern.fullmatch(name))

    def _enter(self, files: Hashes) -> None:
        entered = {**self._files, **files}
        if entered != self._files:
            self._files = entered
            self._save()

    def _save(self) -> None:
        manifest = {"format": FORMAT, "command": self._command, "files": dict(sorted(self._files.items()))}
        store_bytes(self.directory / MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())


# ---- the owner of a folder ----


def require_own(directory: Path, kind: FolderKind) -> Hashes:
    """Return the hashes of the command's files in ``directory``. Raises InputError for a folder of another owner."""
    place, expected = str(directory), f"a new or empty folder, or one that `{kind.command}` wrote"
    with output_errors(directory, FOLDER):
        if not directory.is_dir():
            if directory.exists():
                raise InputError("is a file", place=place, expected=expected)
            return {}
        # A command that was killed before its first file may have left its lock or an unfinished file.
        names = [name for name in os.listdir(directory) if name != LOCK and unfinished(name) is None]
        if MANIFEST in names:
            command, files = _manifest(directory / MANIFEST)
            if command != kind.command:
                raise InputError(f"is a folder that `{command}` wrote", place=place, expected=expected)
            return files
        if names:
            text = f"holds files that `{kind.command}` did not write, {min(names)!r} for one"
            raise InputError(text, place=place, expected=expected)
        return {}


def _names(directory: Path) -> frozenset[str]:
    with reading_errors(directory):
        return frozenset(os.listdir(directory)) - {LOCK}


def _manifest(path: Path) -> tuple[str, Hashes]:
    """Return the command that wrote a folder, and the hashes of its files."""
    found = read_json(path, MANIFEST_KIND)
    try:
        files = {str(name): [str(each) for each in hashes] for name, hashes in found["files"].items()}
        if found["format"] == FORMAT and not path.is_symlink() and all(map(_is_inside, files)):
            return str(found["command"]), files
    except (KeyError, TypeError, AttributeError):
        pass
    raise InputError("is damaged", place=str(path), expected=MANIFEST_KIND.name)


def _is_inside(name: str) -> bool:
    """Return whether the relative path ``name`` stays inside the folder: no ``..`` and not absolute."""
    return bool(name) and not name.startswith("/") and not {".", "..", ""} & set(name.split("/"))


@contextmanager
def _made(directory: Path) -> Iterator[None]:
    """Make ``directory`` and its parents; after an error remove the new folders that are empty."""
    with output_errors(directory, FOLDER):
        missing = [path for path in (directory, *directory.parents) if not path.exists()]
    try:
        make_folder(directory)
        yield
    except BaseException:
        with suppress(OSError):
            for path in missing:
                path.rmdir()
        raise


# ---- hashes ----


def _hash_of(path: Path) -> str | None:
    """Return the hash of a file's contents, None if there is no regular file. Raises InputError if it is unreadable."""
    with reading_errors(path):
        try:
            if not stat.S_ISREG(path.lstat().st_mode):
                return None
            with path.open("rb") as file:
                return hash_of(file)
        except (FileNotFoundError, NotADirectoryError):
            return None
