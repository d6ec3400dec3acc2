"""The programs of a study with their rows and variants, and the readings (interpretations) of its paper, as plain data.

Fields of a run are written as in a specification: ``workload: {...}`` replaces a field, ``workload.n: 1024`` changes a
field inside a field. A relative path starts at the working directory. ``workers: cores`` means one worker on each core
of the simulated machine, ``workers: threads`` one on each hardware thread.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from numasim.errors import InputError
from numasim.parts.yaml.document import load
from numasim.parts.yaml.nodes import Node, Place, Source, from_python
from numasim.reproduce.table_cells import ReadingRole
from numasim.spec.overrides import Assignment, from_mapping

Names = tuple[str, ...]
Known = TypeVar("Known")


def looked_up(what: str, name: str, known: Mapping[str, Known]) -> Known:
    """Return ``known[name]``. Raise InputError if ``known`` does not have the name."""
    check_known(what, (name,), known)
    return known[name]


def check_known(what: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raise InputError for the first of ``names`` that is not one of ``known``."""
    for name in names:
        if name not in known:
            raise InputError(f"there is no {what} {name!r}", value=name, known=known)


class Fields(dict[str, Any]):
    """Fields of runs by dotted name."""

    @cached_property
    def assignments(self) -> tuple[Assignment, ...]:
        """Return the fields as assignments, always the same objects, which a `Resolver` recognises."""
        return tuple(from_mapping(self))


NO_FIELDS = Fields()


def listed(names: str | list[str] | Names) -> Names:
    """Return one name, or several names, as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)


@dataclass(frozen=True)
class Program:
    """A run, the rows that tables name, and the variants that a study compares.

    ``exceptions`` has, by variant and row, the fields that override other fields for this row under this variant.
    ``quick`` is the quick form: its ``repeat`` (by default 1), the fields ``set`` that override the program's fields,
    and the rows that the quick form leaves out (``without``).
    """

    name: str
    spec: Mapping[str, Any]
    rows: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    exceptions: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def document(self) -> Node:
        """Return the run without rows and variants, as a YAML document."""
        return from_python(self.spec, Place(Source(f"program {self.name}", Path())))

    @cached_property
    def _fields(self) -> dict[tuple[str, ...], Fields]:
        return {
            ("quick",): Fields(self.quick.get("set", {})),
            **{("row", name): Fields(each) for name, each in self.rows.items()},
            **{("variant", name): Fields(each) for name, each in self.variants.items()},
            **{("exception", of, row): Fields(each) for of, at in self.exceptions.items() for row, each in at.items()},
        }

    def fields(self, *names: str) -> Fields:
        """Return the fields of ``quick``, ``row NAME``, ``variant NAME`` or ``exception VARIANT ROW``, if any."""
        return self._fields.get(names, NO_FIELDS)


def read_programs(folder: Path) -> tuple[Program, ...]:
    """Read the programs in the YAML files of a folder; a file has the name and the fields of a `Program`."""
    return tuple(Program(path.stem, **load(path).plain()) for path in sorted(folder.glob("*.yaml")))


@dataclass(frozen=True)
class Scope:
    """The runs of the listed tables, programs, rows and variants; an empty field excludes no run."""

    tables: Names = ()
    programs: Names = ()
    rows: Names = ()
    variants: Names = ()

    def concerns(self, wanted: Wanted) -> bool:
        """Return whether the runs ``wanted`` are selected."""
        own = (wanted.table, wanted.program.name, wanted.row, wanted.variant)
        asked = (self.tables, self.programs, self.rows, self.variants)
        return all(not names or name in names for name, names in zip(own, asked, strict=True))


@dataclass(frozen=True)
class Answer:
    """An answer to a question: the place of the paper that ``says`` so, and the fields that the answer sets in runs."""

    says: str
    changes: Fields


@dataclass(frozen=True)
class Question:
    """A question that a paper leaves open, and its answers by name. Scores are computed with the answer ``scored``."""

    name: str
    question: str
    role: ReadingRole
    scored: str
    answers: Mapping[str, Answer]
    scope: Scope

    @property
    def others(self) -> Names:
        """Return the names of the answers, except ``scored``, that change runs."""
        scored = self.answers[self.scored].changes
        return tuple(name for name, each in self.answers.items() if name != self.scored and each.changes != scored)


def question(name: str, data: Mapping[str, Any]) -> Question:
    """Return a question from plain data: ``question``, ``role``, ``scored``, ``choices`` and the fields of `Scope`."""
    answers = {key: Answer(each["says"], Fields(each.get("set", {}))) for key, each in data["choices"].items()}
    scope = Scope(*(listed(data.get(part, ())) for part in ("tables", "programs", "rows", "variants")))
    return Question(name, data["question"], ReadingRole(data["role"]), data["scored"], answers, scope)


@dataclass(frozen=True)
class Change:
    """Fields that override the study's fields in the runs of a scope."""

    fields: Fields
    scope: Scope = field(default_factory=Scope)


@dataclass(frozen=True)
class Wanted:
    """The request for the runs of a row under a variant. ``changes`` are fields that a cell of ``table`` sets."""

    program: Program
    row: str = ""  # a row of the program
    variant: str = ""
    changes: tuple[Assignment, ...] = ()
    repeat: int | None = None
    table: str = ""  # "" for runs without a table
