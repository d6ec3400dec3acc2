"""Elements of XML by their names without namespaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast
from xml.etree.ElementTree import Element

from numasim.files.bounded_xml import PlacedElement


def local(element: Element) -> str:
    """The name of an element without the prefix of its namespace."""
    return element.tag.rpartition(":")[2].rpartition("}")[2]


def inside(element: PlacedElement) -> Iterator[PlacedElement]:
    """The elements right inside of this one."""
    return (cast(PlacedElement, each) for each in element)


def own(element: PlacedElement, name: str) -> Iterator[PlacedElement]:
    """The elements of that name right inside of this one."""
    return (each for each in inside(element) if local(each) == name)
