"""The cells of a part: every kernel under every strategy with every number of workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from numasim.errors import InputError
from numasim.parts import catalog
from numasim.spec.single_part import read_machine, read_runtime, read_strategy
from numasim.validate.part_files import KernelSpec, PartFile, chosen, plain, read_part


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

    Raise InputError for names that do not exist; if a part has no machine of its own and no machine is given; and for
    more workers than the machine has hardware threads. If a machine is given, too many workers are an error only if no
    cell is left.
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
    wanted = chosen("kernel", kernels, tuple(dict.fromkeys(each.kernel for each in file.kernels)))
    shown = [each for each in file.kernels if not (quick and each.quick is None)]
    programs = [_program(each, quick) for each in shown if each.kernel in wanted]
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
    return Program(spec.kernel, plain({**spec.set, **((quick and spec.quick) or {})}), spec.team)


def _given(part: str, what: str, name: str | None) -> str:
    if name is None:
        raise InputError(
            f"the part {part!r} of the validation has no {what} of its own",
            expected=f"--{what} with the file that numasim calibrate has written",
        )
    return name
