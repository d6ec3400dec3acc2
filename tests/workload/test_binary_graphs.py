"""Task graphs in npz files equal the same graphs in JSON; an error about a wrong file names array and position."""

from __future__ import annotations

import io
import json
import pickle
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_json_graphs import same

import numasim as ns
from numasim.errors import InputError
from numasim.files import packed_arrays
from numasim.files.packed_arrays import read_arrays
from numasim.workload.graph import Workload
from numasim.workload.graph_forms import digest_of_file, read_graph
from numasim.workload.json_form.graph_io import text_of, unchecked
from numasim.workload.packed_graph import FIELDS, to_arrays, workload_of, write

Arrays = dict[str, Any]


def ops_of(text: str) -> list[list[Any]]:
    """Return the ops of words such as ``spawn 1, wait``."""
    return [[int(word) if word.isdecimal() else word for word in op.split()] for op in text.split(", ")]


EVERYTHING = {
    "name": "everything",
    "parameters": {"n": 3, "text": "é"},
    "kernels": ["k", "l"],
    "regions": [{"name": "a", "bytes": 4096, "initialised": True}, {"name": "b", "bytes": 64}],
    "phases": [
        {
            "loop": [{"roots": [0], "name": "p"}, {"loop": [{"roots": [6, 7], "deal": "cyclic"}], "repeat": 2}],
            "repeat": 3,
        },
        {"range": 0, "deal": "block"},
        {"range": 1, "serial": True},
    ],
    "ranges": [
        {
            "name": "r",
            "count": 100,
            "compute_ps": {"items": list(range(100, 200))},
            "kernel": "k",
            "node_accesses": [
                {"nodes": [0, 1], "shares": [1, 2], "bytes": {"items": [64] * 99 + [1]}, "returned_ppm": 250_000}
            ],
            "fresh": {"weight": [1, 3], "low": [0, 100], "high": [9, 100]},
            "freed": {"weight": [1], "low": [4], "high": [5]},
        },
        {
            "count": 3,
            "low_ps": 1,
            "high_ps": 9,
            "kernel": "l",
            "accesses": [{"region": "a", "row_bytes": 8, "divisor": 2, "step_div": 16, "step_mod": 8}],
        },
    ],
    "tasks": [
        {"ops": ops_of("spawn 1, spawn 2, wait, call 3, lock 0, unlock 0, atomic 1, group, end_group")},
        {"ops": [["run", 0]], "then": [2]},
        {"ops": [["run", 1], ["signal", 2], ["broadcast", 2]]},
        {"kind": "call", "ops": [["spawn", 4], ["spawn", 5]]},
        {"ops": [["begin", 3], ["load", 3], ["run", 2], ["store", 3], ["commit", 3]]},
        {"ops": [["await", 2]]},
        {"kind": "implicit", "ops": [["barrier", 4]]},
        {"kind": "implicit", "ops": [["barrier", 4]]},
    ],
    "segments": [
        {"compute_ps": 5, "kernel": "l", "accesses": [{"region": "b", "row_bytes": 4, "rows": 2, "stride": 8}]},
        {"compute_ps": 2**60, "kernel": "k"},
        {
            "kernel": "k",
            "accesses": [
                {"region": "a", "offset": 9, "row_bytes": 1, "mode": "read-write", "pattern": "chase", "passes": 7},
                {"region": "a", "row_bytes": 2, "mode": "write", "pattern": "random"},
            ],
        },
    ],
    "words": [
        {"role": "lock", "name": "m"},
        {"role": "atomic", "owner": 3},
        {"role": "condition", "parties": 2},
        {"role": "objects", "parties": 9, "skew_ppm": 5, "undo_ps": 2000},
        {"role": "barrier", "parties": 2},
    ],
    "facts": {"f": 2**62},
}


def everything() -> Workload:
    return unchecked(EVERYTHING)


def packed(arrays: Arrays, save: Callable[..., None] = np.savez) -> bytes:
    """Return the file that numpy writes."""
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def read(arrays: Arrays) -> Workload:
    return workload_of(packed(arrays), "g.npz")


def refusal(data: bytes) -> str:
    with pytest.raises(InputError) as problem:
        workload_of(data, "g.npz")
    return str(problem.value)


# ---- written and read back ----


def test_a_graph_with_everything_survives_in_all_forms(tmp_path: Path) -> None:
    used = {op for task in EVERYTHING["tasks"] for op, *_ in task["ops"]}  # type: ignore[attr-defined]
    assert used == set(FIELDS["op_code"].codes)  # EVERYTHING must have every op
    work = everything()
    arrays = to_arrays(work)
    assert {"ranges.0.compute_ps.items", "ranges.0.node_accesses.0.bytes.items"} == arrays.keys() - FIELDS.keys()
    assert same(work, read(arrays))
    (tmp_path / "g.json").write_text(json.dumps(EVERYTHING, indent=3))
    write(work, tmp_path / "g.npz")
    assert digest_of_file(tmp_path / "g.json") == digest_of_file(tmp_path / "g.npz") == work.digest()
    assert text_of(read_graph(tmp_path / "g.npz")) == text_of(work)


def test_numpy_reads_what_is_written(tmp_path: Path) -> None:
    write(everything(), tmp_path / "g.npz")
    with np.load(tmp_path / "g.npz", allow_pickle=False) as arrays:
        assert arrays["version"].tolist() == [1]
        assert arrays["op_ptr"].tolist() == [0, 9, 10, 13, 15, 20, 21, 22, 23]
        assert json.loads(arrays["document"].tobytes())["words"][0]["name"] == "m"
        for name in arrays.keys() & FIELDS.keys():
            assert arrays[name].dtype == np.dtype(FIELDS[name].kind)


@pytest.mark.parametrize("kind", [">i8", "<u8", ">i4"])
def test_any_type_of_whole_numbers_is_read(kind: str) -> None:
    work = unchecked({"tasks": [{"ops": [["run", 0]]}], "segments": [{"compute_ps": 2**30}]})
    arrays = {name: array if name == "document" else array.astype(kind) for name, array in to_arrays(work).items()}
    assert same(work, read(arrays))
    assert same(work, workload_of(packed(arrays, np.savez_compressed), "g.npz"))


def test_the_codes_of_version_1_stay() -> None:
    ops = (
        "run spawn call wait lock unlock atomic barrier await signal broadcast begin load store commit group end_group"
    )
    assert FIELDS["op_code"].codes == tuple(ops.split())
    assert FIELDS["task_kind"].codes == ("task", "call", "implicit")
    assert FIELDS["access_mode"].codes == ("read", "write", "read-write")
    assert FIELDS["access_pattern"].codes == ("sequential", "strided", "random", "chase")


def test_what_a_run_is_does_not_depend_on_the_form_of_the_graph(tmp_path: Path) -> None:
    graph = ns.Graph.shipped("fib", n=6)
    text = json.dumps(json.loads(graph.written()), indent=1)
    (tmp_path / "g.json").write_text(text)
    assert ns.Graph.read(tmp_path / "g.json").save(tmp_path / "g.npz") == tmp_path / "g.npz"
    base = {"machine": "xeon-e5-2620-2s", "strategy": "randomized", "workers": 4}
    rows = [
        ns.run(base, workload=workload).row()
        for workload in (str(tmp_path / "g.json"), str(tmp_path / "g.npz"), ns.Graph.read(tmp_path / "g.npz"))
    ]
    assert len({(row["run_id"], row["trace_hash"]) for row in rows}) == 1


# ---- wrong numbers ----

GOOD = to_arrays(everything())
WRONG: list[tuple[str, Any]] = [
    ("g.npz: version: the version is 2; expected 1, or a newer numasim", {"version": [2]}),
    ("g.npz: there is no array 'op_pointer' in a task graph; expected one of", {"op_pointer": [0]}),
    ("g.npz: op_code[0]: the number is 17; expected 0 to 16: 0 run, 1 spawn", {"op_code": [17, *GOOD["op_code"][1:]]}),
    ("g.npz: op_arg[0]: task 99 does not exist; expected a task below", {"op_arg": [99, *GOOD["op_arg"][1:]]}),
    (
        "g.npz: op_arg[9]: segment 3 does not exist; expected a segment below 3",
        {"op_arg": [*GOOD["op_arg"][:9], 3, *GOOD["op_arg"][10:]]},
    ),
    (
        "g.npz: op_arg[9]: the number is -1; expected 0 to 4294967295",
        {"op_arg": [*GOOD["op_arg"][:9].tolist(), -1, *GOOD["op_arg"][10:].tolist()]},
    ),
    ("g.npz: op_arg: the array has 1 elements; expected 23, as many as there are ops", {"op_arg": [0]}),
    ("g.npz: op_ptr[2]: 8 comes after 9; expected an ascending array", {"op_ptr": [0, 9, 8, 13, 15, 20, 21, 22, 23]}),
    ("g.npz: then_ptr[0]: the first element is 1; expected 0", {"then_ptr": [1] * 9}),
    ("g.npz: then_ptr: the array has 1 elements; expected 9, tasks + 1", {"then_ptr": [0]}),
    ("g.npz: op_ptr: the elements are of another type", {"op_ptr": []}),
    ("g.npz: task_kind[0]: the kind is call; expected task or", {"task_kind": [1, *GOOD["task_kind"][1:]]}),
    ("g.npz: then[0]: task 3 is a call, which waits for no other task", {"then": [3]}),
    (f"g.npz: segment_compute_ps[1]: the number is {2**61}; ", {"segment_compute_ps": [5, 2**61, 0]}),
    (
        "g.npz: segment_kernel[2]: the number is 2; expected 0 to 1 in kernels of the document",
        {"segment_kernel": [0, 0, 2]},
    ),
    ("g.npz: access_region[1]: the number is 5; expected 0 to 1 in regions", {"access_region": [0, 5, 0]}),
    ("g.npz: access_offset[2]: the value is 4095; expected an end inside", {"access_offset": [0, 0, 4095]}),
    ("g.npz: access_row_bytes[1]: the number is 0; expected 1 to", {"access_row_bytes": [4, 0, 2]}),
    ("g.npz: access_mode[1]: the number is 3; expected 0 to 2: 0 read, 1 write", {"access_mode": [0, 3, 1]}),
    ("g.npz: ranges.0.compute_ps.items[0]: the number is -5; expected 0 to", {"ranges.0.compute_ps.items": [-5] * 100}),
    (
        "g.npz: document.ranges[0].compute_ps.items: there are 99 numbers; expected 100, one for each item",
        {"ranges.0.compute_ps.items": [5] * 99},
    ),
    ("g.npz: phases.9.roots: the document has no such list", {"phases.9.roots": [0]}),
    ("g.npz: phases.0.loop.0.roots: the document has numbers for this", {"phases.0.loop.0.roots": [0]}),
    ("g.npz: phases.1.roots[0]: task 8 does not exist; expected a task below 8", {"phases.1.roots": [8]}),
    ("g.npz: document: name: ", {"document": list(b'{"name": 3}')}),
    ("g.npz: document:1:8: this is not JSON", {"document": list(b'{"name"')}),
    ("g.npz: document[0]: byte 255 is no text in UTF-8", {"document": [255]}),
    ("g.npz: document.tasks: tasks stand in the", {"document": list(b'{"tasks": [{}]}')}),
]


@pytest.mark.parametrize(("sentence", "changes"), WRONG)
def test_what_is_wrong_is_named(sentence: str, changes: Arrays) -> None:
    assert refusal(packed({**GOOD, **changes})).startswith(sentence)


def test_an_array_that_is_missing_is_named() -> None:
    arrays = {name: array for name, array in GOOD.items() if name != "op_code"}
    assert refusal(packed(arrays)) == "g.npz: there is no array 'op_code'; expected one of 23 elements"
    assert refusal(packed({"a": [1]})).startswith("g.npz: there is no array 'version' among a; expected the arrays of")


def test_a_cycle_is_found_behind_edges_that_lead_back() -> None:
    arrays = {"version": 1, "op_ptr": [0, 0, 0], "op_code": np.zeros(0, int), "op_arg": np.zeros(0, int)}
    assert "in a cycle: 0 after 1 after 0" in refusal(packed({**arrays, "then_ptr": [0, 1, 2], "then": [1, 0]}))


# ---- wrong archives ----


class Trap:
    """An object that sets ``sprung`` when unpickled."""

    sprung = False

    def __reduce__(self) -> tuple[Any, ...]:
        return (setattr, (Trap, "sprung", True))


def archive(*members: tuple[str, bytes], kind: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", kind) as opened:
        warnings.simplefilter("ignore")  # zipfile warns of two members of one name
        for name, content in members:
            opened.writestr(name, content)
    return file.getvalue()


def array(values: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def head(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def with_size(data: bytes, size: int) -> bytes:
    """Return the archive with another size of its only member in the list of members."""
    at = data.rindex(b"PK\x01\x02") + 24
    return data[:at] + struct.pack("<I", size) + data[at + 4 :]


ONE = array([1])
ZEROS = archive(("version.npy", head("{'descr': '|u1', 'fortran_order': False, 'shape': (1000000,), }") + bytes(10**6)),
                kind=zipfile.ZIP_DEFLATED)  # fmt: skip
ARCHIVES: list[tuple[str, Any]] = [
    ("the archive has no end: the file may be cut off", b"PK\x03\x04" + bytes(100)),
    ("the archive has no end", packed(GOOD)[:-9]),
    ("the archive has a member 'a.txt'; expected arrays alone", archive(("a.txt", b"x"))),
    ("version: the archive has this array twice", archive(("version.npy", ONE), ("version.npy", ONE))),
    ("version: the array is encrypted or compressed", archive(("version.npy", ONE), kind=zipfile.ZIP_BZIP2)),
    ("version: 1,", with_size(ZEROS, 2**32 - 2)),
    ("version: 1 elements of 8 bytes", with_size(archive(("version.npy", ONE)), len(ONE) + 8)),
    (
        "the archive has too many members; expected at most 4,096 arrays",
        archive(*((f"a{n}.npy", b"") for n in range(4097))),
    ),
    ("version: this is no array of numpy", archive(("version.npy", b"nothing of the kind"))),
    ("version: the elements are of another type", archive(("version.npy", array(["a"])))),
    ("version: the elements are of another type", archive(("version.npy", array([1.0])))),
    ("version: the array has another shape; expected one dim", archive(("version.npy", array([[1], [2]])))),
    (
        "version: 999,999,999,999 elements of 8 bytes take",
        archive(("version.npy", head("{'descr': '<i8', 'fortran_order': False, 'shape': (999999999999,), }"))),
    ),
    ("version: the head has 5,000 bytes", archive(("version.npy", head(" " * 5000)))),
    ("version: the head is no description", archive(("version.npy", head("[" * 100)))),
]


@pytest.mark.parametrize(("sentence", "data"), ARCHIVES)
def test_what_is_wrong_with_an_archive_is_named(sentence: str, data: bytes) -> None:
    assert refusal(data).startswith(f"g.npz: {sentence}")


def test_nothing_is_unpickled() -> None:
    objects = np.empty(1, object)
    objects[0] = Trap()
    assert "the elements are of another type; expected whole numbers" in refusal(packed({"version": objects}))
    assert not Trap.sprung
    pickle.loads(pickle.dumps(Trap()))
    assert Trap.sprung  # the trap works


def test_all_arrays_together_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_arrays, "MOST_UNPACKED", 500)
    two = archive(("a.npy", array(np.zeros(20, int))), ("b.npy", array(np.zeros(20, int))))
    with pytest.raises(InputError, match=r"g.npz: the arrays have 576 bytes"):
        read_arrays(two, "g.npz")


SMALL_FILE = packed(to_arrays(unchecked({"tasks": [{"ops": [["run", 0]]}], "segments": [{"kernel": ""}]})))


@given(st.lists(st.tuples(st.integers(0, len(SMALL_FILE) - 1), st.integers(0, 255)), min_size=1, max_size=4))
@settings(max_examples=150)
def test_whatever_bytes_change_there_is_a_graph_or_a_sentence(changes: list[tuple[int, int]]) -> None:
    data = bytearray(SMALL_FILE)
    for at, value in changes:
        data[at] = value
    try:
        said = f"g.npz: {workload_of(bytes(data), 'g.npz').rows} tasks"
    except InputError as problem:
        said = str(problem)
    assert said.startswith("g.npz: ")
