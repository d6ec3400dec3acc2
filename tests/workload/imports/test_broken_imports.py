"""Files without a graph, or with cycles, are refused in one sentence with file and place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from foreign_files import DOT, GRAINS, GRAPHML, RECORDS, STG, dax, wfformat

from numasim.errors import InputError
from numasim.workload.imports.import_graph import imported
from numasim.workload.imports.read_graph import Choices

BOMB = '<!DOCTYPE a [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>\n'


def changed(version: str, change: Callable[[dict[str, Any]], Any]) -> str:
    """Return the text of WfFormat with a change."""
    document = wfformat(version)
    change(document["workflow"])
    return json.dumps(document)


def cyclic(workflow: dict[str, Any]) -> None:
    """Let the first task read a file of the last task, without a parent for the dependence."""
    workflow["tasks"][0]["files"].append({"name": "back", "size": 1, "link": "input"})
    workflow["tasks"][3]["files"].append({"name": "back", "size": 1, "link": "output"})


WF = "workflow.specification.tasks"
BACK = '<job id="a" runtime="1"><uses name="x" link="input"/>'
BROKEN: dict[str, tuple[str, str | None, tuple[str, ...]]] = {
    "STG without a unit": (STG, None, ("have no unit", "--unit with the time unit of its tasks", "--unit 1us")),
    "DOT without a unit": (DOT, None, ("have no unit", "--unit with what one unit of weight is")),
    "GraphML without a unit": (GRAPHML, None, ("have no unit", "--unit 1us")),
    "grains without a unit": (GRAINS, None, ("have no unit", "--unit with the length of a processor cycle")),
    "DAX with a unit": (dax(), "1us", ("the times of this Pegasus DAX are seconds", "no --unit")),
    "own graph with a unit": ('{"tasks": [{}]}', "1us", ("--unit is given", "no --unit")),
    "no unit at all": ("digraph { a }", None, ("no task has a time", "--usual 1us", "--unit alone")),
    "unit without a number": (STG, "us", ("--unit is 'us'", "such as 1us")),
    "unit of 0": (STG, "0us", ("--unit is '0us'", "above 0")),
    "unit that is none": (STG, "1 hour", ("--unit is '1 hour'", "ps, ns, us, ms, s or min")),
    # cycles
    "cycle of files in a DAX": (
        dax().replace('<job id="a" name="kind">', '<job id="a" name="kind"><uses name="x" link="input"/>').replace(
            '<job id="d" name="kind">', '<job id="d" name="kind"><uses name="x" link="output"/>'),
        None, ("in a cycle: ", "'a' after 'd' after", "without cycles")),
    "cycle of files in WfFormat": (changed("1.3", cyclic), None, ("workflow.tasks[", "in a cycle: ", "'a' after 'd'")),
    "cycle in an STG": ("2\n0 1 1 1\n1 1 1 0\n", "1us", (":3: ", "'1' after '0' after '1'")),
    "cycle in DOT": ("digraph {\na -> b\nb -> a }", "1us", (":2: ", "'b' after 'a' after 'b'")),
    "cycle in GraphML": (GRAPHML.replace("</graph>", '<edge source="d" target="a"/></graph>'), "1us", ("a cycle: ",)),
    "cycle in tasks.rec": (RECORDS.replace("JobId: 1\n", "JobId: 1\nDependsOn: 5\n"), None, (":2: ", "a cycle: ")),
    "tasks below themselves": ('"task","parent","work_cycles"\n1,2,5\n2,1,5\n', "1ns", (":2: ", "'1' after '2'")),
    "long cycle": (
        "digraph { " + " -> ".join(f"t{i}" for i in range(1000)) + " -> t0 }", "1us", ("992 others",)),
    "loop in an STG": ("1\n0 1 0\n1 1 1 1\n", "1us", (":3: ", "the task '1' waits for itself")),
    "loop in DOT": ("digraph {\n\n a -> a }", "1us", (":3: ", "the task 'a' waits for itself")),
    "loop in WfFormat": (
        changed("1.5", lambda w: w["specification"]["tasks"][1]["parents"].append("b")), None,
        (f"{WF}[1].parents[0]: ", "the task 'b' waits for itself")),
    "loop in a DAX": (
        dax().replace("</adag>", '<child ref="a"><parent ref="a"/></child></adag>'), None, (":7: ", "'a' waits for")),
    # repeated and missing tasks
    "task twice in an STG": ("1\n0 1 0\n0 1 0\n", "1us", (":3: ", "the task '0' is there twice")),
    "task twice in a DAX": (dax().replace('id="b"', 'id="a"'), None, (":5: ", "the task 'a' is there twice")),
    "node twice in GraphML": (GRAPHML.replace('id="b"', 'id="a"'), "1us", (":7: ", "'a' is there twice")),
    "job twice": (RECORDS.replace("JobId: 2", "JobId: 1"), None, (":12: ", "the task '1' is there twice")),
    "task twice in WfFormat": (
        changed("1.0", lambda w: w["jobs"].append(w["jobs"][0])), None, ("workflow.jobs[4]: ", "'a' is there twice")),
    "unknown task in an STG": ("1\n0 1 0\n1 1 1 7\n", "1us", (":3: ", "the task 1 names the task '7'", "not there")),
    "unknown parent in a DAX": (
        dax(explicit=True).replace('ref="b"', 'ref="bb"'), None, (":7: ", "'bb', which is not there")),
    "unknown child in a DAX": (dax(explicit=True).replace('child ref="d"', 'child ref="e"'), None, (":7: ", "'e'")),
    "unknown parent in WfFormat": (
        changed("1.4", lambda w: w["tasks"][3].update(parents=["e"])), None,
        ("workflow.tasks[3].parents[0]: ", "the task 'd' names the task 'e'")),
    "unknown execution": (
        changed("1.5", lambda w: w["execution"]["tasks"][0].update(id="e")), None,
        ("workflow.execution.tasks[0]: ", "'e', which is not there")),
    "edge to nowhere": (GRAPHML.replace('target="b"', 'target="e"'), "1us", (":10: ", "an edge names the task 'e'")),
    "unknown job": (RECORDS.replace("DependsOn: 2", "DependsOn: 7"), None, (":34: ", "the job 'd' names the task '7'")),
    # times and sizes
    "negative time": (dax().replace(">2<", ">-2<"), None, (":5: ", "the time '-2' of task 'b' is negative")),
    "no number": (dax("2.1").replace('runtime="3"', 'runtime="soon"'), None, (":6: ", "'soon' of task 'c'", "finite")),
    "NaN in a DAX": (dax("2.1").replace('runtime="3"', 'runtime="nan"'), None, (":6: ", "'nan'", "finite")),
    "NaN in WfFormat": (
        changed("1.2", lambda w: w["jobs"][0].update(runtime=float("nan"))), None, ("NaN is not allowed",)),
    "no time in a DAX": (
        dax("2.1").replace('runtime="3"', ""), None, (":6: ", "the task 'c' has no time", "--usual 1us")),
    "no time in WfFormat": (
        changed("1.5", lambda w: w["execution"]["tasks"].pop(0)), None, (f"{WF}[3]: ", "the task 'd' has no time")),
    "no times at all": (
        changed("1.5", lambda w: w.pop("execution")), None, (f"{WF}[0]: ", "no task has a time", "--unit alone")),
    "text for a time": (
        changed("1.0", lambda w: w["jobs"][2].update(runtime=[3])), None, ("workflow.jobs[2]: ", "'[3]' of task 'c'")),
    "time of years": (dax().replace(">2<", ">1e20<"), None, (":5: ", "the time '1E+20' of task 'b' is too long")),
    "time of 10^999999": (dax().replace(">2<", ">1e999999<"), None, (":5: ", "is not a finite number")),
    "times of years together": (
        "20\n" + "\n".join(f"{i} 9 0" for i in range(20)), "1000 min", (":19: ", "all tasks together at most")),
    "ends before it starts": (RECORDS.replace("EndTime: 17", "EndTime: 7"), None, (":12: ", "'-8' of task '2'")),
    "size that is none": (dax().replace('size="4096"', 'size="large"'), None, (":4: ", "the size 'large' of 'ac'")),
    "size of 10^30": (dax().replace('size="4096"', f'size="{10**30}"'), None, (":4: ", "0 to 1,125,899,906,842,624")),
    # files of no known format
    "empty DAX": ("<adag/>", None, ("there are no tasks in this Pegasus DAX", "at least one")),
    "empty DOT": ("digraph {}", "1us", ("there are no tasks in this DOT graph",)),
    "empty GraphML": ("<graphml><graph/></graphml>", "1us", ("there are no tasks",)),
    "STG of nothing": ("0\n", "1us", ("there are no tasks",)),
    "empty WfFormat": (changed("1.3", lambda w: w.update(tasks=[])), None, ("there are no tasks",)),
    "empty grains": ("task,parent\n", "1ns", ("there are no tasks",)),
    "workflow is a list": ('{"workflow": []}', None, ("workflow: ", "an object")),
    "workflow of nothing": ('{"workflow": {}}', None, ("workflow: ", "jobs, tasks, specification")),
    "tasks are a text": ('{"workflow": {"tasks": "x"}}', None, ("workflow.tasks: ", "a list")),
    "task is a number": ('{"workflow": {"tasks": [3]}}', None, ("workflow.tasks[0]: ", "an object")),
    "task without a name": ('{"workflow": {"tasks": [{}]}}', None, ("workflow.tasks[0]: ", "no name")),
    "files are a text": ('{"workflow": {"tasks": [{"name": "a", "files": "x"}]}}', None, ("tasks[0].files: ",)),
    "table of a trace": (
        "Nature,Start,End,Value\nState,0.1,0.4,potrf\nState,0.4,0.5,trsm\n", None,
        (":1:1: ", "a table with commas, of the columns Nature, Start, End, Value", "task and parent")),
    "table with semicolons": (
        "a;b;c;d;e;f;g;h;i;j\n1;2;3;4;5;6;7;8;9;10\n", None, ("with semicolons", "f, g, h, ...: it has no dep")),
    "words": ("\n\nhello world\n", None, (":3:1: ", "no other format begins with the line 'hello world'", "DOT")),
    "nothing": ("\n \n", None, ("the file is empty",)),
    "truncated JSON": (json.dumps(wfformat("1.5"))[:-40], None, (":1:", "this is not JSON")),
    "truncated XML": (dax()[:-9], None, (":7:", "no XML: ")),
    "truncated DOT": (DOT[:-3], "1us", (":8:", "the file ends too early", "a name")),
    "entities": (BOMB + dax()[39:], None, (":1: ", "the entity 'a' is not used here")),
    "other XML": ("\n<project/>", None, (":2:1: ", "the root element of this XML is 'project'", "DAX")),
    "graph without directions": ("graph { a -- b }", "1us", (":1:1: ", "the graph is undirected", "a digraph")),
    "edge without direction": ("digraph {\n a -- b }", "1us", (":2:4: ", "an edge -- stands in a digraph")),
    "GraphML without directions": (
        GRAPHML.replace("directed\">", "undirected\">"), "1us", (":10: ", "an edge is undirected")),
    "two graphs": ("digraph { a }\ndigraph { b }", "1us", (":2:1: ", "one graph in a file")),
    "text that is not closed": ('digraph { "a }', "1us", (":1:11: ", "a quoted text is not closed")),
    "HTML that is not closed": ("digraph { a [label=<<b>] }", "1us", (":1:20: ", "an HTML text is not closed")),
    "remark that is not closed": ("digraph { /* a }", "1us", (":1:11: ", "a remark is not closed")),
    "nested subgraphs": ("digraph " + "{" * 500, "1us", ("nested deeper than 100",)),
    "hyperedges": (GRAPHML.replace("</graph>", "<hyperedge/></graph>"), "1us", (":14: ", "an edge of several nodes")),
    "STG that is cut off": ("5\n0 1 0\n1 1 1 0\n", "1us", (":3: ", "there are 2 tasks", "says 5", "5 to 7")),
    "STG with too few predecessors": ("1\n0 1 0\n1 1 2 0\n", "1us", (":3: ", "waits for 2 tasks, and 1 are named")),
    "STG with words": ("1\n0 1 0\none 1 0\n", "1us", (":3: ", "'one' is neither")),
    "record that is none": (RECORDS + "what?\n", None, (":43: ", "the line 'what?' is no field", "Field: value")),
    "record with fewer sizes": (
        RECORDS.replace("Sizes: 128 4096", "Sizes: 128"), None, (":2: ", "2 handles, 2 modes and 1 sizes")),
    "row with fewer values": (GRAINS + "1,2\n", "1ns", (":6: ", "a line has 2 values", "10, one for each column")),
    "two attributes of costs": ("digraph { a [time=1 size=2] }", "1us", ("time and size", "--cost time")),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused_by_file_and_place(name: str, tmp_path: Path) -> None:
    text, unit, says = BROKEN[name]
    path = tmp_path / "given"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        imported(path, Choices.of(unit))
    said = str(caught.value)
    assert "\n" not in said
    assert said.startswith(str(path)) or said.startswith("--unit is")
    assert [part for part in says if part not in said] == [], said


@pytest.mark.parametrize("option", ["cost", "bytes"])
def test_attributes_that_nothing_has_are_refused_with_the_nearest(option: str, tmp_path: Path) -> None:
    path = tmp_path / "given"
    path.write_text("digraph { a [weights=1]; a -> b [weights=2] }")
    with pytest.raises(InputError, match=r"has the attribute 'weight'.*did you mean 'weights'"):
        imported(path, Choices.of("1us", **{option: "weight"}))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("potrff=1us", "no task has the name, label or kernel 'potrff' of --time; expected one of this file; did you "),
        ("potrf", "--time is 'potrf'; expected the name, label or kernel of tasks and a time"),
        ("potrf=1", "--time potrf is '1'; expected a number and one of the units"),
    ],
)
def test_a_time_of_nothing_and_a_time_that_is_none_are_refused(given: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "given"
    path.write_text('digraph { a [label="potrf 1"]; a -> b }')
    with pytest.raises(InputError) as caught:
        imported(path, Choices.of("1us", times=[given]))
    assert problem in str(caught.value)


def test_a_time_is_refused_for_a_graph_that_leaves_nothing_open(tmp_path: Path) -> None:
    path = tmp_path / "given"
    path.write_text('{"tasks": [{}]}')
    with pytest.raises(InputError, match="--time is given, and a task graph of numasim says everything"):
        imported(path, Choices.of(times=["a=1us"]))


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "given.gz"
    path.write_bytes(b"\x1f\x8b\x08\x00damaged")
    with pytest.raises(InputError, match="cannot be unpacked"):
        imported(path, Choices())
