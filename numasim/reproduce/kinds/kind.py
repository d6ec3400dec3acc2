"""The interface of a kind of table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

from numasim.parts.base import Model
from numasim.parts.validation import validate
from numasim.parts.yaml.nodes import Node
from numasim.reproduce.plan.planned import PlannedTable
from numasim.reproduce.plan.setting import Setting
from numasim.reproduce.study.contents import Study, StudyTable

M = TypeVar("M", bound=Model)


class NoOptions(Model):
    """The options of a kind without any."""


def _nothing(study: Study, table: StudyTable) -> None:
    """The check of a kind without names in its options."""


@dataclass(frozen=True)
class Kind:
    """How tables of a kind are planned and checked.

    ``options`` is the model of ``with:``. ``units`` are those of the kind's quantities, where they are not quantities
    of single runs; ``by_row`` says that a row's label names a row of the program, unless it is the value of a field.
    ``check`` rejects unknown names in the options.
    """

    plan: Callable[[Setting, StudyTable], PlannedTable]
    check: Callable[[Study, StudyTable], None] = _nothing
    options: type[Model] = NoOptions
    units: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    needs_program: bool = True
    by_row: bool = False


def options(model: type[M], table: StudyTable) -> M:
    """The options of a table. InputError for any mistake in them."""
    return validate(model, table.document.child("with") or Node({}, table.document.place), ("with",))
