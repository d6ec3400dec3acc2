"""One graph in every format that can be imported becomes the same workload: tasks, dependences, times, memory."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from foreign_files import DOT, EDGES, GRAINS, NAMES, SIZES, STG, STG_WITH_ENDS, TEXTS, TIMES, WITH_BYTES, dax
from hypothesis import given, settings
from hypothesis import strategies as st

import numasim as ns
from numasim.workload.graph import Mode, Op, Workload
from numasim.workload.graph_rules import validate
from numasim.workload.imports.import_graph import Imported, imported
from numasim.workload.imports.read_graph import Choices


def read_text(text: str | bytes, folder: Path, name: str = "given", **choices: Any) -> Imported:
    """Return the import of a file with this text; the name does not tell the format."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = imported(path, Choices.of(**choices))
    validate(found.workload)
    return found


def edges(work: Workload) -> set[tuple[int, int]]:
    """Return (before, after) of each dependence."""
    return set(zip(work.predecessor.tolist(), work.successor.tolist(), strict=True))


@pytest.mark.parametrize("name", TEXTS)
def test_every_format_holds_the_same_graph(name: str, tmp_path: Path) -> None:
    text, unit, unit_ps = TEXTS[name]
    work = read_text(text, tmp_path, unit=unit).workload
    assert work.segment_compute_ps.tolist() == [time * unit_ps for time in TIMES]
    assert edges(work) == EDGES
    if name in WITH_BYTES:
        assert sorted(region.bytes for region in work.regions) == sorted(SIZES.values())
        assert not any(region.initialised for region in work.regions)
        written = work.accesses.mode == Mode.WRITE
        by_task = np.repeat(np.arange(4), np.diff(work.segment_accesses))
        assert by_task[written].tolist() == [0, 0, 1, 2]
        assert by_task[~written].tolist() == [1, 2, 3, 3]
        assert (work.accesses.row_bytes == [work.regions[r].bytes for r in work.accesses.region]).all()


@pytest.mark.parametrize("name", TEXTS)
def test_byte_order_marks_line_ends_and_packing_change_nothing(name: str, tmp_path: Path) -> None:
    text, unit, _ = TEXTS[name]
    plain = read_text(text, tmp_path, unit=unit).workload
    windows = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
    assert read_text(windows, tmp_path, unit=unit).workload.digest() == plain.digest()
    packed = read_text(gzip.compress(text.encode()), tmp_path, "given.gz", unit=unit).workload
    assert packed.segment_compute_ps.tolist() == plain.segment_compute_ps.tolist()


def test_names_and_kinds_of_work_are_kept(tmp_path: Path) -> None:
    found = read_text(TEXTS["WfFormat 1.5"][0], tmp_path)
    assert (found.names, found.workload.kernels, found.workload.name) == (NAMES, ("kind",), "four")
    assert found.names_as_csv() == "task,name\n0,a\n1,b\n2,c\n3,d\n"
    assert [region.name for region in found.workload.regions] == list(SIZES)
    assert read_text(TEXTS["StarPU"][0], tmp_path).workload.kernels == ("first", "middle", "c", "d")
    assert read_text(DOT, tmp_path, unit="1ns").workload.name == 'four "tasks"'


def test_first_and_last_tasks_of_an_stg_take_no_time(tmp_path: Path) -> None:
    work = read_text(STG_WITH_ENDS, tmp_path, unit="1us").workload
    assert work.segment_compute_ps.tolist() == [0, *(time * 10**6 for time in TIMES), 0]
    assert edges(work) == {(0, 1), (4, 5)} | {(a + 1, b + 1) for a, b in EDGES}


def test_grains_are_a_tree_whose_work_lies_where_it_was_recorded(tmp_path: Path) -> None:
    """The root makes children at cycles 100 and 200 and waits for them until cycle 900 of 1,000. Of the 700 cycles from
    200 to 900, 400 were overhead. The root therefore works for 100, 100, 300 and 100 cycles.
    """
    work = read_text(GRAINS, tmp_path, unit="0.5ns").workload
    assert work.parent.tolist() == [-1, 0, 0]
    assert work.segment_compute_ps.tolist() == [50_000, 50_000, 150_000, 50_000, 150_000, 100_000]
    ops = [Op.RUN, Op.SPAWN, Op.RUN, Op.SPAWN, Op.RUN, Op.WAIT, Op.RUN]
    assert work.op_code[: work.op_ptr[1]].tolist() == ops
    graph = ns.Graph._of(work)
    assert (graph.work_ns, graph.span_ns) == (550, 300)


def test_chunks_of_loops_are_phases(tmp_path: Path) -> None:
    rows = [f'"{loop}-{chunk}",{1 + loop * 3 + chunk},99,{5 + chunk}' for loop in (0, 1) for chunk in range(3)]
    text = '"chunk_lineage","task","parent","work_cycles"\n' + "\n".join(rows) + "\n"
    work = read_text(text, tmp_path, unit="1ns").workload
    assert [phase.roots for phase in work.phases] == [(0, 1, 2), (3, 4, 5)]


def test_without_memory_files_are_edges_alone(tmp_path: Path) -> None:
    work = read_text(dax(), tmp_path, memory=False).workload
    assert (work.regions, len(work.accesses), edges(work)) == ((), 0, EDGES)


def test_a_task_that_changes_a_file_waits_for_the_earlier_ones_alone(tmp_path: Path) -> None:
    jobs = "".join(f'<job id="{n}" runtime="1"><uses name="f" link="{link}"/></job>' for n, link in enumerate(
        ("output", "inout", "inout", "input")))  # fmt: skip
    work = read_text(f"<adag>{jobs}</adag>", tmp_path).workload
    assert edges(work) == {(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)}


def test_a_file_without_times_gives_each_task_one_unit_and_says_so(tmp_path: Path) -> None:
    found = read_text("digraph { a -> b -> c }", tmp_path, unit="3us")
    assert found.workload.segment_compute_ps.tolist() == [3 * 10**6] * 3
    assert found.remarks[-1] == "the file has no times: each task takes one unit"
    assert read_text("<adag><job id='a'/></adag>", tmp_path, usual="2 s").workload.segment_compute_ps[0] == 2 * 10**12


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    found = read_text('digraph { 1 [size="5"]; root -> 1 [size=7] }', tmp_path, unit="1ns")
    assert found.workload.segment_compute_ps.tolist() == [5000, 0]
    assert found.remarks == [
        "the attribute size is the time of a task",
        "nothing is said of 1 tasks, which take no time",
        "the attribute size of edges is left out; --bytes size takes it for bytes",
        "used: size",
        "left out: size of an edge (1)",
        "a DOT graph does not say which memory tasks access beside the bytes of edges",
    ]
    assert read_text('digraph { 1 [size="5"]; 1 -> 2 [size=7] }', tmp_path, unit="1ns", bytes="size").workload.regions
    negative = '<adag><job id="a" runtime="1"><uses name="f" link="output" size="-5"/></job></adag>'
    assert read_text(negative, tmp_path).remarks[0].startswith("1 sizes are negative, the first that of 'f'; they")


LEGEND = """digraph {
    subgraph tasks {
        node [shape=circle]
        t1 [label="potrf 1", time=4]; t2 [label="trsm(2,1)\\nrow 2" time=2]; t3 [label=<<b>trsm</b> 3>, time=2]
        Synchro0 [label="sync", shape=octagon]; end [shape=point]
        t1 -> {t2 t3} -> Synchro0 -> end
        t2 -> t3 [style=invis]
    }
    subgraph legend { rank=sink; node [shape=plaintext]; legend [label=<<table><tr><td>potrf</td></tr></table>>]; key }
    legend -> key
    note [shape=none, label="made by a program"]
    text [shape=plaintext, label="gemm 4", time=3]; end -> text
}"""


def test_a_legend_is_no_task_and_points_of_synchronisation_take_no_time(tmp_path: Path) -> None:
    """If the legend were a task and each synchronisation point took 1 us, the work would be 14 us and the span 10 us.

    A text node is a task if an edge leads from it to a task. An invisible edge only arranges the drawing.
    """
    found = read_text(LEGEND, tmp_path, unit="1us", usual="1us")
    assert found.names == ["t1", "t2", "t3", "Synchro0", "end", "text"]
    assert (found.workload.segment_compute_ps // 10**6).tolist() == [4, 2, 2, 0, 0, 3]
    assert edges(found.workload) == {(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5)}
    assert found.workload.kernels == ("potrf", "trsm", "sync", "", "gemm")
    assert "3 nodes are a legend or text and lead to no task: they are left out" in found.remarks
    assert "2 points of synchronisation take no time" in found.remarks
    assert "left out: shape (6), edges of style invis (1)" in found.remarks
    points = "digraph { a -> sync_1 -> b; sync_1 [shape=point] }"
    assert read_text(points, tmp_path, unit="1us").workload.segment_compute_ps.tolist() == [10**6, 0, 10**6]


def test_times_are_given_by_name_label_or_kernel(tmp_path: Path) -> None:
    text = (
        'digraph { t1 [label="potrf 1"]; t2 [label="trsm 2"]; t3 [label="trsm 3"]; t1 -> t2; t1 -> t3; t4 [kernel=x] }'
    )
    given = ["potrf=4us", "trsm=2us", "trsm 3=3us", "t4=1ns"]
    found = read_text(text, tmp_path, times=given)
    assert found.workload.segment_compute_ps.tolist() == [4 * 10**6, 2 * 10**6, 3 * 10**6, 1000]
    assert found.remarks[-4:] == [
        "--time potrf is the time of 1 tasks",
        "--time trsm is the time of 2 tasks",
        "--time trsm 3 is the time of 1 tasks",
        "--time t4 is the time of 1 tasks",
    ]
    graph = ns.Graph.imported(tmp_path / "given", times=given)
    assert graph.work_ns == 9_001


RAN = """Name: a
JobId: 1
StartTime: 1
EndTime: 3
Priority: 5
MPIRank: 0

JobId: 2
DependsOn: 1
Handles: 7f
Modes: W
Sizes: 64
Priority: 5

JobId: 3
DependsOn: 2
StartTime: 3
EndTime: 4

JobId: 4
DependsOn: 3

JobId: 5
DependsOn: 4

Control: WontUse
JobId: 6

Iteration: 7
"""


def test_records_of_starpu_that_never_ran_are_not_charged(tmp_path: Path) -> None:
    """Job 2 takes no time, but orders jobs 1 and 3. No job that ran waits for jobs 4 and 5, which are left out."""
    found = read_text(RAN, tmp_path, usual="1ms")
    assert found.names == ["a", "2", "3"]
    assert found.workload.segment_compute_ps.tolist() == [2 * 10**9, 0, 10**9]
    assert edges(found.workload) == {(0, 1), (1, 2)}
    assert not found.workload.regions
    left = next(remark for remark in found.remarks if remark.startswith("left out: ")).removeprefix("left out: ")
    assert set(left.split(", ")) == {
        "records of Control WontUse (1)",
        "records without JobId (1)",
        "Priority (2)",
        "MPIRank (1)",
        "tasks that never ran",
        "which order others and take no time (1)",
        "with nothing behind them (2)",
    }
    nothing = RAN.replace("StartTime", "Start").replace("EndTime", "End")
    assert read_text(nothing, tmp_path, usual="1ms").workload.rows == 5, "no record says when its task ran"


@pytest.mark.parametrize("name", TEXTS)
def test_every_reader_says_what_it_used_and_what_it_cannot_know(name: str, tmp_path: Path) -> None:
    text, unit, _ = TEXTS[name]
    found = read_text(text, tmp_path, unit=unit)
    if found.foreign:
        assert any(remark.startswith("used: ") for remark in found.remarks)
        assert any(remark.startswith(f"a {found.format} does not say ") for remark in found.remarks)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('<adag><metadata/><job id="a" runtime="1" node-label="x"><argument>-v</argument><stdout/></job></adag>',
         "element metadata (1), node-label (1), argument (1), stdout (1)"),
        ('{"workflow": {"tasks": [{"name": "a", "runtime": 1, "cores": 4, "avgCPU": 9}, '
         '{"name": "b", "runtime": 1, "cores": 2}]}}', "cores (2), avgCPU (1)"),
        ("1 4\n0 1 0 # first\n", "number of processors (1), remarks (1)"),
        ("task,parent,work_cycles,cpu_id\n1,0,5,3\n2,NA,1,0\n",
         "cpu_id (1), rows without a parent, which are the runtime's own (1)"),
        ('<graphml><key id="k" for="node" attr.name="colour"/><graph edgedefault="directed"><node id="a">'
         '<data key="k">red</data></node></graph></graphml>', "colour (1)"),
    ],
)  # fmt: skip
def test_what_a_reader_leaves_out_is_counted(text: str, left: str, tmp_path: Path) -> None:
    own = text.startswith("<adag") or text.startswith("{")
    remarks = read_text(text, tmp_path, unit=None if own else "1us").remarks
    assert f"left out: {left}" in remarks


def test_more_kernels_than_a_graph_may_have_are_said(tmp_path: Path) -> None:
    names = [f"{chr(97 + at // 26)}{chr(97 + at % 26)}" for at in range(300)]
    text = "digraph { " + " ".join(f"{name}1 [label=k{name}]" for name in names) + " }"
    found = read_text(text, tmp_path, unit="1us")
    assert found.workload.kernels == ("",)
    assert "300 kernels are more than 256: tasks have none" in found.remarks


def test_latin_1_is_read_where_it_is_declared(tmp_path: Path) -> None:
    dot = 'digraph { charset="latin1" "b\xfcro" -> a }'.encode("latin-1")
    assert read_text(dot, tmp_path, unit="1ns").names == ["b\xfcro", "a"]
    xml = '<?xml version="1.0" encoding="ISO-8859-1"?><adag><job id="b\xfcro" runtime="1"/></adag>'.encode("latin-1")
    assert read_text(xml, tmp_path).names == ["b\xfcro"]


@settings(max_examples=25)
@given(st.integers(1, 12), st.sets(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30))
def test_random_graphs_are_those_that_networkx_writes(
    tmp_path_factory: pytest.TempPathFactory, count: int, pairs: set[tuple[int, int]]
) -> None:
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from((node, {"cost": node + 0.5}) for node in range(count))
    graph.add_edges_from((a, b, {"bytes": 1 + a}) for a, b in pairs if a < b < count)
    text = "\n".join(nx.generate_graphml(graph))
    found = read_text(text, tmp_path_factory.mktemp("random"), unit="1us").workload
    assert found.segment_compute_ps.tolist() == [node * 10**6 + 500_000 for node in range(count)]
    assert edges(found) == set(graph.edges)


def test_python_imports_with_names(tmp_path: Path) -> None:
    (tmp_path / "four.stg").write_text(STG)
    graph = ns.Graph.imported(tmp_path / "four.stg", unit="1us")
    assert (graph.name, graph.names, graph.edges, graph.work_ns) == ("four", ("0", "1", "2", "3"), 4, 10_000)
