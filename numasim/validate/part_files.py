"""The parts of the validation, read from YAML files (experiments/validation/NAME.yaml), and their cells.

A part has lists of kernels (benchmarks of the C runtime), strategies and numbers of workers, and a cell for each
combination. With measured costs, bounds apply to the distances of predictions; with the costs of the model, every
counter of the runtime must equal the simulator's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from numasim.errors import InputError
from numasim.files.standard_streams import legible_text
from numasim.parts import catalog
from numasim.parts.base import CheckedModel, Model, PositiveCount, Seed, YesNo
from numasim.parts.choices import Choices
from numasim.parts.validation import validate
from numasim.parts.yaml.document import load
from numasim.spec.single_part import read_machine, read_runtime, read_strategy
from numasim.validate.validated_quantities import QUANTITIES

Text = Annotated[str, Field(min_length=1)]
Share = Annotated[Decimal, Field(gt=0, le=1)]
_PACKAGE = Path(__file__).resolve().parents[1]


class BoundSpec(Model):
    """A bound: in a ``share`` of the cells the prediction must be ``within`` this distance of the measured value.

    The distance is relative for times, counts and rates, and absolute for ratios.
    """

    within: Annotated[Decimal, Field(gt=0)] = Field(
        description="The largest distance: relative for times, counts and rates, absolute for ratios."
    )
    share: Share = Field(Decimal(1), description="Share of the cells that have to be within it.")


class KernelSpec(Model):
    """A kernel of the runtime with its parameters, and with other parameters for a quick validation.

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
    """The values that replace other values of the part in a quick validation."""

    strategies: tuple[Text, ...] | None = Field(
        None, description="Strategies of a quick validation. Default: all of the part."
    )
    workers: tuple[PositiveCount, ...] | None = Field(
        None, description="Numbers of workers of a quick validation. Default: all of the part."
    )
    repeats: PositiveCount | None = Field(
        None, description="Repeats of a quick validation. Default: those of the part."
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
        None, description="The machine, by name or path. Default: the command line has to give it, and the runtime."
    )
    runtime: Text | None = Field(None, description="The runtime preset, by name or path.")
    kernels: Annotated[tuple[KernelSpec, ...], Field(min_length=1)] = Field(description="The programs.")
    strategies: (
        Annotated[tuple[Text, ...], Field(min_length=1)]
        | Annotated[Literal["all"], Choices({"all": "All that are shipped."})]
    ) = Field(description="The strategies by name.")
    workers: Annotated[tuple[PositiveCount, ...], Field(min_length=1)] = Field(description="Numbers of workers.")
    repeats: PositiveCount = Field(1, description="Repeats of each cell.")
    seed: Seed = Field(0, description="Seed of the runs.")
    bounds: dict[Text, BoundSpec] = Field(
        default_factory=dict, description="Bounds on the distance of predictions, by quantity."
    )
    quick: QuickSpec = Field(QuickSpec(), description="What a quick validation runs instead.")
    notes: tuple[Text, ...] = Field((), description="Remarks for readers.")

    @property
    def exact(self) -> bool:
        """Return whether every counter of prediction and run must be equal."""
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
    """Return name and contents of a part, shipped or at a path. Raise InputError for any mistake in the file."""
    path = Path(name) if catalog.is_path(name) else _folder() / f"{name}.yaml"
    if not catalog.is_path(name) and name not in part_names():
        expected = f"one of {', '.join(part_names())}, or a path such as ./mine.yaml"
        raise InputError(
            f"there is no part {name!r} of the validation", expected=expected, value=name, known=part_names()
        )
    return legible_text(path.stem), validate(PartFile, load(path))


def _folder() -> Path:
    inside = _PACKAGE / "experiments"
    return (inside if inside.is_dir() else _PACKAGE.parent / "experiments") / "validation"


# ---- The cells of a part: every kernel under every strategy with every number of workers -----------------------------


@dataclass(frozen=True)
class Program:
    """A kernel with its parameters. With ``team`` the graph of the kernel depends on the number of workers."""

    kernel: str
    parameters: Mapping[str, int | str] = field(default_factory=dict)
    team: bool = False

    @property
    def label(self) -> str:
        """Return the name with the parameters: ``fib n=20``."""
        return " ".join([self.kernel, *(f"{name}={value}" for name, value in self.parameters.items())])


@dataclass(frozen=True)
class Cell:
    """One program under one strategy with a number of workers."""

    program: Program
    strategy: str
    workers: int

    @property
    def team(self) -> int | None:
        """Return the number of workers if the recording of the program depends on this number, otherwise None."""
        return self.workers if self.program.team else None

    @property
    def label(self) -> str:
        """Return the name of the cell: ``fib n=20, randomized, 24 workers``."""
        return f"{self.program.label}, {self.strategy}, {self.workers} worker{'s' if self.workers > 1 else ''}"


@dataclass(frozen=True)
class Part:
    """A part of the validation, with the choices of the command line applied.

    ``left_out`` has those numbers of workers of the part that exceed the hardware threads of the named machine.
    """

    name: str
    file: PartFile
    machine: str
    runtime: str
    repeats: int
    cells: tuple[Cell, ...]
    left_out: tuple[int, ...] = ()


def part_of(
    name: str,
    *,
    kernels: Sequence[str] = (),
    machine: str | None = None,
    runtime: str | None = None,
    quick: bool = False,
) -> Part:
    """Return the part ``name``, on its own or on another machine and runtime; with ``kernels``, only these kernels of
    the part.

    Raise InputError for names that do not exist, for a part without a machine if no machine is given, and for more
    workers than the machine has hardware threads. If a machine is given, cells with too many workers are left out
    instead, unless no cell remains.
    """
    stem, file = read_part(name)
    fewer = file.quick if quick else None
    every = catalog.names("strategies") if file.strategies == "all" else file.strategies
    strategies = fewer.strategies if fewer and fewer.strategies else every
    workers = fewer.workers if fewer and fewer.workers else file.workers
    named = machine
    machine = _given(stem, "machine", machine or file.machine)
    runtime = _given(stem, "runtime", runtime or file.runtime)
    read_runtime(runtime)
    for strategy in strategies:
        read_strategy(strategy)
    threads = read_machine(machine).threads
    left_out = tuple(each for each in workers if each > threads)
    if left_out and (named is None or len(left_out) == len(workers)):
        raise InputError(
            f"the part {stem!r} asks for {min(left_out)} workers, but {machine!r} has {threads} hardware threads",
            expected=f"a number of workers from 1 to {threads}, or a larger machine",
        )
    known = tuple(dict.fromkeys(each.kernel for each in file.kernels))
    for kernel in kernels:
        if kernel not in known:
            raise InputError(f"there is no kernel {kernel!r} here", value=kernel, known=known)
    shown = [each for each in file.kernels if not (quick and each.quick is None)]
    programs = [_program(each, quick) for each in shown if not kernels or each.kernel in kernels]
    return Part(
        name=stem,
        file=file,
        machine=machine,
        runtime=runtime,
        repeats=fewer.repeats if fewer and fewer.repeats else file.repeats,
        cells=tuple(Cell(*each) for each in product(programs, strategies, workers) if each[-1] <= threads),
        left_out=left_out,
    )


def _program(spec: KernelSpec, quick: bool) -> Program:
    """Return the kernel with its parameters as command-line arguments."""
    parameters = {**spec.set, **((quick and spec.quick) or {})}
    plain = {name: value if isinstance(value, int) else str(value) for name, value in parameters.items()}
    return Program(spec.kernel, plain, spec.team)


def _given(part: str, what: str, name: str | None) -> str:
    if name is None:
        raise InputError(
            f"the part {part!r} of the validation has no {what} of its own",
            expected=f"--{what} with the file that numasim calibrate has written",
        )
    return name
