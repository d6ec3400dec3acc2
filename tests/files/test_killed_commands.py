"""A command that is killed at any moment: its folder is recognised, and files of the user are unchanged."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from trees import tree

from numasim.files.owned_folder import MANIFEST, FolderKind, owned_folder

KILLED = """\
import os, signal, sys
from pathlib import Path
from numasim.files.owned_folder import FolderKind, owned_folder

left = int(sys.argv[1])

def counted(function):
    def call(*arguments, **named):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **named)
    return call

for name in ("mkdir", "open", "replace", "unlink"):
    setattr(os, name, counted(getattr(os, name)))

with owned_folder(Path("out"), FolderKind("numasim toil")) as folder:
    folder.write_only({name: name.encode() * 9000 for name in sys.argv[2:]})
"""
BEFORE, AFTER = ("page", "tables/same", "tables/gone"), ("tables/same", "tables/new", "page.two")


def write(folder: Path, names: tuple[str, ...]) -> None:
    """Write these files in this process."""
    with owned_folder(folder / "out", FolderKind("numasim toil")) as out:
        out.write_only({name: name.encode() * 9000 for name in names})


def survives(folder: Path, left: int, names: tuple[str, ...]) -> bool:
    """Write these files in a process killed at call ``left`` of those that change files; return False if killed."""
    command = [sys.executable, "-c", KILLED, str(left), *names]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode == 0


def users_files(folder: Path, names: tuple[str, ...]) -> dict[str, bytes]:
    """Return the user's files in the folder."""
    files = {"notes": b"mine", "tables/mine": b"mine", ".tmp-1-notes": b"mine"}
    return {name: content for name, content in files.items() if name not in names}


@pytest.mark.parametrize("is_new", [True, False], ids=["new folder", "own folder"])
def test_a_kill_before_every_call_leaves_a_folder_that_goes_on(tmp_path: Path, is_new: bool) -> None:
    for left in count():
        place = tmp_path / str(left)
        mine = {} if is_new else users_files(place / "out", BEFORE)
        place.mkdir()
        if not is_new:
            write(place, BEFORE)
            for name, content in mine.items():
                (place / "out" / name).write_bytes(content)
        survived = survives(place, left, AFTER)
        claimed = json.loads(text) if (text := read(place / "out" / MANIFEST)) else {"files": {}}
        assert not set(claimed["files"]) & set(mine)
        assert all((place / "out" / name).read_bytes() == content for name, content in mine.items())
        write(place, AFTER)
        found = {name: data for name, (kind, data) in tree(place / "out").items() if kind.startswith("file")}
        found.pop(MANIFEST)
        assert found == {**{name: name.encode() * 9000 for name in AFTER}, **mine}
        if survived:
            break
    assert left > 10


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""
