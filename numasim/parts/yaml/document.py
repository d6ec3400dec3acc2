"""YAML documents as trees of placed values, with limits against malicious and broken files.

The tree is built from the parser's events with an explicit stack, not by a recursive composer, so that nesting and
aliases are bounded while they are read. The parser takes 30 microseconds for a value: a text for which that would come
to seconds is refused before it is parsed, and lists of numbers on one line do not go through it. The dialect is YAML
1.2 without tags: `no` is a text, `012` is twelve.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml import events as ev
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import Reader

from numasim.errors import InputError
from numasim.files.bounded_text import read_text
from numasim.files.file_kinds import YAML as KIND
from numasim.parts.yaml.nodes import Key, Node, Place, Scalar, Source
from numasim.parts.yaml.packed_numbers import MARK, PackedText, items, packed
from numasim.parts.yaml.scalars import scalar

DEEPEST = 100  # levels of nesting
MOST_VALUES = 100_000  # aliases expanded; the latencies of 316 nodes
MOST_PARSED = 30_000  # lines, commas and colons outside of lists of numbers; fifty times the longest shipped file
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")
_TAB = re.compile(r"^ *\t", re.MULTILINE)


def load(path: Path, named_at: Place | None = None) -> Node:
    """Return the document in the file ``path``; ``named_at`` is the place of the path, if a document gave it.

    InputError when the file cannot be read, is not YAML 1.2, or exceeds the limits of this module.
    """
    source = Source(str(path), path.parent)
    return parse(read_text(path, KIND, str(named_at) if named_at else None), source)


def _place_at(text: str, index: int, source: Source) -> Place:
    line = text.count("\n", 0, index) + 1
    return Place(source, line, index - text.rfind("\n", 0, index))


def parse(text: str, source: Source) -> Node:
    """Return the document in ``text``; InputError as for `load`."""
    _refuse_characters(text, source)
    rest = packed(text)
    if sum(map(rest.text.count, "\n,:")) > MOST_PARSED:
        problem = f"the document has more than {MOST_PARSED:,} lines, commas and colons outside of lists of numbers"
        raise InputError(problem, place=source.name, expected="a shorter one, or numbers as [1, 2, 3] on one line")
    builder = _Builder(source, rest)
    try:
        for event in _parser().parse(io.StringIO(rest.text)):
            builder.take(event)
    except MarkedYAMLError as error:
        raise _syntax_error(error, text, source) from None
    except (YAMLError, ValueError) as error:
        raise InputError(f"this is no YAML: {error}", place=str(builder.last), expected="YAML 1.2") from None
    if builder.root is None or builder.root.content is None:
        raise InputError("the document is empty", place=source.name, expected="a mapping of keys to values")
    return builder.root


class _Reader(Reader):
    """The parser's reader without its pattern of allowed characters, which are looked at before (`parse`)."""

    def check_printable(self, data: str) -> None:
        """Take every character."""


def _parser() -> YAML:
    parser = YAML(typ="safe", pure=True)
    parser.Reader = _Reader
    return parser


def _refuse_characters(text: str, source: Source) -> None:
    if found := _HALF_A_CHARACTER.search(text):
        raise InputError(
            "this is not text in UTF-8", place=str(_place_at(text, found.start(), source)), expected="UTF-8"
        )
    if found := _CONTROL.search(text):
        code = f"U+{ord(found[0]):04X}"
        place = str(_place_at(text, found.start(), source))
        raise InputError(f"the character {code} shows that this is a binary file", place=place, expected="a YAML file")
    if found := _TAB.search(text):
        raise _tab_error(_place_at(text, found.end() - 1, source))


def _tab_error(place: Place) -> InputError:
    return InputError("a tab may not indent or separate values", place=str(place), expected="spaces")


def _syntax_error(error: MarkedYAMLError, text: str, source: Source) -> InputError:
    mark = error.problem_mark or error.context_mark
    place = Place(source, mark.line + 1, mark.column + 1) if mark else Place(source)
    problem = str(error.problem or error.context)
    if "'\\t'" in problem:
        return _tab_error(place)
    if mark and mark.index >= len(text.rstrip()):
        problem += " (the text ends too early)"
    return InputError(problem, place=str(place), expected="YAML 1.2; put texts with special characters in quotes")


@dataclass
class _Open:
    """A mapping or list whose end has not been read yet."""

    node: Node
    anchor: str | None
    size: int = 1
    height: int = 0
    key: Key | None = None
    key_place: Place | None = None


@dataclass(frozen=True)
class _Anchored:
    node: Node
    size: int
    height: int


@dataclass
class _Builder:
    """Builds one tree from parser events."""

    source: Source
    text: PackedText
    root: Node | None = None
    open: list[_Open] = field(default_factory=list)
    anchors: dict[str, _Anchored] = field(default_factory=dict)
    last: Place = field(init=False)

    def __post_init__(self) -> None:
        self.last = Place(self.source)

    def take(self, event: Any) -> None:
        """Process one event."""
        if event.start_mark is not None:
            self.last = Place(self.source, event.start_mark.line + 1, event.start_mark.column + 1)
        handler = _HANDLERS.get(type(event))
        if handler:
            handler(self, event)

    def fail(self, problem: str, expected: str, **more: Any) -> InputError:
        """Return an error at the event that is being processed."""
        return InputError(problem, place=str(self.last), expected=expected, **more)

    def document(self, event: ev.DocumentStartEvent) -> None:
        """Refuse a second document."""
        if self.root is not None:
            raise self.fail("a second document begins here", "one document a file")

    def scalar(self, event: ev.ScalarEvent) -> None:
        """Take a key or a scalar value."""
        self._refuse_tag(event)
        text = self.text.restored(event.value, event.start_mark.index) if MARK in event.value else event.value
        if event.style is None and event.value.startswith(MARK) and text != event.value:
            self._numbers(text, event)
            return
        if _HALF_A_CHARACTER.search(text):
            raise self.fail("this text has half a surrogate pair", "both halves, or the character itself")
        content = self._plain(text, self.last) if event.style is None else text
        if self._wants_key():
            self._key(content if type(content) is int else text)
        else:
            self._add(_Anchored(Node(content, self.last), 1, 0), event.anchor)

    def _plain(self, text: str, place: Place) -> Scalar:
        try:
            return scalar(text)
        except ValueError as error:
            raise InputError(str(error), place=str(place), expected="a finite number of moderate size") from None

    def _numbers(self, text: str, event: ev.ScalarEvent) -> None:
        """Take a list of numbers, of which ``event`` has the marks."""
        if event.value.strip(MARK):
            raise self.fail("text follows the list that begins here", "',' or the next line")
        self._refuse_list()
        if text.count(",") + 2 > MOST_VALUES:  # before they are made: the items, and the list itself
            raise self._too_many()
        line, column = event.end_mark.line + 1, event.end_mark.column - len(text) + 1
        places = [(Place(self.source, line, column + at), number) for at, number in items(text)]
        numbers = [Node(self._plain(number, place), place) for place, number in places]
        self._add(_Anchored(Node(numbers, self.last), 1 + len(numbers), 1), event.anchor)

    def start(self, event: ev.MappingStartEvent | ev.SequenceStartEvent) -> None:
        """Open a mapping or list."""
        self._refuse_tag(event)
        self._refuse_list()
        empty: Any = {} if isinstance(event, ev.MappingStartEvent) else []
        self.open.append(_Open(Node(empty, self.last), event.anchor))

    def end(self, event: ev.MappingEndEvent | ev.SequenceEndEvent) -> None:
        """Close a mapping or list."""
        done = self.open.pop()
        self._add(_Anchored(done.node, done.size, done.height), done.anchor)

    def alias(self, event: ev.AliasEvent) -> None:
        """Insert the value of an anchor once more."""
        if self._wants_key():
            raise self.fail("a key may not be an alias", "a word")
        if event.anchor not in self.anchors:
            inside = any(each.anchor == event.anchor for each in self.open)
            problem = f"the alias *{event.anchor} " + ("stands inside its own anchor" if inside else "has no anchor")
            raise self.fail(problem, "an anchor before it", value=event.anchor, known=self.anchors)
        self._add(self.anchors[event.anchor], None)

    def _refuse_tag(self, event: Any) -> None:
        if event.tag is not None:
            raise self.fail(f"the tag {event.tag} is not used here", "a plain value, in quotes if it is text")

    def _too_many(self) -> InputError:
        return self.fail(f"the document has more than {MOST_VALUES:,} values, aliases counted out", "fewer aliases")

    def _refuse_list(self) -> None:
        """Refuse a mapping or list where none may begin."""
        if self._wants_key():
            raise self.fail("a key may not be a mapping or list", "a word")
        if len(self.open) >= DEEPEST:
            raise self._too_deep()

    def _too_deep(self) -> InputError:
        return self.fail(f"values are nested deeper than {DEEPEST} levels", "a flatter document")

    def _wants_key(self) -> bool:
        return bool(self.open) and isinstance(self.open[-1].node.content, dict) and self.open[-1].key is None

    def _key(self, key: Key) -> None:
        mapping = self.open[-1]
        if key in mapping.node.keys:
            first = mapping.node.keys[key]
            raise self.fail(f"the key {str(key)!r} stands here twice, first in line {first.line}", "each key once")
        mapping.key, mapping.key_place = key, self.last

    def _add(self, value: _Anchored, anchor: str | None) -> None:
        if anchor:
            self.anchors[anchor] = value
        if value.size > MOST_VALUES:
            raise self._too_many()
        if not self.open:
            self.root = value.node
            return
        self._grow(self.open[-1], value)
        self._insert(self.open[-1], value.node)

    def _grow(self, parent: _Open, value: _Anchored) -> None:
        parent.size += value.size
        parent.height = max(parent.height, value.height + 1)
        if parent.size > MOST_VALUES:
            raise self._too_many()
        if len(self.open) + value.height > DEEPEST:
            raise self._too_deep()

    @staticmethod
    def _insert(parent: _Open, node: Node) -> None:
        content: Any = parent.node.content
        if isinstance(content, list):
            content.append(node)
            return
        content[parent.key] = node
        parent.node.keys[parent.key] = parent.key_place  # type: ignore[index]
        parent.key = None


_HANDLERS: dict[type, Callable[[_Builder, Any], None]] = {
    ev.DocumentStartEvent: _Builder.document,
    ev.ScalarEvent: _Builder.scalar,
    ev.MappingStartEvent: _Builder.start,
    ev.SequenceStartEvent: _Builder.start,
    ev.MappingEndEvent: _Builder.end,
    ev.SequenceEndEvent: _Builder.end,
    ev.AliasEvent: _Builder.alias,
}
