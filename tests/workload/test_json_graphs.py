"""Task graphs in JSON: written graphs are read back array for array, and mistakes are sentences with places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workload_setup import SMALL, small

from numasim.errors import InputError
from numasim.workload.describe import describe
from numasim.workload.graph import Loop, Op, Phase, Workload
from numasim.workload.graph_forms import digest_of_file, read_graph, write_graph
from numasim.workload.json_form import graph_io
from numasim.workload.json_form.from_json_form import EntryColumns
from numasim.workload.json_form.graph_io import read, write
from numasim.workload.parameters import WorkloadFile
from numasim.workload.registry import generate


def same(a: Any, b: Any) -> bool:
    """Return whether all fields are equal, and the types of all arrays."""
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    if hasattr(a, "__dataclass_fields__"):
        return all(same(getattr(a, name), getattr(b, name)) for name in a.__dataclass_fields__)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


@pytest.mark.parametrize("label", SMALL)
def test_every_generated_workload_survives(label: str, tmp_path: Path) -> None:
    work = small(label)
    write(work, tmp_path / "graph.json")
    back = read(tmp_path / "graph.json")
    assert same(work, back)
    assert back.digest() == work.digest()
    assert same(generate(WorkloadFile(file=str(tmp_path / "graph.json"))), work)
    write_graph(work, tmp_path / "graph.npz")
    assert same(read_graph(tmp_path / "graph.npz"), work)
    assert digest_of_file(tmp_path / "graph.npz") == work.digest()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with files that the examples of a property overwrite."""
    return tmp_path_factory.mktemp("graphs")


def test_a_file_by_hand_needs_little(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    tasks = [{"ops": [["spawn", 1], ["spawn", 2], ["wait"]]}, {"ops": [["run", 0]], "then": [2]}, {"ops": [["run", 0]]}]
    path.write_text(json.dumps({"tasks": tasks, "segments": [{"compute_ps": 5}]}))
    work = read(path)
    assert work.tasks == 3
    assert work.phases == (Phase(roots=(0,)),)
    assert work.parent.tolist() == [-1, 0, 0]
    assert work.op_arg[work.op_code == Op.RUN].tolist() == [0, 0]


LEAF = {"ops": [["run", 0]]}
SEGMENTS = [{"compute_ps": 1}]
FORK = {"ops": [["spawn", 1], ["spawn", 2], ["wait"]]}
REGION = [{"name": "a", "bytes": 100}]


def test_loops_of_a_file_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    loop = {"loop": [{"roots": [0]}, {"loop": [{"roots": [1], "repeat": 2}, {"roots": [0, 1]}], "repeat": 3}]}
    path.write_text(json.dumps({"tasks": [{}, {}, {}], "phases": [{"roots": [2]}, {**loop, "repeat": 4}, {**loop}]}))
    work = read(path)
    assert work.loops == (Loop(1, 4, 4), Loop(2, 4, 3), Loop(4, 7, 1), Loop(5, 7, 3))
    assert [phase.roots for phase in work.phases] == [(2,), *[(0,), (1,), (0, 1)] * 2]
    assert work.runs == (1, 4, 24, 12, 1, 6, 3)
    assert work.tasks == 1 + 4 + 24 + 24 + 1 + 6 + 6
    write(work, path)
    assert same(work, read(path))
    assert json.loads(path.read_text())["phases"][1]["loop"][1]["repeat"] == 3


def read_document(folder: Path, document: Any) -> Workload:
    (folder / "graph.json").write_text(json.dumps(document))
    return read(folder / "graph.json")


def graph(**parts: Any) -> dict[str, Any]:
    return {"tasks": [FORK, LEAF, LEAF], "segments": SEGMENTS, **parts}


def access(**parts: Any) -> dict[str, Any]:
    return graph(regions=REGION, segments=[{"accesses": [{"region": "a", "row_bytes": 8, **parts}]}])


def using(*ops: list[Any]) -> dict[str, Any]:
    return graph(tasks=[{"ops": [*ops]}], words=[{"name": "door", "role": "lock"}])


def items(**parts: Any) -> dict[str, Any]:
    return {"ranges": [{"count": 4, "low_ps": 1, "high_ps": 2, **parts}], "phases": [{"range": 0}], "regions": REGION}


def spawns(*tasks: int) -> dict[str, Any]:
    return {"ops": [["spawn", task] for task in tasks]}


def nested(levels: int) -> dict[str, Any]:
    """Return a phase within ``levels`` loops."""
    return {"loop": [nested(levels - 1)], "repeat": 1} if levels else {"roots": [0]}


BAD: list[tuple[str, Any]] = [
    ("there is no key 'task'; expected one of .*; did you mean 'tasks'", graph(task=[])),
    (r"tasks\[0\].op: there is no key 'op'.*did you mean 'ops'", graph(tasks=[{"op": []}])),
    (r"tasks\[0\].ops\[0\]: task 7 does not exist", graph(tasks=[spawns(7)])),
    (r"tasks\[1\].then\[0\]: task 9 does not exist", graph(tasks=[FORK, {"then": [9]}, LEAF])),
    (r"tasks\[0\].ops\[0\]: segment 3 does not exist", graph(tasks=[{"ops": [["run", 3]]}])),
    (r"phases\[0\].roots\[0\]: task 5 does not exist", graph(phases=[{"roots": [5]}])),
    (r"phases\[0\].range: range 0 does not exist", graph(phases=[{"roots": [0], "range": 0}])),
    (r"tasks\[1\]: task 1 is started twice: by task 0 and by task 0", graph(tasks=[spawns(1, 1), LEAF])),
    (r"task 1 is started twice: by task 0 and as the root of a phase", graph(phases=[{"roots": [0, 1]}])),
    (r"tasks\[0\]: task 0 is never spawned", graph(phases=[{"roots": []}])),
    (r"tasks\[0\]: task 0 spawns itself", graph(tasks=[spawns(0)])),
    (r"tasks\[1\]: task 1 spawns itself, directly or through others", graph(tasks=[LEAF, spawns(2), spawns(1)])),
    (r"tasks\[2\]: task 2 is out of order; expected number 1", graph(tasks=[spawns(2, 1), LEAF, LEAF])),
    (r"tasks\[3\]: task 3 is out of order; expected number 2", graph(tasks=[FORK, spawns(3), LEAF, LEAF])),
    (
        r"tasks\[1\]: tasks wait for each other in a cycle: 1 after 2 after 1",
        graph(tasks=[FORK, {"then": [2]}, {"then": [1]}]),
    ),
    ("in a cycle: 1 after 1", graph(tasks=[FORK, {"then": [1]}, LEAF])),
    (r"in a cycle: 0 after 1 after 0|in a cycle: 1 after 0 after 1", graph(tasks=[{**FORK, "then": [1]}, LEAF, LEAF])),
    (
        r"task 1 waits for task 0 of another phase",
        graph(tasks=[{"then": [1]}, LEAF], phases=[{"roots": [1]}, {"roots": [0]}]),
    ),
    (r"ops\[0\]: there is no lock 0: there are fewer synchronisation objects", graph(tasks=[{"ops": [["lock", 0]]}])),
    (r"there is no barrier 0: object 0 has another role", using(["barrier", 0])),
    (r"tasks\[0\].ops: task 0 ends and holds lock 'door'; expected .*unlock", using(["lock", 0])),
    (r"ops\[1\]: the task holds lock 0 already", using(["lock", 0], ["lock", 0])),
    (r"ops\[0\]: the task does not hold lock 0; expected a lock before this op", using(["unlock", 0])),
    (r"words\[0\].role: .*'lock', 'atomic'.*'barrier', not 'mutex'", graph(words=[{"role": "mutex"}])),
    (r"parties: .*greater than or equal to 1", graph(words=[{"role": "barrier", "parties": 0}])),
    ("there is no key 'home'", graph(words=[{"role": "lock", "home": 1}])),
    (r'tasks\[0\].ops\[0\]: an op is \["run", segment\]', graph(tasks=[{"ops": [["jump", 0]]}])),
    (r"tasks\[0\].ops\[0\]: an op is", graph(tasks=[{"ops": [["run"]]}])),
    (r"tasks\[0\].ops\[0\]: an op is", graph(tasks=[{"ops": [["run", -1]]}])),
    (r"tasks\[1\].kind: the kind is task; expected call", graph(tasks=[{"ops": [["call", 1]]}, LEAF])),
    (r"tasks\[1\].kind: the kind is implicit", graph(tasks=[FORK, {"kind": "implicit"}, LEAF])),
    (r"tasks\[0\].kind: .*'task', 'call' or 'implicit', not 'tusk'", graph(tasks=[{"kind": "tusk"}])),
    (r"segments\[0\].compute_ps: a whole number .*'soon'", graph(segments=[{"compute_ps": "soon"}])),
    (r"segments\[0\].compute_ps: a whole number is needed", graph(segments=[{"compute_ps": 1.5}])),
    (r"segments\[0\].compute_ps: .*greater than or equal to 0", graph(segments=[{"compute_ps": -1}])),
    (
        r"segments\[0\].kernel: there is no kernel 'multiplu'.*did you mean 'multiply'",
        graph(kernels=["multiply"], segments=[{"kernel": "multiplu"}]),
    ),
    (r"segments\[0\].accesses\[0\].region: there is no region 'b'", access(region="b")),
    (r"regions\[1\]: the name 'a' is given twice", graph(regions=REGION * 2)),
    (r"accesses\[0\].offset: the value is 93; expected an end inside", access(offset=93)),
    (r"accesses\[0\].offset: .*inside the region", access(rows=3, stride=50)),
    (r"accesses\[0\].offset: .*inside the region", access(rows=2**31, stride=2**31)),
    (
        r"segments\[0\].compute_ps: .*less than or equal to 1152921504606846976",
        graph(segments=[{"compute_ps": 2**60 + 1}]),
    ),
    (
        r"phases\[0\].roots\[1\]: task 0 is a root of the phase twice; expected each root once",
        graph(tasks=[LEAF], phases=[{"roots": [0, 0]}]),
    ),
    (
        r"tasks\[0\].then: task 1 waits for task 0 of another phase",
        graph(tasks=[{"then": [1]}, LEAF], phases=[{"roots": [0, 1]}, {"roots": [1]}]),
    ),
    (r"phases\[0\].loop: the loop is empty", graph(phases=[{"loop": [], "repeat": 2}])),
    (
        r"phases\[0\].roots: a loop has no roots; expected loop and repeat",
        graph(phases=[{"loop": [{"roots": [0]}], "roots": [0]}]),
    ),
    (r"phases\[0\].loop: .*valid list", graph(phases=[{"loop": 3}])),
    (
        r"phases\[0\].loop\[0\].root: there is no key 'root'.*did you mean 'roots'",
        graph(phases=[{"loop": [{"root": [0]}]}]),
    ),
    (
        r"phases\[1\].loop\[0\].loop\[1\].roots\[0\]: task 7 does not exist",
        graph(phases=[{"roots": [0]}, {"loop": [{"loop": [{"roots": [0]}, {"roots": [7]}]}]}]),
    ),
    (
        r"phases\[0\].loop\[0\].repeat: the phase runs 4,294,967,296 times; expected at most 4,294,967,295",
        graph(phases=[{"loop": [{"roots": [0], "repeat": 2**31}], "repeat": 2}]),
    ),
    (r"loops\[32\]: loops are nested too deep; expected at most 32 in each other", graph(phases=[nested(33)])),
    (r"accesses\[0\].passes: the value is", access(passes=2**31, row_bytes=100, rows=2, stride=0)),
    (r"accesses\[0\].mode: .*not 'append'", access(mode="append")),
    ("phases: there is no phase; expected at least one", graph(phases=[])),
    (r"ranges\[0\].low_ps: the times are 3 to 2 ps", items(low_ps=3)),
    (r"ranges\[0\].accesses\[0\].offset: ", items(accesses=[{"region": "a", "row_bytes": 8, "step_div": 31}])),
    (
        r"ranges\[0\].accesses\[0\].offset: ",
        items(accesses=[{"region": "a", "row_bytes": 8, "divisor": 2, "step_mod": -1}]),
    ),
    ("format: .*not 'csv'", graph(format="csv")),
    ("valid dictionary", []),
]


# ---- ranges of unequal items ----

BYTES: dict[str, Any] = {"items": [1, 2, 3]}


def document(**range_keys: Any) -> dict[str, Any]:
    entry = {"count": 3, "compute_ps": {"items": [5, 6, 7]}, **range_keys}
    return {"ranges": [{key: value for key, value in entry.items() if value is not None}], "phases": [{"range": 0}]}


def on_nodes(**keys: Any) -> dict[str, Any]:
    return document(node_accesses=[{"nodes": [0, 1], "bytes": BYTES, **keys}])


def test_digests_and_descriptions_tell_ragged_items_apart(tmp_path: Path) -> None:
    table = {"weight": [1, 3], "low": [0, 100], "high": [9, 100]}
    work = read_document(tmp_path, document(fresh=table, freed=BYTES))
    shared = [on_nodes(shares=[1, share], bytes=table) for share in (2, 3)]
    others = [document(freed=table, fresh=BYTES), document(), *shared]
    assert len({work.digest(), *(read_document(tmp_path, other).digest() for other in others)}) == 5
    assert (work.ranges[0].low_ps, work.ranges[0].high_ps, work.ranges[0].draws) == (5, 7, True)
    text = describe(work)
    assert "    touched first  0 to 100 bytes an item, 76 on average\n" in text
    assert "    given back     1 to 3 bytes an item, 2 on average, 6 in all\n" in text


MISTAKES: dict[str, dict[str, Any]] = {
    r"ranges\[0\].compute_ps.items: there are 2 numbers; expected 3, one for each item": document(
        compute_ps={"items": [1, 2]}
    ),
    r"ranges\[0\].compute_ps.items\[1\]: .*greater than or equal to 0": document(compute_ps={"items": [1, -2, 3]}),
    r"ranges\[0\].compute_ps.items\[1\]: a whole number is needed here, not 2.5": document(
        compute_ps={"items": [1, 2.5, 3]}
    ),
    r"ranges\[0\].compute_ps.weight: both numbers and a table": document(
        compute_ps={"items": [1, 2, 3], "weight": [1]}
    ),
    r"ranges\[0\].compute_ps.items: no numbers are given; expected 3 numbers, or a table": document(compute_ps={}),
    r"ranges\[0\].compute_ps.low: there are 0 numbers; expected 1, one for each weight": document(
        compute_ps={"weight": [1], "high": [1]}
    ),
    r"ranges\[0\].compute_ps.weight: the weights add up to .*; expected at most 4,611": document(
        compute_ps={"weight": [2**61, 2**61, 1], "low": [1, 1, 1], "high": [1, 1, 1]}
    ),
    r"ranges\[0\].compute_ps.high\[0\]: the part ends at 1; expected 2 or more": document(
        compute_ps={"weight": [1], "low": [2], "high": [1]}
    ),
    r"ranges\[0\].compute_ps.wieght.*did you mean 'weight'": document(compute_ps={"wieght": [1]}),
    r"ranges\[0\].low_ps: the time is given twice": document(low_ps=1, high_ps=2),
    r"ranges\[0\].low_ps: the time is missing; expected low_ps and high_ps, or compute_ps": document(compute_ps=None),
    r"node_accesses\[0\].shares: there are 1 shares; expected 2": on_nodes(shares=[1]),
    r"node_accesses\[0\].shares: the shares add up to 16,777,217": on_nodes(shares=[1, 2**24]),
    r"node_accesses\[0\].nodes: .*at least 1": on_nodes(nodes=[]),
    r"node_accesses\[0\].mode: .*'read', 'write' or 'read-write', not 'raed'": on_nodes(mode="raed"),
    r"node_accesses\[0\].bytes.items: there are 4 numbers": on_nodes(bytes={"items": [1, 2, 3, 4]}),
    r"node_accesses\[0\].bytes.items\[2\]: the amount is 274877906945; expected 0 to 274877906944": on_nodes(
        bytes={"items": [1, 2, 2**38 + 1]}
    ),
    r"ranges\[0\].fresh.items: there are 2 numbers; expected 3, one for each item": document(fresh={"items": [1, 2]}),
    r"ranges\[0\].freed.items\[1\]: the amount is 274877906945; expected 0 to 274877906944": document(
        freed={"items": [1, 2**38 + 1, 2]}
    ),
    r"ranges\[0\].freed: input should be .*, not 7": document(freed=7),
    r"node_accesses\[0\].returned_ppm: .*less than or equal to 1000000": on_nodes(returned_ppm=1_000_001),
    r"node_accesses\[0\].returned_ppm: a whole number is needed here": on_nodes(returned_ppm=0.5),
    r"ranges\[0\].fred: .*did you mean 'freed'": document(fred=BYTES),
    r"node_accesses\[0\].bytes: 67108864 items of the highest amount add up to .*; expected at most": document(
        count=2**26,
        compute_ps=None,
        low_ps=0,
        high_ps=0,
        node_accesses=[{"nodes": [0], "bytes": {"weight": [1], "low": [0], "high": [2**37]}}],
    ),
}


@pytest.mark.parametrize(("message", "given"), [*BAD, *MISTAKES.items()])
def test_bad_graphs_name_place_and_remedy(message: str, given: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_document(tmp_path, given)
    assert str(caught.value).startswith(f"{tmp_path / 'graph.json'}: ")


ODD = st.sampled_from(
    [0, 1, 2, -1, True, None, 0.5, 2**32 - 1, 2**32, 2**62, 2**64, "a", "k:1", "read", [], {}, [0], ["run", 0]]
)
ODD_OPS = st.sampled_from(
    [["run", 0], ["run", 1], ["wait"], ["wait", 0], ["run"], ["run", 0, 0], ["jump", 1], [], [["run"], 0]]
)
ODD_TASKS = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["task", "call", "implicit"]) | ODD,
        "ops": st.lists(ODD_OPS | ODD, max_size=2) | ODD,
        "then": st.lists(ODD, max_size=2) | ODD,
        "kid": ODD,
    },
)
ODD_ACCESSES = st.fixed_dictionaries(
    {"region": st.sampled_from(["a", "k:1"]) | ODD, "row_bytes": st.sampled_from([8, 16, 0]) | ODD},
    optional=dict.fromkeys(("offset", "rows", "stride", "mode", "pattern", "passes", "tiles"), ODD),
)
ODD_SEGMENTS = st.fixed_dictionaries(
    {}, optional={"compute_ps": ODD, "kernel": ODD, "accesses": st.lists(ODD_ACCESSES, max_size=2) | ODD}
)


def outcome(path: Path) -> str:
    """Return the hash of a graph, or the message of the refusal."""
    try:
        return read(path).digest()
    except InputError as error:
        return str(error)


@settings(max_examples=400)
@given(
    st.lists(st.just(LEAF) | ODD_TASKS | ODD, max_size=3),
    st.lists(st.just({"compute_ps": 1}) | ODD_SEGMENTS | ODD, max_size=3),
    st.sampled_from([None, 1]),
)
def test_batches_of_entries_are_what_single_ones_are(
    folder: Path, tasks: list[Any], segments: list[Any], indent: int | None
) -> None:
    document = {"regions": [*REGION, {"name": "k:1", "bytes": 9}], "kernels": ["", "a", "k:1"], "tasks": tasks}
    path = folder / "graph.json"
    path.write_text(json.dumps({**document, "segments": segments}, indent=indent))
    in_batches = outcome(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EntryColumns, "take", lambda columns, batch: False)
        assert outcome(path) == in_batches


def test_there_may_be_only_so_many_regions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_io, "MOST_ENTRIES", 3)
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(graph(regions=[{"name": str(number), "bytes": 1} for number in range(3)])))
    assert len(read(path).regions) == 3
    path.write_text(json.dumps(graph(regions=[{"name": str(number), "bytes": 1} for number in range(4)])))
    with pytest.raises(InputError, match="regions: there are more than 3; expected fewer"):
        read(path)
