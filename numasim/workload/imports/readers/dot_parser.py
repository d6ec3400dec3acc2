"""A digraph in the DOT language as nodes and edges with their attributes.

All of the grammar that Graphviz publishes: strict graphs, chains of edges, subgraphs as ends of edges, ports, defaults
of nodes and edges within their subgraph, quoted, joined and HTML names, remarks. A parser of our own, since pydot's
takes seconds for ten thousand edges, knows no lines once it has parsed, and tells ``a`` from ``"a"``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from numasim.workload.imports.readers.attributed import Attributed, Attributes
from numasim.workload.imports.readers.dot_tokens import END, EXPECTED, NAME, QUOTED, SIGN, DotText, Word

DEEPEST = 100  # subgraphs in each other
Scope = tuple[Attributes, Attributes]  # defaults of nodes and of edges


class DotParser:
    """Reads one graph; ``found`` is what it has read."""

    def __init__(self, text: DotText) -> None:
        self._text = text
        self._words: Iterator[Word] = text.words()
        self._next = next(self._words)
        self._subgraphs: dict[str, list[str]] = {}
        self._depth = 0
        self.found = Attributed()

    def parse(self) -> Attributed:
        """The whole file; InputError with the line for what is no digraph, or more than one."""
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
        """The statements in braces; the nodes that they name."""
        self._depth += 1
        if self._depth > DEEPEST:
            self._text.refuse(f"subgraphs are nested deeper than {DEEPEST} levels", self._next.at, "fewer levels")
        self._need("{")
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
        if len(ends) == 1:
            return self._node_statement(ends[0], given, line, scope)
        groups = [[self._node(end, line, scope)] if isinstance(end, str) else end for end in ends]
        for before, after in pairwise(groups):
            for source in before:
                for target in after:
                    self.found.edges.append((source, target, {**scope[1], **given}, line))
        return [node for group in groups for node in group]

    def _node_statement(self, end: str | list[str], given: Attributes, line: int, scope: Scope) -> list[str]:
        if not isinstance(end, str):
            return end
        self._node(end, line, scope)
        self.found.nodes[end][0].update(given)
        return [end]

    def _node(self, name: str, line: int, scope: Scope) -> str:
        if name not in self.found.nodes:
            self.found.nodes[name] = (dict(scope[0]), line)
        return name

    def _end(self, scope: Scope) -> str | list[str]:
        """A node's name, or the nodes of a subgraph."""
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
        for _ in range(2):  # a port, and a point of the compass
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

    def _need(self, sign: str) -> None:
        if not self._sign(sign):
            self._refuse(f"the sign {sign}")

    def _advance(self) -> Word:
        found = self._next
        self._next = next(self._words, Word(END, "", found.at))
        return found

    def _refuse(self, expected: str) -> None:
        word = self._next
        what = "the file ends too early" if word.kind == END else f"got {word.text[:40]!r}"
        self._text.refuse(what, word.at, expected)
