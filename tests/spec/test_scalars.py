from decimal import Decimal

import pytest

from numasim.parts.yaml.nodes import scalar


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


@pytest.mark.parametrize("text", [".nan", ".NaN", ".inf", "-.inf", "+.INF"])
def test_only_finite_numbers(text: str) -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        scalar(text)


@pytest.mark.parametrize("text", ["1e999999999", "1e-61", "9" * 101, "0." + "1" * 99])
def test_numbers_out_of_all_proportion(text: str) -> None:
    with pytest.raises(ValueError, match="out of range"):
        scalar(text)


def test_numbers_at_the_limits() -> None:
    assert scalar("9" * 100) == 10**100 - 1
    assert scalar("1e60") == Decimal(10) ** 60
