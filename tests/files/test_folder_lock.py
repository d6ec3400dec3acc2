"""The lock of a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from numasim.errors import InputError
from numasim.files.owned_folder import LOCK, locked


def test_a_lock_excludes_and_is_given_back(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(InputError, match="another command is writing here"), locked(tmp_path):
        pass
    with locked(tmp_path):
        assert os.listdir(tmp_path) == [LOCK]
    assert os.listdir(tmp_path) == []


def test_a_lock_file_that_a_killed_process_left_does_not_lock(tmp_path: Path) -> None:
    (tmp_path / LOCK).touch()
    with locked(tmp_path):
        pass


def test_a_lock_on_a_file_that_its_holder_removed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def open_then_lose(path: Path, *rest: int) -> int:
        handle = opened(path, *rest)
        os.unlink(path)
        return handle

    monkeypatch.setattr(os, "open", open_then_lose)
    with pytest.raises(InputError, match="another command"), locked(tmp_path):
        pass
