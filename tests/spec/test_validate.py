from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, Tag, model_validator

from numasim.errors import InputError
from numasim.parts.base import Bytes, Model, Nanoseconds, PositiveCount, by_shape
from numasim.parts.choices import known_keys
from numasim.parts.validation import validate
from numasim.parts.yaml.document import parse
from numasim.parts.yaml.nodes import Source


class Count(Model):
    count: PositiveCount


class Share(Model):
    share: PositiveCount
    rounded: Literal["up", "down"] = "up"


class Level(Model):
    source: Literal["own", "others"] = Field(alias="from")
    amount: Literal["one", "half"] | Count | Share = "one"
    limit: (
        Annotated[
            Annotated[Literal["none"], Tag("text")] | Annotated[PositiveCount, Tag("number")],
            by_shape("a number, or none, is needed here"),
        ]
        | None
    ) = None


class Plan(Model):
    size: Bytes = 0
    wait_ns: Nanoseconds = Decimal(0)
    steal: tuple[Level, ...]
    named: dict[str, Share] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _few(self) -> "Plan":
        if len(self.steal) == 3:
            raise ValueError("steal[2].from: a third level is never reached")
        if len(self.steal) == 4:
            raise InputError("four levels are too many", path=("steal", 3), expected="at most two")
        if len(self.steal) > 4:
            raise ValueError("nobody steals so often")
        return self


def message(text: str) -> str:
    with pytest.raises(InputError) as caught:
        validate(Plan, parse(text, Source("p.yaml", Path())), ("strategy",))
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("size: 1\n", "p.yaml:1:1: strategy.steal: this field is missing; expected a value for it"),
        (
            "stael: []\n",
            "p.yaml:1:1: strategy: there is no field 'stael' here; expected one of size, wait_ns, steal, "
            "named; did you mean 'steal'?",
        ),
        ("steal: 3\n", "p.yaml:1:8: strategy.steal: got 3; expected a list"),
        ("steal: [own]\n", "p.yaml:1:9: strategy.steal[0]: got 'own'; expected a mapping"),
        (
            "steal: [{from: othres}]\n",
            "p.yaml:1:16: strategy.steal[0].from: got 'othres'; expected 'own' or 'others'; did you mean 'others'?",
        ),
        ("steal: []\nwait_ns: -1\n", "p.yaml:2:10: strategy.wait_ns: got -1; expected at least 0"),
        ("steal: []\nwait_ns: soon\n", "p.yaml:2:10: strategy.wait_ns: a number is needed here, got 'soon'"),
        (
            "steal: []\nwait_ns: 0.0001\n",
            "p.yaml:2:10: strategy.wait_ns: a time is given to whole picoseconds, that is "
            "at most three decimals of a nanosecond, got 0.0001",
        ),
        (
            "steal: []\nsize: 3kB\n",
            "p.yaml:2:7: strategy.size: a size is a whole number of bytes or a text such as 32KiB, "
            "15MiB, 16GiB, got '3kB'",
        ),
        (
            "steal: [{from: own, amount: hlaf}]\n",
            "p.yaml:1:29: strategy.steal[0].amount: got 'hlaf'; expected 'one' or 'half'; did you mean 'half'?",
        ),
        (
            "steal: [{from: own, amount: {cuont: 2}}]\n",
            "p.yaml:1:30: strategy.steal[0].amount: there is no field 'cuont' "
            "here; expected one of count, share, rounded; did you mean 'count'?",
        ),
        (
            "steal: [{from: own, amount: {count: 0}}]\n",
            "p.yaml:1:37: strategy.steal[0].amount.count: got 0; expected at least 1",
        ),
        (
            "steal: [{from: own, limit: noen}]\n",
            "p.yaml:1:28: strategy.steal[0].limit: got 'noen'; expected a number, or none; did you mean 'none'?",
        ),
        ("steal: [{from: own, limit: 0}]\n", "p.yaml:1:28: strategy.steal[0].limit: got 0; expected at least 1"),
        (
            "steal: []\nnamed: {a: {share: x}}\n",
            "p.yaml:2:20: strategy.named.a.share: a whole number is needed here, got 'x'",
        ),
        ("named: {a: {share: x}}\nsteal: [{from: x}]\n", "p.yaml:1:20: strategy.named.a.share: "),
        ("steal: [{from: x}]\nnamed: {a: {share: x}}\n", "p.yaml:1:16: strategy.steal[0].from: "),
        (
            "steal: [{from: own}, {from: own}, {from: own}]\n",
            "p.yaml:1:42: strategy.steal[2].from: a third level is never reached",
        ),
        (
            "steal: [{from: own}, {from: own}, {from: own}, {from: own}]\n",
            "p.yaml:1:48: strategy.steal[3]: four levels are too many; expected at most two",
        ),
        (
            "steal: [{from: own}, {from: own}, {from: own}, {from: own}, {from: own}]\n",
            "p.yaml:1:1: strategy: nobody steals so often",
        ),
    ],
)
def test_place_field_value_and_remedy(text: str, expected: str) -> None:
    assert message(text).startswith(expected)


def test_a_correct_document_is_the_model() -> None:
    text = "steal: [{from: own, amount: {share: 2}, limit: none}]\nsize: 2KiB\nwait_ns: 77.3\n"
    plan = validate(Plan, parse(text, Source("p.yaml", Path())))
    level: dict[str, Any] = {"from": "own", "amount": {"share": 2}, "limit": "none"}
    assert plan == Plan(steal=(Level(**level),), size=2048, wait_ns=Decimal("77.3"))


def test_keys_inside_unions_lists_and_mappings() -> None:
    assert known_keys(Plan, ()) == ["size", "wait_ns", "steal", "named"]
    assert known_keys(Plan, ("steal", 4)) == ["from", "amount", "limit"]
    assert known_keys(Plan, ("steal", 0, "amount")) == ["count", "share", "rounded"]
    assert known_keys(Plan, ("named", "x")) == ["share", "rounded"]
    assert known_keys(Plan, ("size",)) == []
