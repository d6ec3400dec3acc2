"""The same graph in every format that `numasim` imports: task a makes two files, b and c read one file each, d reads
the files that b and c make.

a takes 4 units of time, b 2, c 3 and d 1. The second file of a has 4,096 bytes, the files of b and c have 64 bytes.
"""

from __future__ import annotations

import json
from typing import Any

NAMES = ["a", "b", "c", "d"]
EDGES = {(0, 1), (0, 2), (1, 3), (2, 3)}
TIMES = [4, 2, 3, 1]
SIZES = {"ab": 128, "ac": 4096, "bd": 64, "cd": 64}
READS = {"a": [], "b": ["ab"], "c": ["ac"], "d": ["bd", "cd"]}
WRITES = {"a": ["ab", "ac"], "b": ["bd"], "c": ["cd"], "d": []}

STG = "4\n0 4 0\n1 2 1 0 # a remark\n# another\n2 3 1 0\n\n3 1 2 1 2\n"
STG_WITH_ENDS = "4 2\n0 0 0\n1 4 1 0\n2 2 1 1\n3 3 1 1\n4 1 2 2 3\n5 0 1 4\n"
DOT = """/* four tasks */
strict digraph "four \\"tasks\\"" {
    graph [rankdir=LR]; node [shape=box]; edge [color=red]
    a [weight=4, label=<a <b>bold</b> one>]
    "b" [weight="2"]; c [weight=3.0]
    subgraph cluster { label = "last"; d [weight=1] }
    a:out:e -> {b c} -> d // a chain with a subgraph
# a line for the preprocessor
}
"""
DOT_BYTES = """digraph { a [cost_ns=4000]; b [cost_ns=2000] c [cost_ns=3000], d [cost_ns=1000]
a -> b [bytes=128]; a->c [bytes=4096]; b -> d [bytes=64]; c -> d [bytes=64] }""".replace(", d [", "; d [")
GRAPHML = """<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="weight" attr.type="double"><default>3</default></key>
  <key id="d1" for="edge" attr.name="bytes" attr.type="long"/>
  <graph edgedefault="directed">
    <node id="a"><data key="d0">4</data></node>
    <node id="b"><data key="d0">2</data></node>
    <node id="c"/>
    <node id="d"><data key="d0">1</data></node>
    <edge source="a" target="b"><data key="d1">128</data></edge>
    <edge source="a" target="c"><data key="d1">4096</data></edge>
    <edge source="b" target="d"><data key="d1">64</data></edge>
    <edge source="c" target="d"><data key="d1">64</data></edge>
  </graph>
</graphml>
"""
RECORDS = """# of StarPU
Name: a
Model: first
JobId: 1
StartTime: 10.5
EndTime: 14.5
Handles: 7f01 7f02
Modes: W W
Sizes: 128 4096
MPIRank: 0

Model: middle
JobId: 2
DependsOn: 1
StartTime: 15
EndTime: 17
Handles: 7f01 7f03
Modes: R W
Sizes: 128 64

Control: WontUse
JobId: 3
Handles: 7f01

Name: c
JobId: 4
DependsOn: 1
StartTime: 15
EndTime: 18.0
Handles: 7f02 7f04
Modes: R W
Sizes: 4096 64

Name: d
JobId: 5
DependsOn: 2
+ 4
StartTime: 18
EndTime: 19
Handles: 7f03 7f04
Modes: R R
Sizes: 64 64
"""
GRAINS = """"lineage","task","parent","joins_at","child_number","exec_cycles","overhead_cycles","create_instant",\
"wait_instants","work_cycles"
"R-1",1,0,0,1,1000,400,0,"[0;900]",600
"R-1-1",2,1,0,1,300,0,100,"[0]",300
"R-1-2",3,1,0,2,200,0,200,"[0]",200
"background",9,NA,0,1,NA,NA,NA,"[0]",NA
"""


def dax(version: str = "3.6", explicit: bool = False) -> str:
    """Return the graph as a DAX. The order of tasks follows from their files; ``explicit`` adds parents."""
    key = "file" if version < "3" else "name"
    jobs = []
    for name, time in zip(NAMES, TIMES, strict=True):
        uses = [f'<uses {key}="{f}" link="input" size="{SIZES[f]}"/>' for f in READS[name]]
        uses += [f'<uses {key}="{f}" link="output" size="{SIZES[f]}"/>' for f in WRITES[name]]
        if version < "3":
            jobs.append(f'<job id="{name}" name="kind" runtime="{time}">{"".join(uses)}</job>')
        else:
            profile = f'<profile namespace="pegasus" key="runtime">{time}</profile>'
            jobs.append(f'<job id="{name}" name="kind">{profile}{"".join(uses)}</job>')
    parents = '<child ref="d"><parent ref="b"/></child>' if explicit else ""
    head = f'<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="{version}" name="four">'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<!-- a remark -->\n{head}\n{chr(10).join(jobs)}{parents}</adag>\n'


def wfformat(version: str) -> dict[str, Any]:
    """Return the graph in one of the published versions of WfFormat."""
    if version == "1.5":
        return {"name": "four", "schemaVersion": version, "workflow": _of_1_5()}
    size, time = ("sizeInBytes", "runtimeInSeconds") if version == "1.4" else ("size", "runtime")
    tasks: list[dict[str, Any]] = []
    for name, seconds in zip(NAMES, TIMES, strict=True):
        files = [{"name": f, size: SIZES[f], "link": "input"} for f in READS[name]]
        files += [{"name": f, size: SIZES[f], "link": "output"} for f in WRITES[name]]
        tasks.append({"name": name, "type": "compute", time: seconds, "parents": [], "files": files})
        if version >= "1.2":
            tasks[-1] |= {"id": f"ID{name}", "category": "kind", "command": {"program": "p", "arguments": []}}
    tasks[3]["parents"] = ["b"]
    return {"name": "four", "schemaVersion": version, "workflow": {"jobs" if version < "1.3" else "tasks": tasks}}


def _of_1_5() -> dict[str, Any]:
    tasks = [
        {
            "name": f"kind_ID{number:05}",
            "id": name,
            "parents": ["b"] if name == "d" else [],
            "children": ["c"] if name == "a" else [],
            "inputFiles": READS[name],
            "outputFiles": WRITES[name],
        }
        for number, name in enumerate(NAMES)
    ]
    files = [{"id": name, "sizeInBytes": size} for name, size in SIZES.items()]
    ran = [{"id": name, "runtimeInSeconds": time} for name, time in zip(NAMES, TIMES, strict=True)]
    execution = {"makespanInSeconds": 9, "executedAt": "2026-01-01", "tasks": ran[::-1]}
    return {"specification": {"tasks": tasks, "files": files}, "execution": execution}


TEXTS: dict[str, tuple[str, str | None, int]] = {  # format: the text, the option for its unit, the unit in ps
    "STG": (STG, "1us", 10**6),
    "DOT": (DOT, "2 ns", 2000),
    "DOT with bytes": (DOT_BYTES, None, 10**6),
    "GraphML": (GRAPHML, "1ms", 10**9),
    "StarPU": (RECORDS, None, 10**9),
    "DAX 2.1": (dax("2.1"), None, 10**12),
    "DAX 3.6": (dax("3.6", explicit=True), None, 10**12),
    **{
        f"WfFormat {version}": (json.dumps(wfformat(version)), None, 10**12)
        for version in ("1.0", "1.1", "1.2", "1.3", "1.4", "1.5")
    },
}
WITH_BYTES = {name for name in TEXTS if name not in ("STG", "DOT")}
