"""The parts of the validation, read from YAML files: experiments/validation/NAME.yaml.

A part is the product of kernels, strategies and numbers of workers, with a mode of the runtime and bounds on the
distances of predictions. With measured costs the bounds apply; with model costs every counter must be equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from numasim.errors import InputError
from numasim.files.standard_streams import legible_text
from numasim.parts import catalog
from numasim.parts.base import CheckedModel, Model, PositiveCount, Seed, YesNo
from numasim.parts.choices import Choices
from numasim.parts.validation import validate
from numasim.parts.yaml.document import load
from numasim.validate.validated_quantities import QUANTITIES

Text = Annotated[str, Field(min_length=1)]
Share = Annotated[Decimal, Field(gt=0, le=1)]
_PACKAGE = Path(__file__).resolve().parents[1]


class BoundSpec(Model):
    """A bound: in a ``share`` of the cells the prediction must be ``within`` this distance of the measured value.

    The distance is relative for times, counts and rates, and absolute for ratios.
    """

    within: Annotated[Decimal, Field(gt=0)] = Field(
        description="The largest distance: relative for times, counts and rates, absolute for ratios.",
    )
    share: Share = Field(Decimal(1), description="Share of the cells that have to be within it.")


class KernelSpec(Model):
    """A kernel of the runtime with its parameters, and with its parameters in a quick validation.

    With ``team`` a copy of the kernel runs on each worker, so that its graph depends on the number of workers.
    """

    kernel: Text = Field(description="A kernel of the task runtime by its name.")
    set: dict[Text, int | Decimal | str] = Field(default_factory=dict, description="Parameters of the kernel.")
    quick: dict[Text, int | Decimal | str] | None = Field(
        default_factory=dict,
        description="Parameters of a quick validation, which override the others; null leaves the kernel out.",
    )
    team: YesNo = Field(
        False,
        description="Whether a copy of the kernel runs on each worker, so that its graph depends on their number.",
    )


class QuickSpec(Model):
    """The values that a quick validation uses instead."""

    strategies: tuple[Text, ...] | None = Field(
        None,
        description="Strategies of a quick validation. Default: all of the part.",
    )
    workers: tuple[PositiveCount, ...] | None = Field(
        None,
        description="Numbers of workers of a quick validation. Default: all of the part.",
    )
    repeats: PositiveCount | None = Field(
        None,
        description="Repeats of a quick validation. Default: those of the part.",
    )


class PartFile(CheckedModel):
    """A part of the validation."""

    title: Text = Field(description="Title of the part.")
    mode: Annotated[
        Literal["virtual", "native", "emulated"],
        Choices(
            {
                "virtual": "In virtual time, on one thread.",
                "native": "With threads, on the machine itself.",
                "emulated": "With threads; accesses to nodes that the computer has not spin for the difference.",
            }
        ),
    ] = Field(description="How the task runtime executes.")
    costs: Annotated[
        Literal["model", "measured"],
        Choices(
            {
                "model": "From the model, so that every counter must be equal.",
                "measured": "Measured while the bodies run.",
            }
        ),
    ] = Field(description="Where the times of segments come from.")
    machine: Text | None = Field(
        None,
        description="The machine, by name or path. Default: the command line has to give it, and the runtime.",
    )
    runtime: Text | None = Field(None, description="The runtime preset, by name or path.")
    kernels: Annotated[tuple[KernelSpec, ...], Field(min_length=1)] = Field(description="The programs.")
    strategies: (
        Annotated[tuple[Text, ...], Field(min_length=1)]
        | Annotated[Literal["all"], Choices({"all": "All that are shipped."})]
    ) = Field(
        description="The strategies by name.",
    )
    workers: Annotated[tuple[PositiveCount, ...], Field(min_length=1)] = Field(description="Numbers of workers.")
    repeats: PositiveCount = Field(1, description="Repeats of each cell.")
    seed: Seed = Field(0, description="Seed of the runs.")
    bounds: dict[Text, BoundSpec] = Field(
        default_factory=dict,
        description="Bounds on the distance of predictions, by quantity.",
    )
    quick: QuickSpec = Field(QuickSpec(), description="What a quick validation runs instead.")
    notes: tuple[Text, ...] = Field((), description="Remarks for readers.")

    @property
    def exact(self) -> bool:
        """Return whether every counter must be equal."""
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
    """Return the names of the shipped parts."""
    return tuple(sorted(path.stem for path in _folder().glob("*.yaml")))


def read_part(name: str) -> tuple[str, PartFile]:
    """Return the name and the contents of a shipped part, or of the part file at a path. Raise InputError for any
    mistake in the file.
    """
    path = Path(name) if catalog.is_path(name) else _folder() / f"{name}.yaml"
    if not catalog.is_path(name) and name not in part_names():
        expected = f"one of {', '.join(part_names())}, or a path such as ./mine.yaml"
        raise InputError(
            f"there is no part {name!r} of the validation", expected=expected, value=name, known=part_names()
        )
    return legible_text(path.stem), validate(PartFile, load(path))


def chosen(what: str, names: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return ``names``, or all of ``known`` if ``names`` is empty. Raise InputError for a name that is not in
    ``known``.
    """
    for name in names:
        if name not in known:
            raise InputError(
                f"there is no {what} {name!r} here", expected=f"one of {', '.join(known)}", value=name, known=known
            )
    return tuple(name for name in known if not names or name in names)


def plain(parameters: dict[str, Any]) -> dict[str, int | str]:
    """Return parameters as command-line arguments."""
    return {name: value if isinstance(value, int) else str(value) for name, value in parameters.items()}


def _folder() -> Path:
    inside = _PACKAGE / "experiments"
    return (inside if inside.is_dir() else _PACKAGE.parent / "experiments") / "validation"
