"""XML as a tree of elements that know their line; no entities, bounded nesting and number of elements."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from numasim.errors import InputError
from numasim.files.bounded_text import read_text
from numasim.files.file_kinds import FileKind

DEEPEST = 100
MOST_ELEMENTS = 100_000


class PlacedElement(Element):
    """An element with the ``line`` of the file on which it begins."""

    line = 0

    def children(self, tag: str) -> list[PlacedElement]:
        """The elements of that tag right inside this one."""
        return self.findall(tag)  # type: ignore[return-value]  # the reader makes no others


def read_xml(path: Path, kind: FileKind) -> PlacedElement:
    """The root of the document in ``path``; InputError as for `read_text`, and for what is no XML within the limits."""
    text = read_text(path, kind)
    reader = _Reader(path, kind)
    try:
        reader.parser.Parse(text, True)
    except expat.ExpatError as error:
        place = f"{path}:{error.lineno}:{error.offset + 1}"
        raise InputError(f"no XML: {expat.ErrorString(error.code)}", place=place, expected=kind.name) from None
    root: PlacedElement = reader.tree.close()
    return root


class _Reader:
    """Takes the events of one parse."""

    def __init__(self, path: Path, kind: FileKind) -> None:
        self.tree: Any = TreeBuilder(element_factory=PlacedElement)
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self.tree.data
        self.parser.EntityDeclHandler = self._entity
        self.parser.SkippedEntityHandler = self._entity
        self._path = path
        self._kind = kind
        self._depth = 0
        self._count = 0

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._count += 1
        if self._depth > DEEPEST:
            self._refuse(f"elements are nested deeper than {DEEPEST} levels")
        if self._count > MOST_ELEMENTS:
            self._refuse(f"there are more than {MOST_ELEMENTS:,} elements")
        self.tree.start(tag, attributes).line = self.parser.CurrentLineNumber

    def _end(self, tag: str) -> None:
        self._depth -= 1
        self.tree.end(tag)

    def _entity(self, name: str, *_: Any) -> None:
        self._refuse(f"the entity {name!r} is not used here")

    def _refuse(self, problem: str) -> NoReturn:
        raise InputError(problem, place=f"{self._path}:{self.parser.CurrentLineNumber}", expected=self._kind.name)
