"""What is at a path. Where that cannot be found out, it is an error and no absence: what is there must not be lost."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def is_there(path: Path | str) -> bool:
    """Whether anything has that name, a link that leads nowhere included. Raises OSError where it cannot be said."""
    return _mode(path, follow=False) is not None


def is_folder(path: Path | str) -> bool:
    """Whether ``path`` leads to a folder. Raises OSError where it cannot be said."""
    return stat.S_ISDIR(_mode(path) or 0)


def is_regular(path: Path | str) -> bool:
    """Whether ``path`` leads to a regular file. Raises OSError where it cannot be said."""
    return stat.S_ISREG(_mode(path) or 0)


def _mode(path: Path | str, follow: bool = True) -> int | None:
    """The mode of what ``path`` leads to, None where there is nothing."""
    try:
        return os.stat(path, follow_symlinks=follow).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
