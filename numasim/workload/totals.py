"""Totals: the size of a program, counted before the program is built, and the limits of each number.

The parameters of a family of workloads compute in exact integers how large their program is (`SizedParameters.totals`).
Limits follow from the bits that an engine has for each number. A program above a limit is refused, so that no number
overflows while the program is built. A segment is a part of a task: a compute time and memory accesses. A range is many
similar tasks without rows of their own, its items.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from decimal import Decimal
from functools import reduce
from typing import ClassVar, Literal, NamedTuple, Self, cast, get_origin

import numpy as np
from annotated_types import Ge
from pydantic import Field, model_validator

from numasim.frozen import Frozen
from numasim.parts.base import Model
from numasim.parts.unit_factors import MILLION, PS_PER_NS
from numasim.schema.enumerations import LONGEST_PS, MOST_BYTES, MOST_ITEMS, MOST_MOVED
from numasim.workload.graph import I64, Accesses, Mode, NodeAccess, Pattern, Phase, RangeFamily, Workload
from numasim.workload.one_worker import LINE_BYTES, MLP, by_task, segment_sums, traffic_bytes

MAX_TASKS = 8_000_000  # tasks with rows; more do not fit in the memory of a laptop
MOST_PS = 2**63 - 1  # sums of times have 63 bits
THOUSAND = 1000  # `MLP` counts cache misses that overlap in thousandths


class Totals(Frozen):
    """The lengths of a program's arrays, its largest sizes and times, and its total compute time and accesses.

    ``items`` are the items of the largest range, ``access_bytes`` the bytes of the largest access, ``segment_ps`` the
    compute time of the longest segment or item, ``compute_ps`` the compute time of the whole program. ``lines`` are the
    cache lines that all accesses move, by `Pattern`; ``access_lines`` are the cache lines of the largest access.
    """

    rows: int = 0
    ops: int = 0
    segments: int = 0
    accesses: int = 0
    compute_ps: int = 0
    lines: tuple[int, ...] = (0,) * len(Pattern)
    items: int = 0
    region_bytes: int = 0
    access_bytes: int = 0
    access_lines: int = 0
    segment_ps: int = 0

    def __add__(self, other: Totals) -> Totals:
        """Return the totals of both programs together: the sums of `SUMS` and ``lines``, and the larger of `MAXIMA`."""
        sums = {name: getattr(self, name) + getattr(other, name) for name in SUMS}
        maxima = {name: max(getattr(self, name), getattr(other, name)) for name in MAXIMA}
        return Totals(lines=tuple(a + b for a, b in zip(self.lines, other.lines, strict=True)), **sums, **maxima)

    def repeated(self, times: int) -> Totals:
        """Return the totals if the program runs ``times`` times: compute times and accesses multiply, arrays do not."""
        again = self.times(times)
        return replace(self, compute_ps=again.compute_ps, lines=again.lines, accesses=again.accesses)

    def times(self, count: int) -> Totals:
        """Return the totals of ``count`` copies of the program, each with arrays of its own."""
        if not count:
            return NOTHING
        sums = {name: count * getattr(self, name) for name in SUMS}
        return replace(self, lines=tuple(count * lines for lines in self.lines), **sums)

    def serial_ps(self, latency_ps: int, nodes: int = 1, mlp_ppm: int = MILLION) -> int:
        """Return an upper bound of the time in ps on one worker if a cache miss takes ``latency_ps``.

        The bytes of an access may be on all ``nodes`` NUMA nodes, with a partly filled cache line on each. `MLP` / 1000
        of the access's pattern, times ``mlp_ppm`` / 10^6, is the number of misses that overlap.
        """
        waits = [(lines, MLP[pattern]) for pattern, lines in zip(Pattern, self.lines, strict=True)]
        waits.append((self.accesses * (nodes - 1), min(MLP.values())))
        rounded_up = self.accesses * nodes
        return (
            self.compute_ps
            + rounded_up
            + sum(-(-lines * latency_ps * THOUSAND // max(1, mlp * mlp_ppm // MILLION)) for lines, mlp in waits)
        )


SUMS = ("rows", "ops", "segments", "accesses", "compute_ps")
MAXIMA = ("items", "region_bytes", "access_bytes", "access_lines", "segment_ps")
NOTHING = Totals()

LIMITS: dict[str, tuple[int, str]] = {  # by total: the largest number that fits, and the noun in messages
    "rows": (MAX_TASKS, "tasks"),
    "ops": (MOST_ITEMS, "steps of tasks"),
    "segments": (MOST_ITEMS, "segments"),
    "compute_ps": (MOST_PS, "ps of computing"),
    "items": (MOST_ITEMS, "tasks"),
    "region_bytes": (MOST_BYTES, "bytes of one piece of memory"),
    "access_bytes": (MOST_MOVED, "bytes of one access"),
    "segment_ps": (LONGEST_PS, "ps of computing of one task"),
}


def excess(totals: Totals) -> str | None:
    """Return the verb phrase "makes N tasks, and at most M fit" for the first number of ``totals`` that is too large.

    Return None if all numbers fit.
    """
    for name, (most, what) in LIMITS.items():
        found = getattr(totals, name)
        if found > most:
            return f"makes {found:,} {what}, and at most {most:,} fit"
    return None


def together(parts: Iterable[Totals]) -> Totals:
    """Return the totals of a program that consists of all ``parts``."""
    return reduce(Totals.__add__, parts, NOTHING)


def access(row_bytes: int, rows: int = 1, mode: Mode = Mode.READ, pattern: Pattern = Pattern.SEQUENTIAL) -> Totals:
    """Return the totals of one access of ``rows`` pieces of ``row_bytes`` bytes; written bytes move twice."""
    moved = row_bytes * rows * (1 if mode == Mode.READ else 2)
    lines = -(-moved // LINE_BYTES)
    by_pattern = tuple(lines if each == pattern else 0 for each in Pattern)
    return Totals(accesses=1, lines=by_pattern, access_bytes=row_bytes * rows, access_lines=lines)


def segment(compute_ps: int, *accesses: Totals) -> Totals:
    """Return the totals of one segment that computes for ``compute_ps`` and makes these accesses."""
    return Totals(ops=1, segments=1, compute_ps=compute_ps, segment_ps=compute_ps) + together(accesses)


def memory(size: int) -> Totals:
    """Return the totals of a region of ``size`` bytes."""
    return Totals(region_bytes=size)


def task(*segments: Totals, ops: int = 0) -> Totals:
    """Return the totals of a task with these segments and ``ops`` other ops."""
    return Totals(rows=1, ops=ops) + together(segments)


# ---- The totals of a program that was read or grown, as exact sums over its arrays -----------------------------------

HALF_BITS = 31  # times are summed in a low part of 31 bits and a high part, so that no sum exceeds 63 bits


def totals_of(work: Workload) -> Totals:
    """Return the totals of ``work``, which has a row for every task; phases count as often as they run."""
    waits = [segment_sums(lines, work.segment_accesses) for lines in _lines_by_pattern(work.accesses)]
    compute = work.segment_compute_ps
    low, high = (work.below(by_task(work, part)) for part in (compute & ((1 << HALF_BITS) - 1), compute >> HALF_BITS))
    lines = [work.below(by_task(work, part)) for part in waits]
    accesses = work.below(by_task(work, np.diff(work.segment_accesses)))

    def graph_of(phase: Phase) -> Totals:
        roots = np.asarray(phase.roots, np.int64)
        return Totals(
            compute_ps=(int(high[roots].sum()) << HALF_BITS) + int(low[roots].sum()),
            lines=tuple(int(part[roots].sum()) for part in lines),
            accesses=int(accesses[roots].sum()),
        )

    items = [range_totals(family) for family in work.ranges]
    phases = (
        (graph_of(phase) + (NOTHING if phase.range_family is None else items[phase.range_family])).times(runs)
        for phase, runs in zip(work.phases, work.runs, strict=True)
    )
    sizes = Totals(
        rows=work.rows,
        ops=len(work.op_code),
        segments=work.segments,
        region_bytes=max((region.bytes for region in work.regions), default=0),
        segment_ps=int(compute.max(initial=0)),
        access_lines=int(_lines(work.accesses).max(initial=0)),
    )
    return together(phases) + sizes


def range_totals(family: RangeFamily) -> Totals:
    """Return the totals of the items of a range; each random time or size counts as the highest possible one."""
    given = family.compute
    return Totals(
        items=family.count,
        compute_ps=family.count * family.high_ps if given is None else given.most_of(family.count),
        segment_ps=family.high_ps,
        lines=tuple(family.count * int(lines.sum()) for lines in _lines_by_pattern(family.accesses)),
        accesses=family.count * len(family.accesses),
        access_lines=int(_lines(family.accesses).max(initial=0)),
    ) + together(_on_nodes(family.count, access) for access in family.node_accesses)


def _on_nodes(items: int, access: NodeAccess) -> Totals:
    """Return the totals of ``items`` items' accesses to nodes; each item may fill one line of every node partly."""
    amounts, factor = access.amounts, access.factor
    lines = factor * amounts.most_of(items) // LINE_BYTES + items * len(access.nodes)
    return Totals(
        lines=tuple(lines if pattern == access.pattern else 0 for pattern in Pattern),
        accesses=items,
        access_bytes=amounts.most,
        access_lines=-(-factor * amounts.most // LINE_BYTES),
    )


def _lines(accesses: Accesses) -> I64:
    return -(-traffic_bytes(accesses) // LINE_BYTES)


def _lines_by_pattern(accesses: Accesses) -> list[I64]:
    return [np.where(accesses.pattern == pattern, _lines(accesses), 0) for pattern in Pattern]


# ---- Parameters of programs that are too large: the refusal, with the largest value that would fit ------------------

Excess = Callable[[Totals], str | None]  # `excess`, or a function like `excess`


class SizedParameters(Model):
    """Parameters that have `totals`; a ValueError refuses parameters with too large totals.

    ``powers_of_two`` names the fields that must be powers of two.
    """

    powers_of_two: ClassVar[tuple[str, ...]] = ()
    name: str = Field(description="The name of what the parameters describe.")

    def totals(self) -> Totals:
        """Return the totals: upper bounds for random times and sizes, a mean or lower bound for random trees.

        Totals never fall if a size or a time grows.
        """
        return NOTHING

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if found := refusal(self, excess, self.model_fields_set):
            raise ValueError(str(found))
        return self


class Refusal(NamedTuple):
    """A reason to refuse parameters, and the key with too large a value; None if no single key is the reason."""

    key: str | None
    sentence: str

    def __str__(self) -> str:
        """Return the key, by which `InputError` finds the place in a document, and the sentence."""
        return f"{self.key}: {self.sentence}" if self.key else self.sentence


def refusal(parameters: SizedParameters, problem_of: Excess, given: Collection[str]) -> Refusal | None:
    """Return the refusal of ``parameters`` if ``problem_of`` their totals names a problem, else None.

    The refusal proposes the largest fitting value of the first key that has a fitting value. The ``given`` keys are
    tried before the other keys.
    """
    problem = problem_of(parameters.totals())
    if problem is None:
        return None
    keys = sorted(type(parameters).model_fields, key=lambda key: key not in given)
    for key in keys:
        most = largest(parameters, key, problem_of)
        if most is not None:
            return Refusal(key, f"{_plain(getattr(parameters, key))} {problem}; expected at most {_plain(most)}")
    return Refusal(None, f"this {parameters.name} {problem}; expected a smaller program")


def largest(parameters: SizedParameters, key: str, problem_of: Excess) -> int | Decimal | None:
    """Return the largest value of ``key``, below its value in ``parameters``, with which the program fits, or None.

    Totals never fall as a value grows, so bisection finds the value.
    """
    value, field = getattr(parameters, key), type(parameters).model_fields[key]
    if not isinstance(value, int | Decimal) or get_origin(field.annotation) is Literal:
        return None
    least = next((cast(int, each.ge) for each in field.metadata if isinstance(each, Ge)), 1)
    numbers, value_of = range(least, int(value)), cast(Callable[[int], int | Decimal], int)
    if isinstance(value, Decimal):
        numbers, value_of = range(int(value * PS_PER_NS)), lambda number: Decimal(number) / PS_PER_NS
    elif key in parameters.powers_of_two:
        numbers, value_of = range(1, value.bit_length() - 1), lambda number: 1 << number

    def exceeds(number: int) -> bool:
        return problem_of(parameters.model_copy(update={key: value_of(number)}).totals()) is not None

    fitting = bisect_left(numbers, True, key=exceeds)
    return value_of(numbers[fitting - 1]) if fitting else None


def _plain(number: int | Decimal) -> str:
    return str(number) if isinstance(number, int) else f"{number.normalize():f}"
