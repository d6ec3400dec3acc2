"""What the words stand for that a field allows: one line for each, kept beside the type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.fields import FieldInfo


class Choices:
    """The meaning of each word of a `Literal` or enumeration; stands behind it in an ``Annotated``.

    JSON Schemas have the meanings as ``enumDescriptions``, in the order of ``enum``, as editors read them, or as the
    description of a ``const``.
    """

    def __init__(self, meanings: Mapping[str, str]) -> None:
        self.meanings = meanings

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The schema of the words, with their meanings."""
        schema = handler(core_schema)
        if "enum" in schema:
            return {**schema, "enumDescriptions": [self.meanings[word] for word in schema["enum"]]}
        return {**schema, "description": self.meanings[schema["const"]]} if "const" in schema else schema


def choices_of(field: FieldInfo) -> dict[str, str]:
    """All words that a field allows, wherever they stand in its type, with what they mean."""
    return {word: meaning for words, known in words_of(field) for word, meaning in _described(words, known)}


def _described(words: tuple[str, ...], known: Choices | None) -> list[tuple[str, str]]:
    return [(word, known.meanings[word] if known else "") for word in words]


def words_of(field: FieldInfo) -> Iterator[tuple[tuple[str, ...], Choices | None]]:
    """The words of every `Literal` and enumeration in the type of a field, and what says their meanings."""
    yield from _words(field.annotation, field.metadata)


def _words(annotation: Any, metadata: Any) -> Iterator[tuple[tuple[str, ...], Choices | None]]:
    if hasattr(annotation, "__metadata__"):
        yield from _words(annotation.__origin__, annotation.__metadata__)
        return
    values = get_args(annotation) if get_origin(annotation) is Literal else ()
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        values = tuple(member.value for member in annotation)
    if values:
        words = tuple(value for value in values if isinstance(value, str))  # a number says what it is
        if words:
            yield words, next((each for each in metadata if isinstance(each, Choices)), None)
        return
    for argument in get_args(annotation):
        yield from _words(argument, ())
