"""The meanings of the words that a field allows: one line for each word, kept beside the type of the field.

A model is a pydantic class that describes a mapping of a specification. An annotation is the type of a field, often a
union of several forms of a value.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, Discriminator

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.fields import FieldInfo


class Choices:
    """The meaning of each word of a `Literal` or enumeration; a `Choices` stands beside that type in ``Annotated``.

    A JSON Schema has the meanings as ``enumDescriptions``, which editors show, in the order of ``enum``; for a single
    word the meaning is the description of the ``const``.
    """

    def __init__(self, meanings: Mapping[str, str]) -> None:
        self.meanings = meanings

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema of the words, with their meanings."""
        schema = handler(core_schema)
        if "enum" in schema:
            return {**schema, "enumDescriptions": [self.meanings[word] for word in schema["enum"]]}
        return {**schema, "description": self.meanings[schema["const"]]} if "const" in schema else schema


def choices_of(field: FieldInfo) -> dict[str, str]:
    """Return all words that a field allows, anywhere in the field's type, with their meanings."""
    return {word: known.meanings[word] if known else "" for words, known in words_of(field) for word in words}


def words_of(field: FieldInfo) -> Iterator[tuple[tuple[str, ...], Choices | None]]:
    """Yield the words of every `Literal` and enumeration in the type of a field, with their meanings or None."""
    yield from _words(field.annotation, field.metadata)


def _words(annotation: Any, metadata: Any) -> Iterator[tuple[tuple[str, ...], Choices | None]]:
    if hasattr(annotation, "__metadata__"):
        yield from _words(annotation.__origin__, annotation.__metadata__)
        return
    values = get_args(annotation) if get_origin(annotation) is Literal else ()
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        values = tuple(member.value for member in annotation)
    if values:
        words = tuple(value for value in values if isinstance(value, str))  # numbers need no meaning
        if words:
            yield words, next((each for each in metadata if isinstance(each, Choices)), None)
        return
    for argument in get_args(annotation):
        yield from _words(argument, ())


# ---- The keys that a mapping inside a specification may have, by the annotations of the models -----------------------


def known_keys(model: type[BaseModel], path: Sequence[str | int]) -> list[str]:
    """Return the keys that YAML may use in the mapping at ``path`` inside ``model``, over all branches of unions."""
    reached: list[Any] = [model]
    for part in path:
        reached = [inner for annotation in reached for inner in _inside(annotation, part)]
    models = [each for annotation in reached for each in models_of(annotation)]
    return list(dict.fromkeys(name for each in models for name in spelled(each)))


def spelled(model: type[BaseModel]) -> dict[str, Any]:
    """Return the annotation of every field of ``model`` by the name that YAML uses for the field."""
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def needed_shapes(model: type[BaseModel], path: Sequence[str | int]) -> str | None:
    """Return in words which values the field at ``path`` takes, in all forms of its union, if the union's own error
    says so as "... is needed here"; else None.
    """
    reached: list[Any] = [model]
    for part in path[:-1]:
        reached = [inner for annotation in reached for inner in _inside(annotation, part)]
    fields = [each.model_fields.get(str(path[-1])) for annotation in reached for each in models_of(annotation)]
    texts = [text for field in fields if field for text in _own_errors(field.annotation, field.metadata)]
    needed = [re.fullmatch("(.+?),? (?:is|are) needed here", text) for text in texts]
    return next((found[1] for found in needed if found), None)


def _own_errors(annotation: Any, metadata: Iterable[Any]) -> Iterator[str]:
    """Yield the sentences that the unions in an annotation give as errors."""
    yield from (each.custom_error_message or "" for each in metadata if isinstance(each, Discriminator))
    inner = (annotation.__origin__,) if hasattr(annotation, "__metadata__") else get_args(annotation)
    for each in inner:
        yield from _own_errors(each, getattr(annotation, "__metadata__", ()))


def models_of(annotation: Any) -> list[type[BaseModel]]:
    """Return the models among the alternatives of an annotation."""
    return [each for each in _branches(annotation) if _is_model(each)]


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _branches(annotation: Any) -> Iterator[Any]:
    """Yield the alternatives of a union, without their metadata; of any other annotation itself."""
    if get_origin(annotation) is Annotated:
        yield from _branches(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, types.UnionType):
        for branch in get_args(annotation):
            yield from _branches(branch)
    else:
        yield annotation


def _inside(annotation: Any, part: str | int) -> Iterator[Any]:
    """Yield the annotations that a value at the key or index ``part`` of a value of ``annotation`` may have."""
    for branch in _branches(annotation):
        if _is_model(branch):
            yield from (inner for name, inner in spelled(branch).items() if name == part)
        elif get_origin(branch) is dict:
            yield get_args(branch)[1]
        else:
            yield from (each for each in get_args(branch) if each is not Ellipsis)
