import json
import os
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numasim.errors import InputError
from numasim.parts.yaml import document
from numasim.parts.yaml.document import DEEPEST, MARK, MOST_PARSED, MOST_VALUES, PackedText, items, load, packed, parse
from numasim.parts.yaml.nodes import Node, Source, from_python, scalar

HERE = Source("here.yaml", Path())
WORDS = st.text(st.characters(categories=["L", "N", "P", "S"], include_characters=" "), max_size=8)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


def refusal(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse(text, HERE)
    return str(caught.value)


@settings(max_examples=50)
@given(st.dictionaries(WORDS, DATA, min_size=1))
def test_json_is_yaml(data: dict[str, object]) -> None:
    assert parse(json.dumps(data, ensure_ascii=False), HERE).plain() == data


@given(st.text(st.sampled_from("ab:-[]{}#&*!|>'\"%@`,?~ \n\t01.\\<"), max_size=30))
def test_every_text_is_a_tree_or_a_placed_refusal(text: str) -> None:
    assert outcome(lambda: parse(text, HERE)).startswith(("tree", "here.yaml"))


@given(st.binary(max_size=40))
def test_every_file_is_a_tree_or_a_placed_refusal(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(data)
    assert outcome(lambda: load(path)).startswith(("tree", str(path)))


def outcome(read: Callable[[], Node]) -> str:
    try:
        node = read()
    except InputError as error:
        return str(error)
    return "tree" if node.content is not None else "nothing"


def test_places_of_keys_and_values() -> None:
    node = parse("a: 1\nbb:\n  - x\n  - {c: 2.50,\n     d: [3, ~]}\n", HERE)
    assert node.plain() == {"a": 1, "bb": ["x", {"c": Decimal("2.50"), "d": [3, None]}]}
    assert str(node.keys["bb"]) == "here.yaml:2:1"
    inner = node.follow(("bb", 1))
    assert inner is not None
    assert [str(inner.place), str(inner.keys["d"])] == ["here.yaml:4:5", "here.yaml:5:6"]
    value = node.follow(("bb", 1, "d", 0))
    assert value is not None
    assert str(value.place) == "here.yaml:5:10"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a: '1'\nb: \"true\"\nc: |\n  null\n", {"a": "1", "b": "true", "c": "null\n"}),
        ("{1: a, 0x2: b, 1.5: c, true: d, '3': e}", {1: "a", 2: "b", "1.5": "c", "true": "d", "3": "e"}),
        ("a: &x [1, 2]\nb: *x\nc: {d: *x}\n", {"a": [1, 2], "b": [1, 2], "c": {"d": [1, 2]}}),
    ],
)
def test_quoted_texts_keys_and_aliases(text: str, plain: dict[object, object]) -> None:
    assert parse(text, HERE).plain() == plain


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{1: a, 0x1: b}", "here.yaml:1:8: the key '1' stands here twice"),
        (
            "one: &first 1\na: *frist\n",
            "here.yaml:2:4: the alias *frist has no anchor; expected an anchor before it; did you mean 'first'?",
        ),
        ("a:\tb\n", "here.yaml:1:3: a tab may not indent or separate values"),
        ("a: &x k\n*x : 2\n", "here.yaml:2:1: a key may not be an alias"),
        ("a: b: c\n", "here.yaml:1:5: mapping values are not allowed here"),
        ("", "here.yaml: the document is empty"),
        ("# only a comment\n", "here.yaml: the document is empty"),
        ("---\n...\n", "here.yaml: the document is empty"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    assert message in refusal(text)


def test_the_deepest_document_in_which_aliases_do_not_hide_depth() -> None:
    assert isinstance(parse("[" * DEEPEST + "]" * DEEPEST, HERE), Node)
    assert "nested deeper" in refusal("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1))
    half = "[" * 60 + "]" * 60
    assert "here.yaml:2:" in refusal(f"a: &x {half}\nb: {'[' * 60}*x{']' * 60}\n")


def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret.yaml").write_text("a: 1")
    refuse = Mock(side_effect=PermissionError(13, "Permission denied"))
    monkeypatch.setattr("numasim.files.reader.os.open", refuse)
    with pytest.raises(InputError, match=r"cannot read .*secret.yaml.*Permission denied"):
        load(tmp_path / "secret.yaml")


def test_a_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "dos.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb:\r\n  c: 2\r\n")
    node = load(path)
    assert node.plain() == {"a": 1, "b": {"c": 2}}
    assert str(node.keys["b"]).endswith("dos.yaml:2:1")


def test_python_data_becomes_exact_decimals() -> None:
    node = from_python({"a": 77.3, 1: (True, None, Path("x") / "y")}, parse("a: 1", HERE).place)
    assert node.plain() == {"a": Decimal("77.3"), 1: [True, None, os.path.join("x", "y")]}
    with pytest.raises(InputError, match="a value of type object"):
        from_python({"a": object()}, node.place)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-7", -7),
        ("+7", 7),
        ("012", 12),  # decimal in YAML 1.2, octal in 1.1
        ("0o14", 12),
        ("0xfF", 255),
        ("77.3", Decimal("77.3")),
        ("1e3", Decimal("1e3")),
        (".5", Decimal("0.5")),
        ("5.", Decimal(5)),
        ("-2.5E-3", Decimal("-0.0025")),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("", None),
        ("null", None),
        ("no", "no"),  # false in YAML 1.1
        ("yes", "yes"),
        ("on", "on"),
        ("12:30", "12:30"),  # 750 in YAML 1.1
        ("1_000", "1_000"),  # 1000 in YAML 1.1
        ("0b11", "0b11"),
        ("0o9", "0o9"),
        ("nan", "nan"),
        ("inf", "inf"),
        ("1e", "1e"),
        ("2001-01-01", "2001-01-01"),
        ("15MiB", "15MiB"),
        (".", "."),
        ("-", "-"),
    ],
)
def test_the_core_schema_of_yaml_1_2(text: str, value: object) -> None:
    assert scalar(text) == value
    assert type(scalar(text)) is type(value)


def test_only_finite_numbers_within_limits() -> None:
    for text in (".nan", ".NaN", ".inf", "-.inf", "+.INF"):
        with pytest.raises(ValueError, match="not a finite number"):
            scalar(text)
    for text in ("1e999999999", "1e-61", "9" * 101, "0." + "1" * 99):
        with pytest.raises(ValueError, match="out of range"):
            scalar(text)
    assert scalar("9" * 100) == 10**100 - 1
    assert scalar("1e60") == Decimal(10) ** 60


# ---- lists of numbers that bypass the parser are read as the parser would read them ----

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
    assert [str(child.place) for child in node.content] == ["here.yaml:2:9", "here.yaml:2:13"]  # type: ignore[union-attr]


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
    lines = MOST_PARSED // 2  # each line has a colon and a line end, which both count
    assert len(parse("".join(f"k{i}: 1\n" for i in range(lines)), HERE).mapping()) == lines
    monkeypatch.setattr(document, "YAML", None)  # the parser must not be called
    for text in ("\n" * (MOST_PARSED + 1), "a: [" + "x," * MOST_PARSED + "]", "k: 1\n" * (lines + 1)):
        with pytest.raises(InputError, match="more than 30,000 lines, commas and colons outside of lists of numbers"):
            parse(text, HERE)


def test_the_largest_list_of_numbers() -> None:
    assert len(parse(f"[{'1,' * (MOST_VALUES - 2)}1]", HERE).plain()) == MOST_VALUES - 1  # and the list itself
    with pytest.raises(InputError, match=r"here.yaml:1:1: the document has more than 100,000 values"):
        parse(f"[{'1,' * (MOST_VALUES - 1)}1]", HERE)
