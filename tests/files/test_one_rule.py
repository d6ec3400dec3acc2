"""The writers of files in Python and in C do the same with each kind of path: write, follow a link, or refuse."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from trees import Tree, tree

OLD = b"what was there before"
NOBODY = 65534
WAIT_S = 300  # time limit, so that no test hangs
PYTHON, C = "python", "c"


@dataclass(frozen=True)
class Writer:
    """A program that writes a task graph to ``path`` in the folder in which the program is started."""

    language: str
    program: Path
    before: tuple[str, ...] = ()  # words before the command

    def command(self, path: str) -> list[str]:
        if self.language == PYTHON:
            return [*self.before, sys.executable, "-m", "numasim", "workload", "export", "{name: fib, n: 5}", path]
        serial = ["--kernel", "fib", "--set", "n=5", "--mode", "serial", "--costs", "model"]
        return [*self.before, str(self.program), *serial, "--record", path]

    def run(self, path: str, folder: Path, **options: Any) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            self.command(path), cwd=folder, capture_output=True, check=False, timeout=WAIT_S, **options
        )

    def refuses(self, path: str, folder: Path, **options: Any) -> str:
        """Return the sentence with which the program refuses to write; nothing changes."""
        before = tree(folder)
        done = self.run(path, folder, **options)
        (sentence,) = done.stderr.decode().splitlines()
        assert done.returncode == 2
        assert path in sentence
        assert tree(folder) == before
        return sentence


@pytest.fixture(params=[PYTHON, C])
def writer(request: pytest.FixtureRequest) -> Writer:
    program = request.getfixturevalue("program") if request.param == C else Path()
    return Writer(request.param, program)


def is_graph(data: bytes) -> bool:
    return bool(json.loads(data)["format"] == "numasim task graph 1")


def without_graphs(found: Tree) -> Tree:
    """Return the tree with the word "graph" in place of the contents of graphs."""
    return {
        name: (kind, "graph" if isinstance(data, bytes) and data.startswith(b"{") and is_graph(data) else data)
        for name, (kind, data) in found.items()
    }


def written(writer: Writer, path: str, folder: Path, **options: Any) -> Tree:
    done = writer.run(path, folder, **options)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    return without_graphs(tree(folder))


# ---- regular files ----


@pytest.mark.parametrize(("name", "umask", "mode"), [("new", 0o027, "640"), ("n" * 255, 0o022, "644")])
def test_a_new_file_has_the_mode_that_the_umask_leaves(
    writer: Writer, tmp_path: Path, name: str, umask: int, mode: str
) -> None:
    assert written(writer, name, tmp_path, umask=umask) == {name: (f"file {mode}", "graph")}


@pytest.mark.parametrize("mode", [0o604, 0o644, 0o755, 0o200])
def test_a_file_that_is_replaced_keeps_its_mode(writer: Writer, tmp_path: Path, mode: int) -> None:
    (tmp_path / "old").write_bytes(OLD)
    (tmp_path / "old").chmod(mode)
    writer.run("old", tmp_path, umask=0o077)
    assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == mode
    (tmp_path / "old").chmod(0o600)
    assert is_graph((tmp_path / "old").read_bytes())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_a_file_that_is_replaced_keeps_its_owner(writer: Writer, tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(OLD)
    os.chown(tmp_path / "old", NOBODY, NOBODY)
    assert written(writer, "old", tmp_path) == {"old": ("file 644", "graph")}
    assert (tmp_path / "old").stat().st_uid == NOBODY


def test_files_beside_it_stay_whatever_they_are_called(writer: Writer, tmp_path: Path) -> None:
    beside = ["g.part", "g.tmp", ".g.1", ".tmp-1-g", "g~"]
    for name in beside:
        (tmp_path / name).write_bytes(OLD)
    found = written(writer, "g", tmp_path, umask=0o022)
    assert found == {"g": ("file 644", "graph"), **dict.fromkeys(beside, ("file 644", OLD))}


# ---- links ----


def link(folder: Path, *names: str) -> None:
    """Make each of ``names`` a link to the next."""
    for name, target in pairwise(names):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(os.path.relpath(folder / target, (folder / name).parent))


@pytest.mark.parametrize("there", [True, False], ids=["there", "dangling"])
def test_links_are_followed_and_stay(writer: Writer, tmp_path: Path, there: bool) -> None:
    (tmp_path / "far").mkdir(mode=0o755)
    link(tmp_path, "link", "near/link", "far/real")
    if there:
        (tmp_path / "far" / "real").write_bytes(OLD)
        (tmp_path / "far" / "real").chmod(0o640)
    before = tree(tmp_path)
    found = written(writer, "link", tmp_path, umask=0o022)
    assert found == {**before, "far/real": ("file 640" if there else "file 644", "graph")}


# ---- devices, pipes, descriptors ----


def device(folder: Path, name: str, minor: int) -> None:
    """Make a device like those of /dev in a temporary folder."""
    try:
        os.mknod(folder / name, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        with (folder / name).open("wb"):
            pass
    except PermissionError:
        pytest.skip("devices may not be made, or not be opened, here")


@pytest.mark.parametrize("path", ["null", "link"])
def test_a_device_is_written_to_and_stays(writer: Writer, tmp_path: Path, path: str) -> None:
    device(tmp_path, "null", 3)
    link(tmp_path, "link", "null")
    before = tree(tmp_path)
    assert written(writer, path, tmp_path) == before


def test_a_full_device_is_refused_and_stays(writer: Writer, tmp_path: Path) -> None:
    device(tmp_path, "full", 7)
    assert "No space left on device" in writer.refuses("full", tmp_path)


def test_a_pipe_is_written_to_and_stays(writer: Writer, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    before = tree(tmp_path)
    with subprocess.Popen(["cat", "pipe"], cwd=tmp_path, stdout=subprocess.PIPE) as reader:
        assert written(writer, "pipe", tmp_path) == before
        assert is_graph(reader.communicate(timeout=WAIT_S)[0])


def descriptor(folder: Path) -> int:
    """Return the descriptor of a file that begins with a line of the test."""
    handle = os.open(folder / "shared", os.O_RDWR | os.O_CREAT, 0o644)
    os.write(handle, b"before\n")
    os.set_inheritable(handle, True)
    return handle


@pytest.mark.parametrize("path", ["/dev/fd/{}", "/proc/self/fd/{}", "link"])
def test_an_open_descriptor_is_written_to_where_it_is(writer: Writer, tmp_path: Path, path: str) -> None:
    handle = descriptor(tmp_path)
    (tmp_path / "link").symlink_to(f"/dev/fd/{handle}")
    before = tree(tmp_path)
    done = writer.run(path.format(handle), tmp_path, pass_fds=[handle])
    assert done.returncode == 0, done.stderr
    os.write(handle, b"after\n")
    os.close(handle)
    first, *graph, last = (tmp_path / "shared").read_bytes().splitlines(keepends=True)
    assert (first, last) == (b"before\n", b"after\n")
    assert is_graph(b"".join(graph))
    assert {**tree(tmp_path), "shared": before["shared"]} == before


def test_standard_output_is_written_to_in_turn(writer: Writer, tmp_path: Path) -> None:
    """The path is a new link to the target of /dev/stdout, so that a fault cannot replace /dev/stdout itself."""
    (tmp_path / "link").symlink_to("/proc/self/fd/1")
    with (tmp_path / "out").open("wb") as out:
        done = subprocess.run(writer.command("link"), cwd=tmp_path, stdout=out, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    text = (tmp_path / "out").read_text()
    _, end = json.JSONDecoder().raw_decode(text)
    assert text[:end].startswith('{"format":"numasim task graph 1"')
    assert text[end:].strip(), "what the program prints comes behind the graph"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "out"]
    assert (tmp_path / "link").is_symlink()


# ---- refusals ----


def prepared(folder: Path) -> Path:
    """Return the folder with a file, a folder, and links to the folder, to no folder, and in a circle."""
    (folder / "file").write_bytes(OLD)
    (folder / "folder").mkdir()
    for names in (("link", "folder"), ("nowhere", "no/x"), ("a", "b", "a")):
        link(folder, *names)
    return folder


REFUSED = {  # path: the possible reasons for the refusal
    "no/new": "there is no folder 'no'|No such file or directory",
    "nowhere": "no folder 'no'|No such file",
    "file/new": "Not a directory",
    "folder": "Is a directory",
    "link": "Is a directory",
    "a": "Too many levels of symbolic links",
    "n" * 256: "File name too long",
    "/dev/fd/9": "Bad file descriptor",
}


@pytest.mark.parametrize("path", REFUSED)
def test_a_place_that_holds_no_file_is_refused(writer: Writer, tmp_path: Path, path: str) -> None:
    sentence = writer.refuses(path, prepared(tmp_path))
    assert any(reason in sentence for reason in REFUSED[path].split("|"))


@pytest.mark.parametrize("name", ["old", "new"])
def test_a_file_that_may_not_grow_stays_as_it_was(writer: Writer, tmp_path: Path, name: str) -> None:
    (tmp_path / "old").write_bytes(OLD)

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    assert "File too large" in writer.refuses(name, tmp_path, preexec_fn=limit)


def test_a_file_that_is_write_protected_is_refused(writer: Writer, tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(OLD)
    (tmp_path / "mine").chmod(0o444)
    assert "Permission denied" in replace(writer, before=powerless()).refuses("mine", tmp_path)


def powerless() -> tuple[str, ...]:
    """Return the words before a command that take the powers of root from the command."""
    if os.geteuid() != 0:
        return ()
    command = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
    if shutil.which("setpriv") is None or subprocess.run([*command, "true"], check=False).returncode:
        pytest.skip("root may write everywhere")
    return command
