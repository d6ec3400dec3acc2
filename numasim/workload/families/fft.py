"""BOTS FFT: the Cooley-Tukey transform of n = 2**k complex numbers with radices 8 and 16.

The program computes the roots of unity, then the transform. A transform of more than 32 numbers has three parts, and
waits for each part: a task that unshuffles the input, a transform for every residue class (the numbers whose indices
are equal modulo the radix), and a task for the butterflies with their twiddle factors. A loop over more than 127 items
is split into two tasks, a half each. Input and output swap roles at every level. The operations counted are 5 m log2 m
for a transform of m numbers, 6 for a twiddle factor, and 40 for a root of unity (a sine and a cosine). A shape is an op
program that many tasks share; `Totals` are the size of a program, known before it is built.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import AfterValidator, Field

from numasim.parts.base import Whole
from numasim.workload.builder import Draft, Shape, made_of
from numasim.workload.forest_arrays import ragged
from numasim.workload.graph import I64, Mode, Op, Pattern, Phase, Region, Workload
from numasim.workload.one_worker import LINE_BYTES
from numasim.workload.parameters import Family, Size, WorkloadParameters, WorkTime, compute_ps, power_of_two
from numasim.workload.totals import NOTHING, Totals, access, memory, segment, task

ELEMENT_BYTES = 16
LARGEST_BASE = 32
LOOP_CUTOFF = 128
ROOT_FLOPS, TWIDDLE_FLOPS, BUTTERFLY_FLOPS = 40, 6, 5
IN, OUT, ROOTS = range(3)
KERNELS = ("roots", "unshuffle", "base", "twiddle")
ROOTS_LOOP, UNSHUFFLE_LOOP, BASE, TWIDDLE_LOOP, HALVES, TRANSFORM_8, TRANSFORM_16 = range(7)


class FftParameters(WorkloadParameters):
    """BOTS FFT of ``n`` complex doubles."""

    default_runtime: ClassVar[str] = "ompi"
    powers_of_two: ClassVar[tuple[str, ...]] = ("n",)
    name: Literal["fft"] = Field(description="The name of this workload.")
    n: Annotated[Whole, Field(ge=2, le=2**24), AfterValidator(power_of_two)] = Field(
        description="Complex numbers; a power of two."
    )
    iterations: Size = Field(1, description="How often the numbers are transformed, once after the other.")
    ps_per_1000_flops: WorkTime = Field(
        500_000, description="Time of 1,000 operations; 2 Gflop/s by default (assumed)."
    )

    def totals(self) -> Totals:
        """Return the `Totals` of the loop over the roots of unity, and of the transform with all inner transforms."""
        rate, data_bytes = self.ps_per_1000_flops, self.n * ELEMENT_BYTES

        def root(length: int) -> Totals:
            return _part(ROOT_FLOPS * length, rate, *[access(length * ELEMENT_BYTES, mode=Mode.WRITE)] * 2)

        roots = _loop_totals(self.n // 2 + 1, root, LOOP_CUTOFF + 1)
        transform = _transform_totals(self.n, rate).repeated(self.iterations)
        return roots + transform + memory(data_bytes + ELEMENT_BYTES)


def _part(flops: int, rate: int, *accesses: Totals) -> Totals:
    return task(segment(compute_ps(flops, rate), *accesses))


def _loop_totals(length: int, part: Callable[[int], Totals], cutoff: int = LOOP_CUTOFF) -> Totals:
    """Return the `Totals` of a loop over ``length`` items; ``part(m)`` are those of a task of m < ``cutoff`` items."""
    whole = {length: 1}  # by length, how many tasks have so many items
    found = NOTHING
    while whole:
        halves: dict[int, int] = {}
        for size, count in whole.items():
            found += (part(size) if size < cutoff else task(ops=3)).times(count)
            for half in (size // 2, size - size // 2) if size >= cutoff else ():
                halves[half] = halves.get(half, 0) + count
        whole = halves
    return found


def _transform_totals(size: int, rate: int) -> Totals:
    pieces = radix(size)
    if pieces == 1:
        data = access(size * ELEMENT_BYTES), access(size * ELEMENT_BYTES, mode=Mode.WRITE)
        return _part(BUTTERFLY_FLOPS * size * (size.bit_length() - 1), rate, *data)
    flops = BUTTERFLY_FLOPS * pieces * (pieces.bit_length() - 1) + TWIDDLE_FLOPS * (pieces - 1)

    def moved(length: int) -> tuple[Totals, Totals]:
        amount = length * pieces * ELEMENT_BYTES
        return access(amount), access(amount, mode=Mode.WRITE)

    def twiddle(length: int) -> Totals:
        roots = access(LINE_BYTES, length * (pieces - 1), pattern=Pattern.STRIDED)  # at most: dense roots are shorter
        return _part(flops * length, rate, *moved(length), roots)

    unshuffled = _loop_totals(size // pieces, lambda length: _part(0, rate, *moved(length)))
    inner = _transform_totals(size // pieces, rate).times(pieces)
    return task(ops=pieces + 5) + unshuffled + inner + _loop_totals(size // pieces, twiddle)


def _transform(radix: int) -> Shape:
    return Shape((Op.SPAWN, Op.WAIT, *[Op.SPAWN] * radix, Op.WAIT, Op.SPAWN, Op.WAIT))


SHAPES = (
    *(Shape((Op.RUN,), (kernel,), (accesses,)) for kernel, accesses in enumerate((2, 2, 2, 3))),
    Shape((Op.SPAWN, Op.SPAWN, Op.WAIT)),
    _transform(8),
    _transform(16),
)


class Nodes(NamedTuple):
    """Tasks of the recursion; arrays are [tasks].

    A transform or base case handles ``length`` numbers from number ``first`` on. A loop handles ``length`` items from
    item ``first`` on; it belongs to the transform that begins at number ``origin`` and has ``radix`` residue classes of
    ``classes`` numbers each. ``source`` is the region (array) of the input.
    """

    role: I64  # the shape, or the loop that a task of shape HALVES is a part of
    first: I64
    length: I64
    origin: I64
    radix: I64
    classes: I64
    source: I64

    def at(self, ids: I64) -> Nodes:
        """Return the tasks ``ids`` alone."""
        return Nodes(*(column[ids] for column in self))

    def shapes(self) -> I64:
        """Return [tasks] the shape of each task."""
        loop = (self.role == ROOTS_LOOP) | (self.role == UNSHUFFLE_LOOP) | (self.role == TWIDDLE_LOOP)
        inclusive = self.role == ROOTS_LOOP  # this loop includes both bounds, so the loop compares one less
        return np.where(loop & (self.length - inclusive >= LOOP_CUTOFF), HALVES, self.role)


def fft(parameters: FftParameters) -> Workload:
    """Return the roots of unity in one phase and the transforms in the next phase."""
    nodes, parent = grow(parameters.n)
    draft = Draft(parent, nodes.shapes(), SHAPES)
    _fill(draft, nodes, parameters)
    _fill_twiddles(draft, nodes, parameters)
    data_bytes, transform = parameters.n * ELEMENT_BYTES, int(draft.position[1])
    return draft.finish(
        **made_of(parameters),
        kernels=KERNELS,
        regions=(
            Region("in", data_bytes, True),
            Region("out", data_bytes, False),
            Region("roots", data_bytes + ELEMENT_BYTES, False),
        ),
        phases=[
            Phase(roots=(int(draft.position[0]),), name="roots"),
            Phase(roots=(transform,), repeat=parameters.iterations, name="transform"),
        ],
        facts={"tasks": transform + (len(parent) - transform) * parameters.iterations},
    )


def grow(n: int) -> tuple[Nodes, I64]:
    """Return (tasks level by level, [tasks] parent); task 0 computes the roots of unity, task 1 is the transform."""
    level = Nodes(*np.array([[ROOTS_LOOP, 0, n // 2 + 1, 0, 1, 1, IN], [_role(n), 0, n, 0, radix(n), 1, IN]]).T)
    found, parents, first = [level], [np.array([-1, -1])], 0
    while len(level.role):
        shape = level.shapes()
        counts = np.select([shape == HALVES, shape == TRANSFORM_8, shape == TRANSFORM_16], [2, 10, 18], 0)
        family = np.repeat(np.arange(len(counts)), counts)
        number = ragged(np.zeros(len(counts), np.int64), counts)
        parents.append(first + family)
        first += len(counts)
        level = _children(level.at(family), number, shape[family] == HALVES)
        found.append(level)
    return Nodes(*map(np.concatenate, zip(*found, strict=True))), np.concatenate(parents)


def radix(n: int) -> int:
    """Return the radix by which BOTS divides a transform of ``n`` numbers, a power of two; 1 for base cases."""
    if n <= LARGEST_BASE:
        return 1
    return 8 if n in {64, 128, 256, 1024, 2048, 4096} else 16


def _role(n: int) -> int:
    return {1: BASE, 8: TRANSFORM_8, 16: TRANSFORM_16}[radix(n)]


def _children(parent: Nodes, number: I64, half: I64) -> Nodes:
    """Return child number ``number[i]`` of task i of ``parent``, a half of a loop if ``half[i]``, else a part."""
    parts = _parts(parent, number)
    lower = np.where(parent.role == ROOTS_LOOP, (parent.length + 1) // 2, parent.length // 2)
    upper = number == 1
    halves = parent._replace(
        first=parent.first + np.where(upper, lower, 0), length=np.where(upper, parent.length - lower, lower)
    )
    return Nodes(*(np.where(half, a, b) for a, b in zip(halves, parts, strict=True)))


def _parts(parent: Nodes, number: I64) -> Nodes:
    """Return parts of transforms: part 0 unshuffles, the last part multiplies, others transform a residue class."""
    classes = parent.length // parent.radix
    loop = (number == 0) | (number == parent.radix + 1)
    inner = [(_role(m), radix(m)) for m in np.unique(classes).tolist()] or [(BASE, 1)]
    role, inner_radix = np.array(inner)[np.unique(classes, return_inverse=True)[1]].T.reshape(2, -1)
    return Nodes(
        role=np.where(loop, np.where(number == 0, UNSHUFFLE_LOOP, TWIDDLE_LOOP), role),
        first=np.where(loop, 0, parent.first + (number - 1) * classes),
        length=classes,
        origin=parent.first,
        radix=np.where(loop, parent.radix, inner_radix),
        classes=classes,
        source=np.where(loop, parent.source, OUT - parent.source),
    )


def _fill(draft: Draft, nodes: Nodes, parameters: FftParameters) -> None:
    """Set times and accesses of the loops over roots and for unshuffling, and of base cases.

    Item k of the loop over roots of unity computes root k and its conjugate, root n - k, for k <= n / 2.
    """
    part = nodes.at(draft.tasks(ROOTS_LOOP))
    draft.compute(ROOTS_LOOP, compute_ps(ROOT_FLOPS * part.length, parameters.ps_per_1000_flops))
    for number, first in enumerate((part.first, parameters.n + 1 - part.first - part.length)):
        draft.access(ROOTS_LOOP, number, region=ROOTS, mode=Mode.WRITE, **_elements(first, part.length))
    part = nodes.at(draft.tasks(UNSHUFFLE_LOOP))
    read = _elements(part.origin + part.first * part.radix, part.length * part.radix)
    draft.access(UNSHUFFLE_LOOP, 0, region=part.source, mode=Mode.READ, **read)
    draft.access(UNSHUFFLE_LOOP, 1, region=OUT - part.source, mode=Mode.WRITE, **_classes(part))
    part = nodes.at(draft.tasks(BASE))
    flops = BUTTERFLY_FLOPS * part.length * _log2(part.length)
    draft.compute(BASE, compute_ps(flops, parameters.ps_per_1000_flops))
    for number, (region, mode) in enumerate(((part.source, Mode.READ), (OUT - part.source, Mode.WRITE))):
        draft.access(BASE, number, region=region, mode=mode, **_elements(part.first, part.length))


def _fill_twiddles(draft: Draft, nodes: Nodes, parameters: FftParameters) -> None:
    """Set the butterflies: an item combines a number of each residue class; each class but the first needs a root."""
    part = nodes.at(draft.tasks(TWIDDLE_LOOP))
    flops = BUTTERFLY_FLOPS * part.radix * _log2(part.radix) + TWIDDLE_FLOPS * (part.radix - 1)
    draft.compute(TWIDDLE_LOOP, compute_ps(flops * part.length, parameters.ps_per_1000_flops))
    draft.access(TWIDDLE_LOOP, 0, region=part.source, mode=Mode.READ, **_classes(part))
    step_bytes = parameters.n // (part.radix * part.classes) * ELEMENT_BYTES
    dense = step_bytes == ELEMENT_BYTES
    draft.access(
        TWIDDLE_LOOP,
        1,
        region=ROOTS,
        offset=part.first * step_bytes,
        row_bytes=np.where(dense, part.length * ELEMENT_BYTES, LINE_BYTES),
        rows=np.where(dense, 1, part.length),
        stride=np.where(dense, 0, step_bytes),
        mode=Mode.READ,
        pattern=np.where(dense, Pattern.SEQUENTIAL, Pattern.STRIDED),
        passes=part.radix - 1,
    )
    draft.access(TWIDDLE_LOOP, 2, region=OUT - part.source, mode=Mode.WRITE, **_classes(part))


def _elements(first: I64, length: I64) -> dict[str, Any]:
    """Return the offset and size of accesses to ``length`` numbers from number ``first`` on."""
    return {"offset": first * ELEMENT_BYTES, "row_bytes": length * ELEMENT_BYTES}


def _classes(part: Nodes) -> dict[str, Any]:
    """Return the pieces of the accesses to the items of loops: a piece for each residue class."""
    stride = part.classes * ELEMENT_BYTES
    return {**_elements(part.origin + part.first, part.length), "rows": part.radix, "stride": stride}


def _log2(power_of_two: I64) -> I64:
    return np.round(np.log2(power_of_two)).astype(np.int64)


FAMILIES = (Family(FftParameters, fft, small={"n": 64}, benchmark={"n": 2**14}),)
