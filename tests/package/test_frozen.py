"""Classes derived from `numasim.frozen.Frozen` behave as frozen dataclasses do."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from typing import Any

import pytest

from numasim.frozen import Frozen


class Quick(Frozen):
    """Fields with and without defaults."""

    first: int
    second: list[int] = field(default_factory=list, compare=False)
    third: str = "x"


class Lone(Frozen, eq=False):
    """An object that is equal only to itself."""

    first: int


@dataclass(frozen=True)
class Usual:
    """The same fields in a dataclass."""

    first: int
    second: list[int] = field(default_factory=list, compare=False)
    third: str = "x"


@pytest.mark.parametrize("given", [(1,), (1, [2]), (1, [2], "y")])
def test_objects_are_as_those_of_a_dataclass(given: tuple[Any, ...]) -> None:
    quick, usual = Quick(*given), Usual(*given)
    assert asdict(quick) == asdict(usual)
    assert [each.name for each in fields(quick)] == ["first", "second", "third"]
    assert repr(quick) == repr(usual).replace("Usual", "Quick")
    assert (quick == Quick(*given), hash(quick)) == (True, hash(usual))
    assert replace(quick, third="z") == Quick(given[0], third="z")
    assert copy.deepcopy(quick) == pickle.loads(pickle.dumps(quick)) == quick
    assert (quick == usual, quick == Quick(7)) == (False, False)
    assert quick.second is not Quick(*given[:1]).second


@pytest.mark.parametrize(
    ("given", "named"),
    [((), {}), ((1, [], "y", 2), {}), ((1,), {"first": 1}), ((1,), {"fourth": 2}), ((), {"third": ""})],
)
def test_an_object_has_each_field_once(given: tuple[Any, ...], named: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="Quick takes first, second, third"):
        Quick(*given, **named)


def test_fields_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'first'"):
        Quick(1).first = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'first'"):
        del Quick(1).first


def test_without_eq_an_object_is_equal_only_to_itself() -> None:
    lone = Lone(1)
    assert {lone: 1}[lone] == 1
    assert lone != Lone(1)
