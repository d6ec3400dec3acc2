"""Values of the parameters of every workload family (generator of programs), from the parameters' pydantic models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Annotated, Any, Literal, get_args, get_origin

import annotated_types
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from numasim.errors import InputError
from numasim.workload.parameters import Family, WorkloadParameters
from numasim.workload.registry import FAMILIES, workload_spec

SMALL_NUMBERS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32)
BEYOND_ALL = 2**62  # for numbers without bounds


def keys_of(family: Family) -> dict[str, FieldInfo]:
    """Return the parameters of ``family`` by the names in specifications."""
    fields = family.parameters.model_fields
    return {field.alias or name: field for name, field in fields.items() if name != "name"}


def names_of(field: FieldInfo) -> tuple[Any, ...]:
    """Return the allowed words or numbers of a parameter; empty if any number is allowed."""
    return tuple(_literals(field.annotation))


def _literals(annotation: Any) -> Iterator[Any]:
    if annotation is bool:
        yield from (False, True)
    elif get_origin(annotation) is Literal:
        yield from get_args(annotation)
    else:
        for inner in get_args(annotation):
            yield from _literals(inner)


def most_of(field: FieldInfo) -> int:
    """Return the largest number that the parameter's model allows; `BEYOND_ALL` without a bound."""
    bounds = list(_bounds(field.metadata)) + list(_bounds_of(field.annotation))
    return min(bounds, default=BEYOND_ALL)


def _bounds(metadata: Any) -> Iterator[int]:
    for each in metadata:
        if isinstance(each, annotated_types.Le):
            yield int(each.le)  # type: ignore[call-overload]
        elif isinstance(each, annotated_types.Lt):
            yield int(each.lt) - 1  # type: ignore[call-overload]
        yield from _bounds(getattr(each, "metadata", ()))


def _bounds_of(annotation: Any) -> Iterator[int]:
    if get_origin(annotation) is Annotated:
        yield from _bounds(annotation.__metadata__)
    for inner in get_args(annotation):
        yield from _bounds_of(inner)


def values_of(field: FieldInfo) -> tuple[Any, ...]:
    """Return the allowed words of a parameter, or small numbers, the largest allowed number and a larger number."""
    most = most_of(field)
    return names_of(field) or (*SMALL_NUMBERS, most // 2, most, most + 1)


def every_value() -> Iterator[tuple[str, str, Any]]:
    """Yield each (family, parameter, value)."""
    for name, family in FAMILIES.items():
        for key, field in keys_of(family).items():
            for value in values_of(field):
                yield name, key, value


def with_value(name: str, key: str, value: Any) -> list[Mapping[str, Any]]:
    """Return small parameters in which ``key`` is ``value``, for each combination of words of required ones."""
    family = FAMILIES[name]
    fields = keys_of(family)
    required = {each: family.small[each] for each, field in fields.items() if field.is_required()}
    words = {each: names_of(field) for each, field in fields.items() if each != key and names_of(field)}
    combinations = (dict(zip(words, chosen, strict=True)) for chosen in product(*words.values()))
    return [{**family.small, key: value}, *({**required, **each, key: value} for each in combinations)]


def accepted(name: str, parameters: Mapping[str, Any]) -> WorkloadParameters | str:
    """Return the checked parameters, or the message of the error."""
    try:
        return workload_spec(name, **parameters)
    except (ValidationError, InputError) as refused:
        return str(refused)
