"""The format of a file, told by its content, and the graph in the file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from numasim.errors import InputError
from numasim.files.bounded_json import parse_json
from numasim.files.bounded_xml import parse_xml
from numasim.files.reader import OTHER_GRAPH, PACKED_GRAPH, read_foreign_text
from numasim.workload.graph import Workload
from numasim.workload.graph_forms import kind_of, read_graph
from numasim.workload.imports.import_choices import Choices
from numasim.workload.imports.read_graph import ReadGraph, shortened
from numasim.workload.imports.readers.dax import local
from numasim.workload.json_form.graph_io import of_text

if TYPE_CHECKING:
    from numasim.workload.imports.readers.grain_graph import Grains

MOST_LINES = 3  # lines of a table that tell the format
MOST_SHOWN = 8  # most columns that an error names
MOST_ELEMENTS = 4_000_000  # most elements of an XML file
_WORKFLOW = re.compile(r'"workflow"\s*:')


def read_any(path: Path, choices: Choices) -> ReadGraph | Workload | Grains:
    """Return the graph of a file as read, or as a workload; raise InputError for an unknown format."""
    if kind_of(path) is PACKED_GRAPH:
        return read_graph(path)
    text = read_foreign_text(path, OTHER_GRAPH)
    name, begin = str(path), text.lstrip()[:1]
    if begin == "{":
        return _read_json(text, name)
    if begin == "<":
        return _read_xml(text, name, choices)
    return _read_lines(text, name, choices)


def _read_json(text: str, name: str) -> ReadGraph | Workload:
    from decimal import Decimal

    from numasim.workload.imports.readers.wfformat import looks_like_wfformat, read_wfformat

    if _WORKFLOW.search(text):
        document = parse_json(text, name, OTHER_GRAPH.name, decimal=Decimal)
        if looks_like_wfformat(document):
            return read_wfformat(document, name)
    return of_text(text, name)


def _read_xml(text: str, name: str, choices: Choices) -> ReadGraph:
    from numasim.workload.imports.readers import dax, graphml

    root = parse_xml(text, name, OTHER_GRAPH.name, MOST_ELEMENTS)
    if local(root) == dax.ROOT:
        return dax.read_dax(root, name)
    if local(root) == graphml.ROOT:
        return graphml.read_graphml(root, name, choices)
    raise InputError(
        f"this is not JSON, and the root element of this XML is {local(root)[:40]!r}",
        place=f"{name}:{root.line}:1",
        expected=OTHER_GRAPH.name,
    )


def _read_lines(text: str, name: str, choices: Choices) -> ReadGraph | Workload | Grains:
    from numasim.workload.imports.readers import dot, grain_graph, starpu, stg

    if stg.looks_like_stg(text):
        return stg.read_stg(text, name)
    if dot.looks_like_dot(text):
        return dot.read_dot(text, name, choices)
    if grain_graph.looks_like_grains(text):
        return grain_graph.read_grains(text, name)
    if starpu.looks_like_records(text):
        return starpu.read_records(text, name)
    if text.lstrip()[:1] in ("[", '"') or text.strip() in ("null", "true", "false"):  # JSON, but no object
        return of_text(text, name)
    raise _unknown(text, name)


def _unknown(text: str, name: str) -> InputError:
    """Return the error for a text of an unknown format, with the columns of a table or with the first line."""
    lines = [line.strip() for line in text.split("\n", 100) if line.strip()]
    if not lines:
        return InputError("the file is empty", place=name, expected=OTHER_GRAPH.name)
    place = f"{name}:{text[: text.index(lines[0])].count(chr(10)) + 1}:1"
    for sign, kind in ((",", "commas"), (";", "semicolons"), ("\t", "tabs")):
        columns = [column.strip().strip('"') for column in lines[0].split(sign)]
        if len(columns) > 1 and all(line.count(sign) >= len(columns) - 1 for line in lines[:MOST_LINES]):
            shown = ", ".join(columns[:MOST_SHOWN]) + (", ..." if len(columns) > MOST_SHOWN else "")
            return InputError(
                f"this is a table with {kind}, of the columns {shown}: it has no dependences between tasks",
                place=place,
                expected=f"{OTHER_GRAPH.name}, which has the columns task and parent",
            )
    problem = f"this is not JSON, and no other format begins with the line {shortened(lines[0])}"
    return InputError(problem, place=place, expected=OTHER_GRAPH.name)
