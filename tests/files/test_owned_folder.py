"""Which folders, and which files in them, belong to a made-up command, and which to the user."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from trees import tree

from numasim.errors import InputError
from numasim.files.owned_folder import LOCK, MANIFEST, FolderKind, OwnedFolder, locked, owned_folder

KIND = FolderKind("numasim toil", {"shards": re.compile(r"[0-9]+\.bin")})
OTHER = FolderKind("numasim rest")
OURS = {"page.html": b"page", "tables/one.csv": b"1"}

Capture = pytest.CaptureFixture[str]


def written(folder: Path, files: dict[str, bytes] = OURS) -> Path:
    with owned_folder(folder, KIND) as owned:
        owned.write_only(files)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder, without the manifest."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def refused(folder: Path, words: str, do: Callable[[OwnedFolder], object] = lambda _: None) -> None:
    """Assert that opening the folder, or ``do`` in it, is refused and changes nothing."""
    before = tree(folder.parent)

    def attempt() -> None:
        with owned_folder(folder, KIND) as owned:
            do(owned)

    with pytest.raises(InputError, match=words):
        attempt()
    assert tree(folder.parent) == before


# ---- the owner of a folder ----


def test_a_new_folder_is_made_with_its_parents(tmp_path: Path) -> None:
    assert contents(written(tmp_path / "a" / "b")) == OURS


def test_an_empty_folder_is_taken_and_its_own_is_taken_again(tmp_path: Path) -> None:
    assert contents(written(tmp_path)) == OURS
    assert contents(written(tmp_path, {**OURS, "page.html": b"other"})) == {**OURS, "page.html": b"other"}
    assert not (tmp_path / LOCK).exists()


@pytest.mark.parametrize("name", ["notes.txt", ".hidden", "figures", "tables/one.csv", ".lock", ".tmp-x"])
def test_a_folder_with_anything_of_the_users_is_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "mine"
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_bytes(b"mine")
    first = name.split("/", maxsplit=1)[0]
    refused(folder, f"mine: holds files that `numasim toil` did not write, '{first}' for one; expected a new or empty")


def test_a_folder_of_another_command_is_refused(tmp_path: Path) -> None:
    with owned_folder(tmp_path / "rest", OTHER):
        pass
    refused(
        tmp_path / "rest", "rest: is a folder that `numasim rest` wrote; expected a new or empty folder, or one that"
    )


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    refused(tmp_path / "file", "file: is a file; expected a new or empty folder")
    refused(tmp_path / "file" / "below", r"below: cannot be written \(Not a directory\)")


def test_a_link_to_nothing_is_refused_and_one_to_a_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real")
    refused(tmp_path / "link", r"link: cannot be written \(File exists\)")
    (tmp_path / "real").mkdir()
    written(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert contents(tmp_path / "real") == OURS


HEAD = b'{"format": "numasim folder 1", "command": "numasim toil"'
DAMAGED = (b"[]", HEAD + b"}", *(HEAD + b', "files": {%s}}' % each for each in (b'"../x": []', b'"/x": []', b'"a": 1')))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", ":1:1: this is not JSON: Expecting value"),
        (b"\xff", ":1:1: this file is not text in UTF-8"),
        (HEAD.replace(b"1", b"2") + b', "files": {}}', ": is damaged"),
        *((text, ": is damaged") for text in DAMAGED),
    ],
)
def test_a_damaged_manifest_is_refused(tmp_path: Path, text: bytes, problem: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / MANIFEST).write_bytes(text)
    refused(tmp_path / "out", f"{MANIFEST}{problem}; expected the file that numasim wrote; choose another folder")


def test_a_manifest_that_is_a_link_is_refused(tmp_path: Path) -> None:
    written(tmp_path / "theirs")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / MANIFEST).symlink_to(tmp_path / "theirs" / MANIFEST)
    refused(tmp_path / "out", f"{MANIFEST}: is damaged")


def test_what_fails_before_anything_is_written_leaves_no_folder(tmp_path: Path) -> None:
    refused(tmp_path / "a" / "b", "no", lambda _: (_ for _ in ()).throw(InputError("no")))
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "no", lambda _: (_ for _ in ()).throw(InputError("no")))


# ---- the owner of a file ----


def test_only_what_the_command_wrote_and_nobody_changed_is_removed(tmp_path: Path, capsys: Capture) -> None:
    names = ("tables/gone.csv", "tables/changed.csv", "tables/same.csv", "tables/linked.csv", "tables/folder.csv")
    folder = written(tmp_path / "out", {name: name.encode() for name in names})
    tables = folder / "tables"
    (tables / "gone.csv").unlink()
    (tables / "changed.csv").write_bytes(b"mine")
    (tables / "mine.csv").write_bytes(b"mine")
    (tables / "linked.csv").rename(tmp_path / "moved")
    (tables / "linked.csv").symlink_to(tmp_path / "moved")
    (tables / "folder.csv").unlink()
    (tables / "folder.csv").mkdir()
    written(folder)
    kept = ["changed.csv", "folder.csv", "linked.csv"]
    assert capsys.readouterr().err.splitlines() == [
        f"numasim: {tables / name}: was changed after `numasim toil` wrote it, and is kept" for name in kept
    ]
    assert sorted(path.name for path in tables.iterdir()) == sorted([*kept, "mine.csv", "one.csv"])
    assert (tables / "changed.csv").read_bytes() == (tables / "mine.csv").read_bytes() == b"mine"
    assert (tmp_path / "moved").read_bytes() == b"tables/linked.csv"
    written(folder)
    assert capsys.readouterr().err == "", "what is kept is the user's from then on"


def test_nothing_is_removed_behind_a_link(tmp_path: Path) -> None:
    folder = written(tmp_path / "out", {"tables/old.csv": b"1"})
    (folder / "tables").rename(tmp_path / "elsewhere")
    (folder / "tables").symlink_to(tmp_path / "elsewhere")
    written(folder)
    assert sorted(path.name for path in (tmp_path / "elsewhere").iterdir()) == ["old.csv", "one.csv"]


MAKE: dict[str, Callable[[Path], object]] = {  # by the kind of the user's file: how it is made
    "file": lambda path: path.write_bytes(b"mine"),
    "folder": Path.mkdir,
    "link": lambda path: path.symlink_to("../../far"),
    "dangling link": lambda path: path.symlink_to("../../none"),
}
FOREIGN = "was not written by `numasim toil`, which would replace it; expected it moved elsewhere, or deleted"


@pytest.mark.parametrize("kind", MAKE)
def test_a_file_of_the_users_is_not_replaced(tmp_path: Path, kind: str) -> None:
    folder = written(tmp_path / "out", {"page.html": b"page"})
    (folder / "tables").mkdir()
    (tmp_path / "far").write_bytes(b"mine")
    MAKE[kind](folder / "tables" / "one.csv")
    refused(folder, f"one.csv: {FOREIGN}", lambda owned: owned.write({**OURS, "page.html": b"new"}))
    refused(folder, f"one.csv: {FOREIGN}", lambda owned: owned.require_free(OURS))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("page.html", "page.html: was changed after `numasim toil` wrote it, which would replace it"),
        ("tables", "tables: is a file, where `numasim toil` has a folder"),
    ],
)
def test_a_file_that_the_user_changed_or_made_in_the_way_is_not_replaced(tmp_path: Path, name: str, words: str) -> None:
    folder = written(tmp_path / "out", {"page.html": b"page"})
    (folder / name).write_bytes(b"mine")
    refused(folder, words, lambda owned: owned.write({"tables/two.csv": b"2", "page.html": b"new"}))


def test_a_file_that_already_is_as_it_shall_be_is_not_touched(tmp_path: Path) -> None:
    folder = written(tmp_path / "out")
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    written(folder)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == times


# ---- files that killed commands left ----


def test_what_killed_writers_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    folder = written(tmp_path / "out")
    (folder / "shards").mkdir()
    left = [f".tmp-12ab-{MANIFEST}", ".tmp-9-page.html", "tables/.tmp-1-one.csv", "shards/.tmp-1-000.bin"]
    mine = [".tmp-9-mine", ".tmp-page.html", "tables/.tmp-1-mine.csv", "shards/.tmp-1-x.bin", "shards/1.bin"]
    for name in (*left, *mine):
        (folder / name).write_bytes(b"x")
    (folder / ".tmp-8-page.html").symlink_to("page.html")
    written(folder)
    assert set(contents(folder)) == {*OURS, *mine, ".tmp-8-page.html"}


@pytest.mark.parametrize("name", [LOCK, f".tmp-9-{MANIFEST}", ".tmp-0123456789abcdef-page.html"])
def test_a_folder_with_nothing_but_leftovers_is_taken(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    written(tmp_path)
    assert set(OURS) <= set(contents(tmp_path))


# ---- the lock ----


def test_a_lock_excludes_and_is_given_back(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(InputError, match="another command is writing here"), locked(tmp_path):
        pass
    with locked(tmp_path):
        assert os.listdir(tmp_path) == [LOCK]
    assert os.listdir(tmp_path) == []


def test_a_lock_on_a_file_that_its_holder_removed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def open_then_lose(path: Path, *rest: int) -> int:
        handle = opened(path, *rest)
        os.unlink(path)
        return handle

    monkeypatch.setattr(os, "open", open_then_lose)
    with pytest.raises(InputError, match="another command"), locked(tmp_path):
        pass
