"""Tables of claims: sentences of a source that order runs, each of which holds in a simulation or does not.

A source without numbers still says which of its programs or strategies is fastest. A claim is about one quantity of the
runs of one row of a program under several variants: those of ``least`` have less of it than those of ``most``, at least
``times`` less; those of ``alike`` lie within a share ``within`` of each other; or those of ``of`` stay ``below`` a
number. With each seed a claim holds or not, so that a cell is the share of the seeds with which it does.

Null model: a random order of the variants, of which ``least`` come before ``most`` with the probability
a! b! / (a + b)!. Claims of the other two forms have none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from numasim.parts.base import CheckedModel, Fraction, Model
from numasim.reproduce.kinds.kind import Kind
from numasim.reproduce.plan.planned import PlannedTable, cells_of, joined, table_of, value
from numasim.reproduce.plan.setting import NotSimulatedError, Setting, Wanted
from numasim.reproduce.published_quantities import QUANTITIES
from numasim.reproduce.study.contents import Study, StudyTable
from numasim.reproduce.study.names import check_names
from numasim.reproduce.study.study_files import Names, Text
from numasim.reproduce.table_cells import Cell
from numasim.sweep.collection import Collected
from numasim.sweep.planned_runs import PlannedRun

HOLDS = "holds"
UNITS = {HOLDS: "1"}
FORMS = ("least", "alike", "of")  # the key by which each form of a claim is told


class ClaimSpec(CheckedModel):
    """What a claim says of the runs of ``row`` of the program."""

    quantity: Text = Field(description="The quantity that is compared.")
    row: Text = Field(description="The row of the program.")
    least: Names = Field((), description="Variants that have less of the quantity than those of most.")
    most: Names = Field((), description="Variants that have more of the quantity than those of least.")
    times: Annotated[float, Field(ge=1)] = Field(1.0, description="How many times less, at least.")
    alike: Names = Field((), description="Variants that have about as much of the quantity.")
    within: Fraction | None = Field(None, description="The share of the least by which those of alike differ at most.")
    of: Names = Field((), description="Variants that stay below a number.")
    below: float | None = Field(None, description="That number.")

    def _problems(self) -> Iterator[str]:
        given = [form for form in FORMS if getattr(self, form)]
        if len(given) != 1:
            yield "a claim has least and most, alike and within, or of and below"
        elif given == ["least"] and not self.most:
            yield "least needs most, the variants that have more"
        elif given == ["alike"] and (self.within is None or len(self.alike) < 2):
            yield "alike needs two variants or more, and within, by how much they may differ"
        elif given == ["of"] and self.below is None:
            yield "of needs below, the number below which they stay"

    @property
    def variants(self) -> tuple[str, ...]:
        """All variants that it is about."""
        return (*self.least, *self.most, *self.alike, *self.of)

    @property
    def by_chance(self) -> float | None:
        """The probability with which a random order of its variants fulfils it; None where it is about sizes."""
        return 1 / math.comb(len(self.least) + len(self.most), len(self.least)) if self.least else None

    def holds(self, values: Mapping[str, float]) -> bool:
        """Whether these values, by variant, fulfil it."""
        if self.least:
            return max(values[each] for each in self.least) * self.times < min(values[each] for each in self.most)
        if self.alike:
            alike = [values[each] for each in self.alike]
            return max(alike) <= min(alike) * (1 + float(self.within or 0))
        return all(values[each] < float(self.below or 0) for each in self.of)


class ClaimsOptions(Model):
    """``claims``: what each label of the rows says."""

    claims: dict[str, ClaimSpec] = Field(description="What each label of the rows says of the runs.")


@dataclass(frozen=True)
class PlannedClaim:
    """A cell, the claim, and the runs of each variant, one for each seed; without runs ``cell`` says why."""

    cell: Cell
    claim: ClaimSpec
    runs: Mapping[str, Sequence[PlannedRun]]

    def filled(self, done: Collected) -> Cell:
        """The cell with 1 for each seed with which the claim holds and 0 for each other; the note has the values."""
        runs = [run for each in self.runs.values() for run in each]
        failures = [done.failures[run.run_id] for run in runs if run.run_id in done.failures]
        if failures or not runs:
            return replace(self.cell, note=joined(self.cell.note, *(f"failed: {each}" for each in failures[:1])))
        values = {
            variant: [value(run, self.claim.quantity, done) for run in each] for variant, each in self.runs.items()
        }
        seeds = range(min(map(len, values.values())))
        held = tuple(float(self.claim.holds({name: each[seed] for name, each in values.items()})) for seed in seeds)
        return replace(self.cell, simulated=held, note=joined(self.cell.note, _means(self.claim.quantity, values)))


def _means(quantity: str, values: Mapping[str, Sequence[float]]) -> str:
    unit = QUANTITIES[quantity].unit
    means = (f"{name} {math.fsum(each) / len(each):.4g}" for name, each in values.items())
    return f"{QUANTITIES[quantity].meaning}{f' [{unit}]' if unit not in ('', '1') else ''}: {', '.join(means)}"


def _plan(setting: Setting, table: StudyTable) -> PlannedTable:
    claims = ClaimsOptions.model_validate(table.file.options).claims
    planned = [_planned(setting, table, cell, claims[cell.row]) for cell in cells_of(setting, table, UNITS)]
    runs = tuple(run for claim in planned for each in claim.runs.values() for run in each)
    return PlannedTable(runs, lambda done: table_of(table, tuple(claim.filled(done) for claim in planned)))


def _planned(setting: Setting, table: StudyTable, cell: Cell, claim: ClaimSpec) -> PlannedClaim:
    program = setting.study.programs[str(table.file.program)]
    wanted = {each: Wanted(program, claim.row, each, (), table.file.repeat, table.id) for each in claim.variants}
    try:
        runs = {variant: setting.runs(each) for variant, each in wanted.items()}
    except NotSimulatedError as reason:
        return PlannedClaim(replace(cell, note=joined(cell.note, str(reason))), claim, {})
    return PlannedClaim(replace(cell, null=claim.by_chance), claim, runs)


def _check(study: Study, table: StudyTable) -> None:
    claims = ClaimsOptions.model_validate(table.file.options).claims
    check_names(table.document, ("with", "claims"), "claim", table.labels, claims)
    check_names(table.document, ("with", "claims"), "row of the table", claims, table.labels)
    program = study.programs[str(table.file.program)].file
    for name, claim in claims.items():
        path = ("with", "claims", name)
        check_names(table.document, (*path, "quantity"), "quantity", [claim.quantity], QUANTITIES)
        check_names(table.document, (*path, "row"), "row", [claim.row], program.rows)
        for form in ("least", "most", "alike", "of"):
            check_names(table.document, (*path, form), "variant", getattr(claim, form), program.variants)


KIND = Kind(_plan, _check, ClaimsOptions, UNITS)
