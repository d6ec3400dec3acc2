"""The hash of a file follows the file's contents, whether or not the hash is computed again."""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path

import pytest

from numasim.errors import InputError
from numasim.files import reader
from numasim.files.reader import GRAPH, hash_of_file

LONG_AGO_NS = 10**18


def right(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def test_a_file_that_is_written_again_at_once_has_another_hash(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    for content in (b"first", b"other", b"third"):  # contents of one length
        path.write_bytes(content)
        assert hash_of_file(path, GRAPH) == right(content)


def test_a_file_at_rest_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "RESTING_S", -1.0)  # any file is at rest
    path = tmp_path / "graph.json"
    path.write_bytes(b"first")
    reads: list[Path] = []
    monkeypatch.setattr(reader, "_read_hash", lambda path, kind: reads.append(path) or right(path.read_bytes()))
    assert [hash_of_file(path, GRAPH) for _ in range(3)] == [right(b"first")] * 3
    assert len(reads) == 1


def test_a_file_that_rested_is_read_again_when_it_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "RESTING_S", -1.0)
    path = tmp_path / "graph.json"
    path.write_bytes(b"first")
    assert hash_of_file(path, GRAPH) == right(b"first")
    path.write_bytes(b"other")
    os.utime(path, ns=(LONG_AGO_NS, LONG_AGO_NS))  # the size is unchanged, and the clock of the file was set back
    assert hash_of_file(path, GRAPH) == right(b"other")


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no file .*gone\.json"):
        hash_of_file(tmp_path / "gone.json", GRAPH)
