"""The keys that a mapping inside a specification may have, looked up in the annotations of its models."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel


def known_keys(model: type[BaseModel], path: Sequence[str | int]) -> list[str]:
    """Return the keys that YAML may use in the mapping at ``path`` inside ``model``, over all branches of unions."""
    reached: list[Any] = [model]
    for part in path:
        reached = [inner for annotation in reached for inner in _inside(annotation, part)]
    models = [each for annotation in reached for each in models_of(annotation)]
    return list(dict.fromkeys(name for each in models for name in spelled(each)))


def spelled(model: type[BaseModel]) -> dict[str, Any]:
    """Annotation of every field of ``model`` by the name that YAML uses."""
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def models_of(annotation: Any) -> list[type[BaseModel]]:
    """Return the models among the alternatives of an annotation: its values that are mappings of fields."""
    return [each for each in _branches(annotation) if _is_model(each)]


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _branches(annotation: Any) -> Iterator[Any]:
    """Return the alternatives of a union, without their metadata."""
    if get_origin(annotation) is Annotated:
        yield from _branches(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, types.UnionType):
        for branch in get_args(annotation):
            yield from _branches(branch)
    else:
        yield annotation


def _inside(annotation: Any, part: str | int) -> Iterator[Any]:
    """Return the annotations of the values that may be at ``part`` of a value of ``annotation``."""
    for branch in _branches(annotation):
        if _is_model(branch):
            yield from (inner for name, inner in spelled(branch).items() if name == part)
        elif get_origin(branch) is dict:
            yield get_args(branch)[1]
        else:
            yield from (each for each in get_args(branch) if each is not Ellipsis)
