"""XML as a tree of elements with line numbers: no entities, bounded nesting, a bounded number of elements."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from numasim.errors import InputError
from numasim.files.reader import FileKind, read_text

DEEPEST = 100
MOST_ELEMENTS = 100_000


class PlacedElement(Element):
    """An element with the ``line`` of the file on which the element begins."""

    line = 0

    def children(self, tag: str) -> list[PlacedElement]:
        """Return the direct children with the tag ``tag``."""
        return self.findall(tag)  # type: ignore[return-value]  # the reader makes only placed elements


def read_xml(path: Path, kind: FileKind) -> PlacedElement:
    """Return the root of the document in ``path``. Raises InputError as `read_text` and `parse_xml` do."""
    return parse_xml(read_text(path, kind), str(path), kind.name)


def parse_xml(text: str, name: str, expected: str, most_elements: int = MOST_ELEMENTS) -> PlacedElement:
    """Return the root of the document ``text`` of the file ``name``. Raises InputError for other texts."""
    reader = _Reader(name, expected, most_elements)
    try:
        reader.parser.Parse(text, True)
    except expat.ExpatError as error:
        place = f"{name}:{error.lineno}:{error.offset + 1}"
        raise InputError(f"no XML: {expat.ErrorString(error.code)}", place=place, expected=expected) from None
    root: PlacedElement = reader.tree.close()
    return root


class _Reader:
    """The handlers of the parser's events while one document is read."""

    def __init__(self, name: str, expected: str, most_elements: int) -> None:
        self.tree: Any = TreeBuilder(element_factory=PlacedElement)
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self.tree.data
        self.parser.EntityDeclHandler = self._entity
        self.parser.SkippedEntityHandler = self._entity
        self._name = name
        self._expected = expected
        self._most_elements = most_elements
        self._depth = 0
        self._count = 0

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._count += 1
        if self._depth > DEEPEST:
            self._refuse(f"elements are nested deeper than {DEEPEST} levels")
        if self._count > self._most_elements:
            self._refuse(f"there are more than {self._most_elements:,} elements")
        self.tree.start(tag, attributes).line = self.parser.CurrentLineNumber

    def _end(self, tag: str) -> None:
        self._depth -= 1
        self.tree.end(tag)

    def _entity(self, name: str, *_: Any) -> None:
        self._refuse(f"the entity {name!r} is not used here")

    def _refuse(self, problem: str) -> NoReturn:
        raise InputError(problem, place=f"{self._name}:{self.parser.CurrentLineNumber}", expected=self._expected)
