"""The writer in Python by itself, every command that writes a file, and the hashes of files that are read."""

from __future__ import annotations

import csv
import os
from hashlib import blake2b
from pathlib import Path

import pytest
from small_inputs import RUN
from trees import tree

from numasim.cli import BAD_INPUT, main
from numasim.errors import InputError
from numasim.files import reader
from numasim.files.reader import GRAPH, hash_of_file
from numasim.files.writer import csv_text, quoted, temporary_name, unfinished, write_bytes, write_text, writing


def test_written_content_is_read_back_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "table"
    write_bytes(path, b"old")
    assert write_text(path, "né") == path
    assert path.read_bytes() == b"n\xc3\xa9"
    assert os.listdir(tmp_path) == ["table"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    write_bytes(tmp_path / "table", b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, full)
    with pytest.raises(InputError, match=r"table: cannot be written \(No space left on device\); expected a file in a"):
        write_bytes(tmp_path / "table", b"new")
    assert (tmp_path / "table").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["table"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_block_that_ends_early_leaves_the_old_content(tmp_path: Path, error: type[BaseException]) -> None:
    write_bytes(tmp_path / "table", b"old")

    def write_half() -> None:
        with writing(tmp_path / "table") as file:
            file.write(b"new")
            file.flush()
            raise error

    with pytest.raises(error):
        write_half()
    assert tree(tmp_path) == {"table": tree(tmp_path)["table"]}
    assert (tmp_path / "table").read_bytes() == b"old"


def test_a_temporary_tells_what_it_was_to_become() -> None:
    assert unfinished(temporary_name("table")) == "table"
    assert unfinished(".tmp-4711-table") == "table", "as earlier versions named them"
    assert [unfinished(name) for name in ("table", ".tmp-table", ".tmp-x-table", ".tmp-4711-")] == [None] * 4
    assert temporary_name("table") != temporary_name("table")
    assert len(os.fsencode(temporary_name("é" * 127))) == 255


def test_a_foreign_temporary_is_never_taken_for_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "taken").write_bytes(b"mine")
    monkeypatch.setattr("numasim.files.writer.temporary_name", lambda _: "taken")
    with pytest.raises(InputError, match=r"\(File exists\)"):
        write_bytes(tmp_path / "table", b"new")
    assert (tmp_path / "taken").read_bytes() == b"mine"


WRITERS = {
    "trace": ("run", "spec.yaml", "--json", "--trace", "{}/x.json"),
    "packed trace": ("run", "spec.yaml", "--json", "--trace", "{}/x.json.gz"),
    "plan": ("strategy", "compile", "randomized", "-o", "{}/x.plan"),
    "graph": ("workload", "export", "{{name: fib, n: 5}}", "{}/x.json"),
    "machine": ("machine", "import", "-o", "{}/x.yaml"),
    "measured machine": ("calibrate", "--quick", "-o", "{}/x.yaml"),
    "measured runtime": ("calibrate", "--quick", "-o", "x.yaml", "--runtime", "{}/y.yaml"),
    "picture": ("machine", "show", "xeon-e5-2620-2s", "--picture", "{}/x.png"),
    "drawing": ("machine", "show", "xeon-e5-2620-2s", "--picture", "{}/x.svg"),
    "rates": ("bench", "--plot", "{}/x.svg"),
}
PLACES = {"absent": "there is no folder 'absent'", "file": "Not a directory"}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yaml").write_text(RUN)
    (tmp_path / "file").write_text("mine")
    return tmp_path


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("command", WRITERS)
def test_what_cannot_be_written_is_one_sentence(
    here: Path, capsys: pytest.CaptureFixture[str], command: str, place: str
) -> None:
    before = tree(here)
    assert main([word.format(place) for word in WRITERS[command]]) == BAD_INPUT
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith(f"numasim: {place}/")
    assert f"cannot be written ({PLACES[place]}); expected a file in a folder that can be written" in sentence
    assert tree(here) == before


# ---- cells of CSV that a spreadsheet would compute ----


COMMAND = "=cmd|' /C calc'!A0"
TEXTS = [COMMAND, "+1+1", "-2+3", "@SUM(A1)", "\t=1", "'quoted'", "''", "plain", "", "a=b", 'with "both", and\na line']


@pytest.mark.parametrize("text", TEXTS)
def test_the_original_is_read_back_and_nothing_is_computed(text: str) -> None:
    (heading, (cell, number)) = csv.reader(csv_text(["name", "n"], [[text, -3.5]]).splitlines(keepends=True))
    assert heading == ["name", "n"]
    assert number == "-3.5"
    assert cell.removeprefix("'") == text
    assert cell[:1] not in tuple("=+-@\t")
    assert all(quoted(written) == written for written in ("-3.5", "+2", "-1e-9", "1e6", "-.5")), "numbers stay"


# ---- the hash of a file follows the file's contents, whether or not the hash is computed again ----

LONG_AGO_NS = 10**18


def right(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def test_a_file_that_is_written_again_at_once_has_another_hash(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    for content in (b"first", b"other", b"third"):  # contents of one length
        path.write_bytes(content)
        assert hash_of_file(path, GRAPH) == right(content)
    with pytest.raises(InputError, match=r"there is no file .*gone\.json"):
        hash_of_file(tmp_path / "gone.json", GRAPH)


def test_a_file_at_rest_is_read_again_only_when_it_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "RESTING_S", -1.0)  # any file counts as unchanged for long
    path = tmp_path / "graph.json"
    path.write_bytes(b"first")
    reads: list[Path] = []
    monkeypatch.setattr(reader, "_read_hash", lambda path, kind: reads.append(path) or right(path.read_bytes()))
    assert [hash_of_file(path, GRAPH) for _ in range(3)] == [right(b"first")] * 3
    path.write_bytes(b"other")
    os.utime(path, ns=(LONG_AGO_NS, LONG_AGO_NS))  # same size, and the old time of change
    assert hash_of_file(path, GRAPH) == right(b"other")
    assert len(reads) == 2
