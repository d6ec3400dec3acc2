"""Digraphs in the DOT language of Graphviz: nodes are tasks, edges lead to tasks that wait."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, NoReturn

from numasim.errors import InputError
from numasim.workload.imports.read_graph import Choices, ReadGraph
from numasim.workload.imports.readers.attributed import Attributed, Attributes, graph_of

# ---- The words of a text in DOT: names, quoted texts, numbers, HTML and signs, with their lines ----

EXPECTED = "a digraph of the DOT language"
NAME, QUOTED, SIGN, END = "name", "quoted", "sign", "end"
_WORD = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/|(?<![^\n])\#[^\n]*)"""
    r"""|(?P<name>[^\W\d]\w*|-?(?:\.\d+|\d+(?:\.\d*)?))"""
    r"""|(?P<quoted>"[^"\\]*+(?:\\.[^"\\]*+)*+")"""
    r"""|(?P<sign>->|--|[{}\[\];,=:+])""",
    re.DOTALL,
)
_ANGLE = re.compile("[<>]")


class Word(NamedTuple):
    """A word of the text: the kind, the characters, and the place of the first character."""

    kind: str
    text: str
    at: int


class DotText:
    """A text and the lines of its characters."""

    def __init__(self, text: str, path: str) -> None:
        self.text, self.path = text, path
        self._begins = [0, *(found.end() for found in re.finditer("\n", text))]

    def line(self, at: int) -> int:
        """Return the number of the line of a character."""
        return bisect_right(self._begins, at)

    def refuse(self, problem: str, at: int, expected: str = EXPECTED) -> NoReturn:
        """Raise an InputError with the line of a character."""
        line = self.line(at)
        place = f"{self.path}:{line}:{at - self._begins[line - 1] + 1}"
        raise InputError(problem, place=place, expected=expected)

    def words(self) -> Iterator[Word]:
        """Yield the words in order, at last `END`; raise InputError for text that is no word."""
        text, at, end = self.text, 0, len(self.text)
        while at < end:
            found = _WORD.match(text, at)
            if found is None:
                if text[at] != "<":
                    self._refuse_word(at)
                close = self._close(at)
                yield Word(QUOTED, text[at:close], at)
                at = close
                continue
            kind, begin, at = found.lastgroup, at, found.end()
            if kind == QUOTED:
                quoted = found[0][1:-1].replace("\\\r\n", "").replace("\\\n", "").replace('\\"', '"')
                yield Word(QUOTED, quoted, begin)
            elif kind in (NAME, SIGN):
                yield Word(kind, found[0], begin)
        yield Word(END, "", max(end - 1, 0))

    def _close(self, at: int) -> int:
        """Return the end of the HTML that begins at ``at``."""
        depth = 0
        for found in _ANGLE.finditer(self.text, at):
            depth += 1 if found[0] == "<" else -1
            if depth == 0:
                return found.end()
        self.refuse("an HTML text is not closed", at, "a > for each <")

    def _refuse_word(self, at: int) -> NoReturn:
        if self.text[at] == '"':
            self.refuse("a quoted text is not closed", at, 'a second "')
        if self.text.startswith("/*", at):
            self.refuse("a remark is not closed", at, "*/")
        self.refuse(f"the character {self.text[at]!r} begins no word", at)


# ---- A digraph in the DOT language as nodes and edges with their attributes ------------------------------------------
#
# The parser reads the whole grammar that Graphviz publishes: strict graphs, chains of edges, subgraphs as ends of
# edges, ports, defaults of nodes and edges within their subgraph, quoted, joined and HTML names, remarks. The library
# Pydot takes seconds for ten thousand edges, loses the lines of a file, and treats ``a`` and ``"a"`` as two nodes.

DEEPEST = 100  # most levels of nested subgraphs
Scope = tuple[Attributes, Attributes]  # defaults of nodes and of edges


class DotParser:
    """A parser of one graph; ``found`` is the graph read so far."""

    def __init__(self, text: DotText) -> None:
        self._text = text
        self._words: Iterator[Word] = text.words()
        self._next = next(self._words)
        self._subgraphs: dict[str, list[str]] = {}
        self._depth = 0
        self.found = Attributed()

    def parse(self) -> Attributed:
        """Return the graph in the file; raise InputError with the line unless the file has exactly one digraph."""
        strict = self._keyword("strict")
        begin = self._next
        if self._keyword("graph"):
            self._text.refuse("the graph is undirected", begin.at, "a digraph, whose edges lead to tasks that wait")
        if not self._keyword("digraph"):
            self._refuse(EXPECTED)
        self.found.strict = strict
        if self._next.kind in (NAME, QUOTED):
            self.found.name = self._name()
        self._body(({}, {}))
        self._sign(";")
        if self._next.kind != END:
            self._text.refuse("there is more behind the end of the graph", self._next.at, "one graph in a file")
        return self.found

    def _body(self, scope: Scope) -> list[str]:
        """Read the statements in braces and return the nodes that the statements name."""
        self._depth += 1
        if self._depth > DEEPEST:
            self._text.refuse(f"subgraphs are nested deeper than {DEEPEST} levels", self._next.at, "fewer levels")
        if not self._sign("{"):
            self._refuse("the sign {")
        nodes: dict[str, None] = {}
        while not self._sign("}"):
            if not self._sign(";"):
                nodes.update(dict.fromkeys(self._statement(scope)))
        self._depth -= 1
        return list(nodes)

    def _statement(self, scope: Scope) -> list[str]:
        for keyword, defaults in (("graph", None), ("node", scope[0]), ("edge", scope[1])):
            if self._keyword(keyword):
                given = self._attributes()
                if defaults is not None:
                    defaults.update(given)
                return []
        at = self._next.at
        ends = [self._end(scope)]
        if isinstance(ends[0], str) and self._sign("="):
            self._name()
            return []
        while self._next.kind == SIGN and self._next.text in ("->", "--"):
            if self._next.text == "--":
                self._text.refuse("an edge -- stands in a digraph", self._next.at, "an edge ->")
            self._advance()
            ends.append(self._end(scope))
        given = self._attributes()
        line = self._text.line(at)
        groups = [[self._node(end, line, scope)] if isinstance(end, str) else end for end in ends]
        if len(ends) == 1 and isinstance(ends[0], str):
            self.found.nodes[ends[0]][0].update(given)
        for before, after in pairwise(groups):
            for source in before:
                for target in after:
                    self.found.edges.append((source, target, {**scope[1], **given}, line))
        return [node for group in groups for node in group]

    def _node(self, name: str, line: int, scope: Scope) -> str:
        if name not in self.found.nodes:
            self.found.nodes[name] = (dict(scope[0]), line)
        return name

    def _end(self, scope: Scope) -> str | list[str]:
        """Return the names of one end of an edge: a node, or all nodes of a subgraph."""
        named = self._keyword("subgraph")
        if named or (self._next.kind == SIGN and self._next.text == "{"):
            name = self._name() if named and self._next.kind in (NAME, QUOTED) else ""
            if name and not (self._next.kind == SIGN and self._next.text == "{"):
                return self._subgraphs.get(name, [])
            nodes = self._body((dict(scope[0]), dict(scope[1])))
            if "legend" in name.lower():
                self.found.legend.update(nodes)
            if name:
                known = self._subgraphs.setdefault(name, [])
                known += [node for node in nodes if node not in set(known)]
            return nodes
        found = self._name()
        for _ in range(2):  # a node's name may be followed by a port and by a point of the compass
            if self._sign(":"):
                self._name()
        return found

    def _attributes(self) -> Attributes:
        found: Attributes = {}
        while self._sign("["):
            while not self._sign("]"):
                key = self._name()
                found[key] = self._name() if self._sign("=") else "true"
                if not self._sign(","):
                    self._sign(";")
        return found

    def _name(self) -> str:
        if self._next.kind not in (NAME, QUOTED):
            self._refuse("a name")
        text = self._advance().text
        while self._sign("+"):
            if self._next.kind != QUOTED:
                self._refuse("a quoted text behind +")
            text += self._advance().text
        return text

    def _keyword(self, word: str) -> bool:
        if self._next.kind == NAME and self._next.text.lower() == word:
            self._advance()
            return True
        return False

    def _sign(self, sign: str) -> bool:
        if self._next.kind == SIGN and self._next.text == sign:
            self._advance()
            return True
        return False

    def _advance(self) -> Word:
        found = self._next
        self._next = next(self._words, Word(END, "", found.at))
        return found

    def _refuse(self, expected: str) -> None:
        word = self._next
        what = "the file ends too early" if word.kind == END else f"got {word.text[:40]!r}"
        self._text.refuse(what, word.at, expected)


FORMAT = "DOT graph"
_BEGIN = re.compile(
    r"(?:\s+|//[^\n]*|/\*.*?\*/|(?<![^\n])#[^\n]*)*+(?:strict\b\s*)?(?:di)?graph\b(?!\s*:)", re.DOTALL | re.IGNORECASE
)


def looks_like_dot(text: str) -> bool:
    """Return whether the text begins as a graph in DOT."""
    return bool(_BEGIN.match(text))


def read_dot(text: str, path: str, choices: Choices) -> ReadGraph:
    """Return the graph of the text of a file; raise InputError with the line for mistakes."""
    found = DotParser(DotText(text, path)).parse()
    return graph_of(found, path, FORMAT, found.name or Path(path).stem, choices)
