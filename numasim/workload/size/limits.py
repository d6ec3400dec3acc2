"""Refusing parameters of programs that are too large, with the largest value that would fit."""

from bisect import bisect_left
from collections.abc import Callable, Collection
from decimal import Decimal
from typing import ClassVar, Literal, NamedTuple, Self, cast, get_origin

from annotated_types import Ge
from pydantic import Field, model_validator

from numasim.parts.base import Model
from numasim.parts.unit_factors import PS_PER_NS
from numasim.workload.size.totals import NOTHING, Totals, excess

Excess = Callable[[Totals], str | None]  # the part of a sentence that says which number of a program does not fit


class SizedParameters(Model):
    """Parameters with the totals of what they describe; parameters whose totals are too large are refused.

    ``powers_of_two`` names the parameters that are powers of two.
    """

    powers_of_two: ClassVar[tuple[str, ...]] = ()
    name: str = Field(description="The name of what the parameters describe.")

    def totals(self) -> Totals:
        """Return the totals of the program, which are upper bounds if they depend on draws.

        The totals of a drawn tree are lower bounds. Totals grow with every size and every time.
        """
        return NOTHING

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if found := refusal(self, excess, self.model_fields_set):
            raise ValueError(str(found))
        return self


class Refusal(NamedTuple):
    """Why parameters are refused, and the key with a value that is too large; None if no single key is the reason."""

    key: str | None
    sentence: str

    def __str__(self) -> str:
        """Return the sentence behind its key, which leads to the place in a document."""
        return f"{self.key}: {self.sentence}" if self.key else self.sentence


def refusal(parameters: SizedParameters, problem_of: Excess, given: Collection[str]) -> Refusal | None:
    """Return why ``parameters`` are refused; None if everything fits.

    The refusal has the largest fitting value of the first key that has such a value; keys that were ``given`` are tried
    before the other keys.
    """
    problem = problem_of(parameters.totals())
    if problem is None:
        return None
    keys = sorted(type(parameters).model_fields, key=lambda key: key not in given)
    for key in keys:
        most = largest(parameters, key, problem_of)
        if most is not None:
            return Refusal(key, f"{_plain(getattr(parameters, key))} {problem}; expected at most {_plain(most)}")
    return Refusal(None, f"this {parameters.name} {problem}; expected a smaller program")


def largest(parameters: SizedParameters, key: str, problem_of: Excess) -> int | Decimal | None:
    """Return the largest smaller value of ``key`` with which the program fits; None if there is none, or no number.

    Totals grow with each size and time: bisection finds the value among numbered values in ascending order.
    """
    value, field = getattr(parameters, key), type(parameters).model_fields[key]
    if not isinstance(value, int | Decimal) or get_origin(field.annotation) is Literal:
        return None
    least = next((cast(int, each.ge) for each in field.metadata if isinstance(each, Ge)), 1)
    numbers, value_of = range(least, int(value)), cast(Callable[[int], int | Decimal], int)
    if isinstance(value, Decimal):
        numbers, value_of = range(int(value * PS_PER_NS)), lambda number: Decimal(number) / PS_PER_NS
    elif key in parameters.powers_of_two:
        numbers, value_of = range(1, value.bit_length() - 1), lambda number: 1 << number

    def exceeds(number: int) -> bool:
        return problem_of(parameters.model_copy(update={key: value_of(number)}).totals()) is not None

    fitting = bisect_left(numbers, True, key=exceeds)
    return value_of(numbers[fitting - 1]) if fitting else None


def _plain(number: int | Decimal) -> str:
    return str(number) if isinstance(number, int) else f"{number.normalize():f}"
