"""The parts of the validation as YAML files: experiments/validation/NAME.yaml.

A part is a product of kernels, strategies and numbers of workers, a mode of the runtime, and bounds on the
distance of predictions. With measured costs the bounds apply; with model costs every counter must be equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from numasim.errors import InputError
from numasim.files.legible_text import legible_text
from numasim.parts import catalog
from numasim.parts.base import CheckedModel, Model, PositiveCount, Seed
from numasim.parts.models.runtime_model import YesNo
from numasim.parts.validation import validate
from numasim.parts.yaml.document import load
from numasim.validate.validated_quantities import QUANTITIES

Text = Annotated[str, Field(min_length=1)]
Share = Annotated[Decimal, Field(gt=0, le=1)]
_PACKAGE = Path(__file__).resolve().parents[1]


class BoundSpec(Model):
    """In a ``share`` of the cells the prediction must be ``within`` this distance of what is measured.

    The distance is relative for times, counts and rates, absolute for ratios.
    """

    within: Annotated[Decimal, Field(gt=0)]
    share: Share = Decimal(1)


class KernelSpec(Model):
    """A kernel of the runtime with its parameters, and those of a quick validation.

    ``team``: a copy of it runs on each worker, so that its graph depends on the number of workers.
    """

    kernel: Text
    set: dict[Text, int | Decimal | str] = Field(default_factory=dict)
    quick: dict[Text, int | Decimal | str] = Field(default_factory=dict)
    team: YesNo = False


class QuickSpec(Model):
    """What a quick validation runs instead."""

    strategies: tuple[Text, ...] | None = None
    workers: tuple[PositiveCount, ...] | None = None
    repeats: PositiveCount | None = None


class PartFile(CheckedModel):
    """A part of the validation."""

    title: Text
    mode: Literal["virtual", "native", "emulated"]
    costs: Literal["model", "measured"]
    machine: Text | None = None  # none: the command line must give it, and the runtime
    runtime: Text | None = None
    kernels: Annotated[tuple[KernelSpec, ...], Field(min_length=1)]
    strategies: Annotated[tuple[Text, ...], Field(min_length=1)] | Literal["all"]
    workers: Annotated[tuple[PositiveCount, ...], Field(min_length=1)]
    repeats: PositiveCount = 1
    seed: Seed = 0
    bounds: dict[Text, BoundSpec] = Field(default_factory=dict)
    quick: QuickSpec = QuickSpec()
    notes: tuple[Text, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether every counter must be equal."""
        return self.costs == "model"

    def _problems(self) -> Iterator[str]:
        for name in self.bounds:
            if name not in QUANTITIES:
                yield f"there is no quantity {name!r} to set a bound on; expected one of {', '.join(QUANTITIES)}"
        if self.mode == "virtual" and any(name in QUANTITIES and QUANTITIES[name].timed for name in self.bounds):
            yield "virtual time has no speedup over the serial twin; set a bound on the makespan"
        if self.exact and self.mode != "virtual":
            yield "model costs exist in virtual time only"
        if self.exact and self.bounds:
            yield "with model costs every counter must be equal: bounds have no effect"


def part_names() -> tuple[str, ...]:
    """The names of the shipped parts."""
    return tuple(sorted(path.stem for path in _folder().glob("*.yaml")))


def read_part(name: str) -> tuple[str, PartFile]:
    """The name and the contents of a shipped part, or of the file at a path. InputError for any mistake in it."""
    path = Path(name) if catalog.is_path(name) else _folder() / f"{name}.yaml"
    if not catalog.is_path(name) and name not in part_names():
        expected = f"one of {', '.join(part_names())}, or a path such as ./mine.yaml"
        raise InputError(
            f"there is no part {name!r} of the validation", expected=expected, value=name, known=part_names()
        )
    return legible_text(path.stem), validate(PartFile, load(path))


def chosen(what: str, names: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """``names``, or all of ``known`` where no names are given. InputError for a name that is not known."""
    for name in names:
        if name not in known:
            raise InputError(
                f"there is no {what} {name!r} here", expected=f"one of {', '.join(known)}", value=name, known=known
            )
    return tuple(name for name in known if not names or name in names)


def plain(parameters: dict[str, Any]) -> dict[str, int | str]:
    """Parameters as command-line arguments."""
    return {name: value if isinstance(value, int) else str(value) for name, value in parameters.items()}


def _folder() -> Path:
    inside = _PACKAGE / "experiments"
    return (inside if inside.is_dir() else _PACKAGE.parent / "experiments") / "validation"
