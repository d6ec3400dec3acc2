"""The forms in which a task graph is a file: which of them a file has, by its first bytes; reading and writing.

What a graph is does not depend on its form: files of equal graphs have one digest, that of the arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from numasim.errors import InputError
from numasim.files.bounded_bytes import open_regular, read_bytes
from numasim.files.bounded_text import text_of
from numasim.files.file_hash import hash_of_file
from numasim.files.file_kinds import GRAPH, PACKED_GRAPH, FileKind
from numasim.workload.graph import Workload

PACKED = ".npz"
MAGIC = b"PK\x03\x04"  # of a zip archive that has a member
_LARGEST = FileKind(GRAPH.name, PACKED_GRAPH.most_bytes)


def kind_of(path: Path, place: str | None = None) -> FileKind:
    """The kind of the graph file ``path``, which a document names at ``place``; InputError where it cannot be read."""
    with open_regular(path, _LARGEST, place) as file:
        try:
            return PACKED_GRAPH if file.read(len(MAGIC)) == MAGIC else GRAPH
        except OSError:
            return GRAPH  # whose reader will say so


def require_graph_file(path: Path, place: str | None = None) -> None:
    """InputError unless ``path`` is a regular file that can be opened, and not too large for its form."""
    open_regular(path, kind_of(path, place), place).close()


def read_graph(path: Path) -> Workload:
    """The checked graph in the file ``path``; an `InputError` names the file and the line, field or array.

    A file whose contents were among the last that were read is not read anew.
    """
    return _workload(_Contents(hash_of_file(path, kind_of(path)), path))


def digest_of_file(path: Path) -> str:
    """The digest of the graph in the file ``path``; InputError as for `read_graph`."""
    return _digest(_Contents(hash_of_file(path, kind_of(path)), path))


def write_graph(workload: Workload, path: Path) -> None:
    """Write ``workload`` to ``path``: as npz where its name ends so, else as JSON."""
    if path.suffix == PACKED:
        from numasim.workload.binary_form.to_arrays import write as write_arrays

        return write_arrays(workload, path)
    from numasim.workload.json_form.graph_io import write as write_json

    write_json(workload, path)


@dataclass(frozen=True)
class _Contents:
    """What a file holds, known by its hash."""

    hash: str
    path: Path = field(compare=False)

    def workload(self) -> Workload:
        """Read it; InputError where the file is another one by now."""
        kind = kind_of(self.path)
        data = read_bytes(self.path, kind)
        if blake2b(data, digest_size=16).hexdigest() != self.hash:
            raise InputError("the file changed while it was read", place=str(self.path), expected="a finished file")
        return graph_of(data, kind, str(self.path))


def graph_of(data: bytes, kind: FileKind, place: str) -> Workload:
    """The checked graph in ``data``, the contents of the file ``place`` of this kind."""
    if kind is PACKED_GRAPH:
        from numasim.workload.binary_form.from_arrays import workload_of

        return workload_of(data, place)
    from numasim.workload.json_form.graph_io import of_text  # the models of a file, which generators do without

    return of_text(text_of(data, place, kind.name), place)


@lru_cache(maxsize=2)
def _workload(contents: _Contents) -> Workload:
    return contents.workload()


@lru_cache(maxsize=4096)
def _digest(contents: _Contents) -> str:
    return _workload(contents).digest()
