"""The contents of folders, for comparisons before and after a command."""

from __future__ import annotations

import os
import stat
from pathlib import Path

KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "pipe",
    stat.S_IFCHR: "device",
}

Tree = dict[str, tuple[str, object]]


def tree(folder: Path) -> Tree:
    """Return the kinds, modes, contents and targets (of links) of all files and folders below ``folder``."""
    return {str(path.relative_to(folder)): _entry(path) for path in sorted(folder.rglob("*"))}


def _entry(path: Path) -> tuple[str, object]:
    status = path.lstat()
    kind = KINDS[stat.S_IFMT(status.st_mode)]
    if kind == "link":
        return kind, os.readlink(path)
    mode = f"{stat.S_IMODE(status.st_mode):o}"
    return (f"{kind} {mode}", path.read_bytes()) if kind == "file" else (kind, mode)
