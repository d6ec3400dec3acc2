from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from numasim.errors import InputError
from numasim.parts.yaml.document import parse
from numasim.parts.yaml.nodes import Source
from numasim.spec.overrides import from_mapping, from_text, put_all

BASE = "a: 1\nb: {c: 2, d: [x, {e: 3}]}\n"


def after(*sets: str) -> Any:
    return put_all(parse(BASE, Source("base.yaml", Path())), [from_text(text) for text in sets]).plain()


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        (["a=5"], {"a": 5, "b": {"c": 2, "d": ["x", {"e": 3}]}}),
        (["b.c=2.50"], {"a": 1, "b": {"c": Decimal("2.50"), "d": ["x", {"e": 3}]}}),
        (["b.d[1].e=no"], {"a": 1, "b": {"c": 2, "d": ["x", {"e": "no"}]}}),
        (["b.d.0={f: [1, 2]}"], {"a": 1, "b": {"c": 2, "d": [{"f": [1, 2]}, {"e": 3}]}}),
        (["b=q", "a='1'"], {"a": "1", "b": "q"}),
        (["n.m.o=1", "n.m.p=2"], {"a": 1, "b": {"c": 2, "d": ["x", {"e": 3}]}, "n": {"m": {"o": 1, "p": 2}}}),
        (["a=x=y"], {"a": "x=y", "b": {"c": 2, "d": ["x", {"e": 3}]}}),
    ],
)
def test_set(sets: list[str], expected: dict[str, Any]) -> None:
    assert after(*sets) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a..b=1", "--set a..b=1: 'a..b' is no field"),
        ("a={b: ", "--set a={b: : "),
        ("a.b=1", "--set a.b=1: a: the value is 1, which has no field 'b'; expected a mapping"),
        ("b.d.2=1", "--set b.d.2=1: b.d: there is no entry 2 in a list of 2; expected a number from 0 to 1"),
        ("b.d.e=1", "--set b.d.e=1: b.d: there is no entry 'e' in a list of 2"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        after(text)
    assert str(caught.value).startswith(message)


def test_keyword_arguments() -> None:
    made = from_mapping({"b.c": 7.5, "a": {"x": (1, 2)}})
    node = put_all(parse(BASE, Source("base.yaml", Path())), made)
    assert node.plain() == {"a": {"x": [1, 2]}, "b": {"c": Decimal("7.5"), "d": ["x", {"e": 3}]}}


def test_the_document_itself_is_left_alone() -> None:
    base = parse(BASE, Source("base.yaml", Path()))
    put_all(base, [from_text("b.d[1].e=9"), from_text("z=1")])
    assert base.plain() == parse(BASE, Source("base.yaml", Path())).plain()
