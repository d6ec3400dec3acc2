"""Digraphs in the DOT language of Graphviz: nodes are tasks, edges lead to tasks that wait."""

from __future__ import annotations

import re
from pathlib import Path

from numasim.workload.imports.import_choices import Choices
from numasim.workload.imports.read_graph import ReadGraph
from numasim.workload.imports.readers.attributed import graph_of
from numasim.workload.imports.readers.dot_parser import DotParser
from numasim.workload.imports.readers.dot_tokens import DotText

FORMAT = "DOT graph"
_BEGIN = re.compile(
    r"(?:\s+|//[^\n]*|/\*.*?\*/|(?<![^\n])#[^\n]*)*+(?:strict\b\s*)?(?:di)?graph\b(?!\s*:)", re.DOTALL | re.IGNORECASE
)


def looks_like_dot(text: str) -> bool:
    """Whether the first words are those of a graph in DOT."""
    return bool(_BEGIN.match(text))


def read_dot(text: str, path: str, choices: Choices) -> ReadGraph:
    """The graph of the text of a file; InputError with the line for what is wrong."""
    found = DotParser(DotText(text, path)).parse()
    return graph_of(found, path, FORMAT, found.name or Path(path).stem, choices)
