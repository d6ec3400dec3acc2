"""YAML documents as trees of nodes (values with their places), with limits against malicious and broken files.

The tree is built from the parser's events with an explicit stack, so that nesting and aliases are bounded while the
document is read. A text that would take seconds to parse is refused first, and lists of numbers on one line bypass the
parser. The dialect is YAML 1.2 without tags: `no` is a text, `012` is twelve.
"""

from __future__ import annotations

import io
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml import events as ev
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import Reader

from numasim.errors import InputError
from numasim.files.reader import YAML as KIND
from numasim.files.reader import read_text
from numasim.frozen import Frozen
from numasim.parts.yaml.nodes import Key, Node, Place, Scalar, Source, scalar

# ---- Plain data as the text of a YAML file; equal contents give equal texts ------------------------------------------
#
# A mapping or list stands on one line unless ``blocks`` has its dotted path; a comment may follow any line.

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_NOT_TEXT = re.compile(r"[-+.0-9].*|true|false|null|yes|no|on|off", re.IGNORECASE)
_SIZE = re.compile(r"\d+[KMGT]?i?B")


def yaml_text(
    document: Mapping[str, Any], *, heading: str = "", blocks: Collection[str] = (), comments: Mapping[str, str] = {}
) -> str:
    """Return ``document`` as YAML below the comment ``heading``; ``blocks`` and ``comments`` name dotted paths."""
    lines = [f"# {line}".rstrip() for line in heading.splitlines()]
    return "\n".join([*lines, *_lines(document, "", "", blocks, comments), ""])


def _lines(
    mapping: Mapping[str, Any], above: str, indent: str, blocks: Collection[str], comments: Mapping[str, str]
) -> Iterator[str]:
    for key, value in mapping.items():
        path = f"{above}{key}"
        remark = f"  # {comments[path]}" if path in comments else ""
        head = f"{indent}{_key(key)}:"
        if path not in blocks:
            yield f"{head} {flow_text(value)}{remark}"
        elif isinstance(value, Mapping):
            yield head + remark
            yield from _lines(value, f"{path}.", indent + "  ", blocks, comments)
        else:
            yield head + remark
            yield from (f"{indent}  - {flow_text(item)}" for item in value)


def flow_text(value: Any) -> str:
    """Return ``value`` as YAML on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)}: {flow_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow_text(item) for item in value) + "]"
    return _scalar(value)


def _key(key: Any) -> str:
    return str(key) if isinstance(key, int) else _scalar(str(key))


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if not isinstance(value, str):
        return str(value)
    plain = _PLAIN.fullmatch(value) and (_SIZE.fullmatch(value) or not _NOT_TEXT.fullmatch(value))
    return value if plain else json.dumps(value, ensure_ascii=False)


# ---- Lists of numbers on one line, taken out of a text before the text is parsed as YAML -----------------------------
#
# The parser takes 30 microseconds for a value, and a machine of 256 nodes has a matrix of 65,536 latencies. Each
# character of a list such as `[77, 124.5]` is therefore replaced by a mark, so that all places in the text stay the
# same and the parser takes the marks for one word. If the list is part of a text, as in quotes, the characters are put
# back. A list that is directly followed by other text, such as a comment, is left to the parser.

MARK = "\ue000"  # a code of Unicode's private use area, which has no characters
_NUMBER = r"[-+]?\.?[0-9][0-9.eE+-]*+"
_NUMBERS = re.compile(rf"(?:(?<=[\s\[,])|^)\[ *+{_NUMBER}(?: *+, *+{_NUMBER})++ *+\](?=[\s,\]}}]|$)")
_MARKS = re.compile(f"{MARK}+")
_OWN_MARK = re.compile(rf"{MARK}|\\u0*e000", re.IGNORECASE)  # the mark itself, or its escape in quotes
_COMMA = re.compile(" *, *")


class PackedText(Frozen):
    """``text`` with marks in place of lists of numbers: ``lists[i]`` began at index ``starts[i]``, ascending."""

    text: str
    starts: list[int]
    lists: list[str]

    def restored(self, value: str, begin: int) -> str:
        """Return ``value``, a text or number that the parser found at index ``begin``, with its lists again."""
        if not self.lists:
            return value
        at = bisect_left(self.starts, begin)

        def lists(marks: re.Match[str]) -> str:
            nonlocal at
            first, left = at, len(marks[0])
            while left > 0:  # a text in quotes may have joined lists of two lines
                left -= len(self.lists[at])
                at += 1
            return "".join(self.lists[first:at])

        return _MARKS.sub(lists, value)


def packed(text: str) -> PackedText:
    """Return ``text`` with marks in place of its lists of numbers, or unchanged if ``text`` contains marks."""
    found = [] if _OWN_MARK.search(text) else list(_NUMBERS.finditer(text))
    if not found:
        return PackedText(text, [], [])
    return PackedText(
        _NUMBERS.sub(lambda match: MARK * len(match[0]), text),
        [match.start() for match in found],
        [match[0] for match in found],
    )


def items(numbers: str) -> list[tuple[int, str]]:
    """Return (index in ``numbers``, text) of each item of a list of numbers."""
    inside = numbers[1:-1]
    first = 1 + len(inside) - len(inside.lstrip(" "))
    found, at = [], first
    for match in _COMMA.finditer(numbers, first, len(numbers) - 1):
        found.append((at, numbers[at : match.start()]))
        at = match.end()
    return [*found, (at, numbers[at:-1].rstrip(" "))]


DEEPEST = 100  # levels of nesting
MOST_VALUES = 100_000  # most values, aliases expanded: the latencies of 316 nodes
MOST_PARSED = 30_000  # the most lines, commas and colons outside of lists of numbers: 50 times those of a shipped file
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")
_TAB = re.compile(r"^ *\t", re.MULTILINE)


def load(path: Path, named_at: Place | None = None) -> Node:
    """Return the document in the file ``path``; ``named_at`` is the place in a document that names ``path``, if any.

    Raises InputError if the file cannot be read, is not YAML 1.2, or exceeds the limits of this module.
    """
    source = Source(str(path), path.parent)
    return parse(read_text(path, KIND, str(named_at) if named_at else None), source)


def _place_at(text: str, index: int, source: Source) -> Place:
    line = text.count("\n", 0, index) + 1
    return Place(source, line, index - text.rfind("\n", 0, index))


def parse(text: str, source: Source) -> Node:
    """Return the document in ``text``. Raises InputError as `load` does."""
    _refuse_characters(text, source)
    rest = packed(text)
    if sum(map(rest.text.count, "\n,:")) > MOST_PARSED:
        problem = f"the document has more than {MOST_PARSED:,} lines, commas and colons outside of lists of numbers"
        raise InputError(problem, place=source.name, expected="a shorter one, or numbers as [1, 2, 3] on one line")
    builder, parser = _Builder(source, rest), YAML(typ="safe", pure=True)
    parser.Reader = _Reader
    try:
        for event in parser.parse(io.StringIO(rest.text)):
            builder.take(event)
    except MarkedYAMLError as error:
        raise _syntax_error(error, text, source) from None
    except (YAMLError, ValueError) as error:
        raise InputError(f"this is no YAML: {error}", place=builder.last, expected="YAML 1.2") from None
    if builder.root is None or builder.root.content is None:
        raise InputError("the document is empty", place=source.name, expected="a mapping of keys to values")
    return builder.root


class _Reader(Reader):
    """The parser's reader without the check of characters, which `parse` has made already."""

    def check_printable(self, data: str) -> None:
        """Accept every character."""


def _refuse_characters(text: str, source: Source) -> None:
    if found := _HALF_A_CHARACTER.search(text):
        raise InputError("this is not text in UTF-8", place=_place_at(text, found.start(), source), expected="UTF-8")
    if found := _CONTROL.search(text):
        code = f"U+{ord(found[0]):04X}"
        place = str(_place_at(text, found.start(), source))
        raise InputError(f"the character {code} shows that this is a binary file", place=place, expected="a YAML file")
    if found := _TAB.search(text):
        raise _tab_error(_place_at(text, found.end() - 1, source))


def _tab_error(place: Place) -> InputError:
    return InputError("a tab may not indent or separate values", place=place, expected="spaces")


def _syntax_error(error: MarkedYAMLError, text: str, source: Source) -> InputError:
    mark = error.problem_mark or error.context_mark
    place = Place(source, mark.line + 1, mark.column + 1) if mark else Place(source)
    problem = str(error.problem or error.context)
    if "'\\t'" in problem:
        return _tab_error(place)
    if mark and mark.index >= len(text.rstrip()):
        problem += " (the text ends too early)"
    return InputError(problem, place=place, expected="YAML 1.2; put texts with special characters in quotes")


@dataclass
class _Value:
    """A value of the document, perhaps an open mapping or list, whose end has not come yet."""

    node: Node
    anchor: str | None = None
    size: int = 1  # values inside, itself included and aliases written out
    height: int = 0  # levels of nesting inside, aliases written out
    key: Key | None = None  # of an open mapping: the key whose value comes next
    key_place: Place | None = None


@dataclass
class _Builder:
    """Builds one tree from parser events; ``open`` are the open mappings and lists, the innermost last."""

    source: Source
    text: PackedText
    root: Node | None = None
    open: list[_Value] = field(default_factory=list)
    anchors: dict[str, _Value] = field(default_factory=dict)
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
        return InputError(problem, place=self.last, expected=expected, **more)

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
            self._add(_Value(Node(content, self.last), event.anchor))

    def _plain(self, text: str, place: Place) -> Scalar:
        try:
            return scalar(text)
        except ValueError as error:
            raise InputError(str(error), place=place, expected="a finite number of moderate size") from None

    def _numbers(self, text: str, event: ev.ScalarEvent) -> None:
        """Take the list of numbers ``text``, for which ``event`` has marks."""
        if event.value.strip(MARK):
            raise self.fail("text follows the list that begins here", "',' or the next line")
        self._refuse_list()
        if text.count(",") + 2 > MOST_VALUES:  # the items and the list itself, counted before they are made
            raise self._too_many()
        line, column = event.end_mark.line + 1, event.end_mark.column - len(text) + 1
        places = [(Place(self.source, line, column + at), number) for at, number in items(text)]
        numbers = [Node(self._plain(number, place), place) for place, number in places]
        self._add(_Value(Node(numbers, self.last), event.anchor, 1 + len(numbers), 1))

    def start(self, event: ev.MappingStartEvent | ev.SequenceStartEvent) -> None:
        """Open a mapping or list."""
        self._refuse_tag(event)
        self._refuse_list()
        empty: Any = {} if isinstance(event, ev.MappingStartEvent) else []
        self.open.append(_Value(Node(empty, self.last), event.anchor))

    def end(self, event: ev.MappingEndEvent | ev.SequenceEndEvent) -> None:
        """Close a mapping or list."""
        self._add(self.open.pop())

    def alias(self, event: ev.AliasEvent) -> None:
        """Insert the value of an anchor once more."""
        if self._wants_key():
            raise self.fail("a key may not be an alias", "a word")
        if event.anchor not in self.anchors:
            inside = any(each.anchor == event.anchor for each in self.open)
            problem = f"the alias *{event.anchor} " + ("stands inside its own anchor" if inside else "has no anchor")
            raise self.fail(problem, "an anchor before it", value=event.anchor, known=self.anchors)
        self._add(self.anchors[event.anchor])

    def _refuse_tag(self, event: Any) -> None:
        if event.tag is not None:
            raise self.fail(f"the tag {event.tag} is not used here", "a plain value, in quotes if it is text")

    def _too_many(self) -> InputError:
        return self.fail(f"the document has more than {MOST_VALUES:,} values, aliases counted out", "fewer aliases")

    def _refuse_list(self) -> None:
        """Refuse a mapping or list that begins in place of a key, or too deep."""
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

    def _add(self, value: _Value) -> None:
        """Put a whole value into the innermost open mapping or list; refuse it if the document gets too large."""
        if value.anchor:
            self.anchors[value.anchor] = value
        if not self.open:
            self.root = value.node
            return
        parent = self.open[-1]
        parent.size += value.size
        parent.height = max(parent.height, value.height + 1)
        if parent.size > MOST_VALUES:
            raise self._too_many()
        if len(self.open) + value.height > DEEPEST:
            raise self._too_deep()
        content: Any = parent.node.content
        if isinstance(content, list):
            content.append(value.node)
            return
        content[parent.key] = value.node
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
