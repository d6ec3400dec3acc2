"""Every field and allowed word of a file that users write or read, and every setting, has a description."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache

import pytest

import numasim
from numasim.parts.base import Model
from numasim.parts.choices import choices_of, words_of

APART = frozenset({"numasim.engine.native._engine", "numasim.__main__"})  # compiled; runs the command


def below(model: type[Model]) -> Iterator[type[Model]]:
    for each in model.__subclasses__():
        yield each
        yield from below(each)


@cache
def models() -> dict[str, type[Model]]:
    """Return all models of the package by name, after an import of every module."""
    for module in pkgutil.walk_packages(numasim.__path__, "numasim."):
        if module.name not in APART:
            importlib.import_module(module.name)
    ours = (each for each in below(Model) if each.__module__.startswith("numasim."))
    return {f"{each.__module__}.{each.__name__}": each for each in ours}


def test_there_are_models_of_every_kind_of_file() -> None:
    names = {name.rpartition(".")[2] for name in models()}
    assert {"MachineSpec", "StrategySpec", "RuntimeSpec", "ModelSpec", "GraphFile", "PartFile"} <= names


def test_every_model_and_every_field_is_described_in_a_sentence() -> None:
    assert [name for name, model in models().items() if not (model.__doc__ or "").strip()] == []
    found = [
        f"{name}.{field}: {info.description!r}"
        for name, model in models().items()
        for field, info in model.model_fields.items()
        if not (info.description or "").endswith(".")
    ]
    assert found == []


def test_every_word_that_a_field_allows_is_described() -> None:
    found = []
    for name, model in models().items():
        for field, info in model.model_fields.items():
            for words, known in words_of(info):
                chooses_the_model = len(words) == 1 and field in ("name", "format")
                if not chooses_the_model and (known is None or list(known.meanings) != list(words)):
                    found.append(f"{name}.{field}: {words}")
    assert found == []


@pytest.mark.parametrize(("field", "word"), [("policy", "hash-home"), ("overflow", "next")])
def test_the_words_of_a_field_are_found_with_their_meanings(field: str, word: str) -> None:
    model = models()["numasim.parts.models.placement_model.PlacementSpec"]
    assert choices_of(model.model_fields[field])[word].endswith(".")
