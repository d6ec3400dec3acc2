"""Lists of numbers that bypass the YAML parser are read as the parser would read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numasim.errors import InputError
from numasim.parts.yaml import document
from numasim.parts.yaml.document import MARK, MOST_PARSED, MOST_VALUES, PackedText, items, packed, parse
from numasim.parts.yaml.nodes import Node, Source

HERE = Source("here", Path())
PIECES = ["[1, 2]", "[1,2.50 , -3]", "[ .5, 1e3 ]", "[1]", "[1, x]", "[", "]", ", ", "{", "}", "a", "b: ", ": ", "- ",
          "'", '"', "\n", "\n  ", "\n    ", " ", "# ", "&x ", "*x", "|\n  ", ">\n  ", "\\", "? ", "x", "012",
          "!t "]  # fmt: skip


def tree(node: Node) -> Any:
    """Return the whole contents of a node: values with their places, keys with their places."""
    content: Any = node.content
    if isinstance(content, dict):
        content = [(key, str(node.keys[key]), tree(child)) for key, child in content.items()]
    elif isinstance(content, list):
        content = [tree(child) for child in content]
    return str(node.place), type(node.content), content


def found(text: str) -> Any:
    try:
        return tree(parse(text, HERE))
    except InputError:
        return None


def found_by_the_parser_alone(text: str) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document, "packed", lambda text: PackedText(text, [], []))
        return found(text)


@pytest.mark.parametrize("behind", ["# a comment", "#", "x", ": 3", "'", "&x", "\n", " # a comment", ""])
@pytest.mark.parametrize("before", ["", "a: ", "- "])
def test_what_stands_directly_behind_a_list_is_read_as_by_the_parser_alone(before: str, behind: str) -> None:
    text = f"{before}[1, 2]{behind}"
    assert found(text) == found_by_the_parser_alone(text)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_every_text_is_read_as_by_the_parser_alone(text: str) -> None:
    assert found(text) == found_by_the_parser_alone(text)


@pytest.mark.parametrize(
    "text",
    [
        "a: [1, 2.5, -3]\nb: [[77, 124], [122, 75]]\n",
        "a:\n- [1, 2]\n-   [3, 4]  # [5, 6]\n",
        "a: 'see [1, 2] and\n  [3, 4]'\nb: [5, 6]\n",
        'a: "see [1, 2]\\\n  [3, 4]"\nb: [5, 6]\n',
        "a: see [1, 2] there\n",
        "a: |\n  [1, 2]\n\n   x [3, 4]\nb: >\n  [5, 6]\n  [7, 8]\n",
        "a: &x [1, 2]\nb: *x\nc: &y\n  [3, 4]\n",
        "{a: [1, 2], b: {c: [3, 4]}}\n",
        "[1, 2]\n",
        "- [1-2, 1.2.3, 1e5]\n",
    ],
)
def test_lists_and_texts_with_lists(text: str) -> None:
    assert MARK in packed(text).text
    assert len(packed(text).text) == len(text)
    assert found(text) is not None
    assert found(text) == found_by_the_parser_alone(text)


def test_places_of_items() -> None:
    assert items("[1, 2.5 ,-3]") == [(1, "1"), (4, "2.5"), (9, "-3")]
    assert items("[ 1,2 ]") == [(2, "1"), (4, "2")]
    node = parse("a:\n  - &x [10, 20]\n", HERE).follow(("a", 0))
    assert node is not None
    assert [str(child.place) for child in node.content] == ["here:2:9", "here:2:13"]  # type: ignore[union-attr]


@pytest.mark.parametrize("mark", [MARK, '"\\ue000"', '"\\U0000E000"'])
def test_a_text_with_marks_of_its_own_is_not_packed(mark: str) -> None:
    text = f"a: {mark}\nb: [1, 2]\n"
    assert packed(text).text == text
    assert parse(text, HERE).plain() == {"a": MARK, "b": [1, 2]}


def test_the_matrix_of_a_machine_of_256_nodes_is_read_and_has_few_events(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(f"- [{', '.join(['21'] * 256)}]\n" for _ in range(256))
    taken = []
    take = document._Builder.take
    monkeypatch.setattr(document._Builder, "take", lambda self, event: (taken.append(event), take(self, event)))
    assert parse(f"a:\n{rows}", HERE).plain() == {"a": [[21] * 256] * 256}
    assert len(taken) == 256 + 9  # the rows; begin and end of stream, document, mapping and list, and a key


def test_what_would_take_seconds_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = MOST_PARSED // 2  # a line end and a colon each
    assert len(parse("".join(f"k{i}: 1\n" for i in range(lines)), HERE).mapping()) == lines
    monkeypatch.setattr(document, "YAML", None)  # the parser must not be called
    for text in (
        "\n" * (MOST_PARSED + 1),
        "a: [" + "x," * MOST_PARSED + "]",
        "".join("k: 1\n" for _ in range(lines + 1)),
    ):
        with pytest.raises(InputError, match="more than 30,000 lines, commas and colons outside of lists of numbers"):
            parse(text, HERE)


def test_the_largest_list_of_numbers() -> None:
    assert len(parse(f"[{'1,' * (MOST_VALUES - 2)}1]", HERE).plain()) == MOST_VALUES - 1  # and the list itself
    with pytest.raises(InputError, match="here:1:1: the document has more than 100,000 values"):
        parse(f"[{'1,' * (MOST_VALUES - 1)}1]", HERE)
